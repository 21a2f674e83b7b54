#!/usr/bin/env python3
"""GPT-2 124M with random weights at 1024 tokens, every head's attention seen: torch beside Flyball, in turns.

    bench/compare_model.py FLYBALL_BENCH_MODEL [--threads 2] [--rounds 3] [--tokens 1024]

Needs torch and transformers. The weights are drawn by torch and saved; both run the same file, and the losses are compared
before anything is timed. A turn is the best of three passes in one process. torch returns all attention matrices and the same
three statistics of each head are taken from them.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program", help="the executable flyball_bench_model")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--tokens", type=int, default=1024)
args = parser.parse_args()
os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
import transformers  # noqa: E402

torch.set_num_threads(args.threads)
torch.manual_seed(1)
config = transformers.GPT2Config()
config._attn_implementation = "eager"
model = transformers.GPT2LMHeadModel(config).eval()
ids = torch.tensor([[(i * 7919 + 13) % config.vocab_size for i in range(args.tokens)]])


def run_torch():
    start = time.perf_counter()
    with torch.no_grad():
        result = model(ids, output_attentions=True)
        sums = [(a.square().sum(), a.amax(-1).sum(), a[..., 0].sum()) for a in result.attentions]
        loss = torch.nn.functional.cross_entropy(result.logits[0, :-1], ids[0, 1:]).item()
    assert len(sums) == config.n_layer
    return time.perf_counter() - start, loss


with tempfile.TemporaryDirectory() as folder:
    model.save_pretrained(folder)
    best = {"torch": 1e9, "flyball": 1e9}
    for _ in range(args.rounds):
        ours = json.loads(subprocess.run([args.program, folder, "--tokens", str(args.tokens), "--rounds", "3", "--json"],
                                         check=True, capture_output=True, text=True).stdout)
        seconds, loss = min(run_torch() for _ in range(3))
        assert abs(ours["loss"] - loss) < 1e-4, (ours["loss"], loss)
        best["torch"] = min(best["torch"], seconds)
        best["flyball"] = min(best["flyball"], ours["seconds"])
        print(f"flyball {ours['seconds']:.3f} s ({100 * ours['share']:.0f} % of peak, {ours['memory_mb']} MB), "
              f"torch {seconds:.3f} s, losses {ours['loss']:.6f} {loss:.6f}")
print(f"best: flyball {best['flyball']:.3f} s, torch {torch.__version__} {best['torch']:.3f} s, "
      f"{best['torch'] / best['flyball']:.2f} times faster")
