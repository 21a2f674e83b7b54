#!/usr/bin/env python3
"""Makes the golden depth reports of tests/inspect: what `flyball inspect` must say, computed a second time.

NAME.json is the report of the checkpoint tests/model/golden/NAME, or of NAME beside it (deeper checkpoints, which
this script makes too), on windows of random ids. transformers loads the folder and runs it in double with eager
attention (its RMS norms and rotary angles round to single precision, as published); hooks read the stream before and
after each block and what a block's own code adds to it, and the formulas of docs/inspect.md are written out in numpy.
make_growth.py has the fit of growth laws.

Not measured is null. The files were made with torch 2.13.0, transformers 5.22.2, safetensors 0.8.0 and numpy 2.4.6.

usage: pip install torch==2.13.0 transformers==5.22.2 safetensors==0.8.0; make_reports.py [NAME ...]
"""
import contextlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import torch
import transformers
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

from make_growth import growth_of

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "model" / "golden"

# name: (windows, tokens of each). More tokens than channels, one window alone, and windows past a sliding one are here.
REPORTS = {
    "gpt2": (3, 12), "gpt2-no-bias": (2, 17), "gpt2-unscaled-f16": (3, 32), "llama-gqa": (2, 31),
    "llama3-bf16": (3, 12), "llama-bias-tied": (4, 9), "llama-dynamic": (2, 16), "llama-yarn": (2, 40),
    "mistral-window-f16": (3, 12), "qwen2": (1, 16), "bert": (3, 12), "bert-prefix-bf16": (1, 25),
    "gemma2": (3, 12), "gemma2-uncapped-f16": (1, 30), "gemma3": (3, 12), "gemma3-capped-bf16": (2, 26),
    "gpt-neox": (3, 12), "gpt-neox-serial-f16": (2, 15), "granite": (3, 12), "olmo2": (3, 12), "olmo3-yarn": (2, 33),
    "qwen3": (3, 12), "qwen3-window-bf16": (2, 14), "opt": (3, 12),
    "gpt2-deep": (3, 12), "gemma3-deep": (3, 12), "gpt2-massive": (3, 9),
}

# What a block's code adds to the stream: the modules whose outputs are added (by name inside the block), how the block
# is put together, and what its equation promises of the stream whatever the weights are.
FAMILIES = {
    "gpt2": ("attn", "mlp", "pre", "none"),
    "llama": ("self_attn", "mlp", "pre", "none"),
    "mistral": ("self_attn", "mlp", "pre", "none"),
    "qwen2": ("self_attn", "mlp", "pre", "none"),
    "qwen3": ("self_attn", "mlp", "pre", "none"),
    "granite": ("self_attn", "mlp", "pre", "none"),
    "gpt_neox": ("attention", "mlp", "parallel", "none"),
    "opt": ("self_attn", "fc2", "pre", "none"),
    "gemma2": ("post_attention_layernorm", "post_feedforward_layernorm", "output norm", "linear"),
    "gemma3_text": ("post_attention_layernorm", "post_feedforward_layernorm", "output norm", "linear"),
    "olmo2": ("post_attention_layernorm", "post_feedforward_layernorm", "output norm", "linear"),
    "olmo3": ("post_attention_layernorm", "post_feedforward_layernorm", "output norm", "linear"),
    "bert": ("attention.output.dense", "output.dense", "post", "bounded"),
}

# Deeper checkpoints: configuration as published, and the seed of the weights.
GPT2 = dict(architectures=["GPT2LMHeadModel"], model_type="gpt2", activation_function="gelu_new", n_positions=24,
            layer_norm_epsilon=1e-5, bos_token_id=1, eos_token_id=2, torch_dtype="float32")
DEEP = {
    "gpt2-deep": (dict(GPT2, vocab_size=31, n_embd=16, n_layer=6, n_head=2, tie_word_embeddings=True), 61),
    "gpt2-massive": (dict(GPT2, vocab_size=23, n_embd=12, n_layer=4, n_head=3, tie_word_embeddings=False), 62),
    "gemma3-deep": (dict(
        architectures=["Gemma3ForCausalLM"], model_type="gemma3_text", vocab_size=31, hidden_size=16,
        intermediate_size=24, num_hidden_layers=6, num_attention_heads=2, num_key_value_heads=1, head_dim=8,
        hidden_activation="gelu_pytorch_tanh", max_position_embeddings=64, rms_norm_eps=1e-6, rope_theta=1000000.0,
        rope_local_base_freq=10000.0, rope_scaling=None, query_pre_attn_scalar=8, sliding_window=5,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"] * 2, attention_bias=False,
        attention_dropout=0.0, attn_logit_softcapping=None, final_logit_softcapping=None, tie_word_embeddings=True,
        bos_token_id=2, eos_token_id=1, pad_token_id=0, torch_dtype="float32"), 63),
}


# (token, channel, entry of the embedding): a fourth that the list of three leaves out in a block, others that the rule
# of a thousand medians leaves out in deeper blocks or everywhere. Each of these tokens is in one window alone.
MASSIVE = ((7, 5, 2500.0), (7, 1, -1900.0), (4, 8, 1500.0), (4, 2, 1200.0), (4, 3, 150.0))


def make_checkpoint(name):
    config, seed = DEEP[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(folder))
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for key, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() == 1 and key.endswith("weight"):  # gains, some of them negative; Gemma stores gain - 1
            offset = -0.2 if config["model_type"].startswith("gemma") else 0.8
            tensors[key] = offset + 0.5 * noise
        else:
            tensors[key] = 0.25 * noise
    for token, channel, value in MASSIVE if name == "gpt2-massive" else ():
        tensors["transformer.wte.weight"][token, channel] = value
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    assert sum(file.stat().st_size for file in folder.iterdir()) < 150_000


class Seen:
    """What one pass shows: streams[0] is the embedding, streams[l + 1] the stream after block l; scores and weights are
    [windows, heads, queries, keys] of each block, added the two contributions."""

    def __init__(self, blocks, attention, ffn):
        self.streams, self.scores, self.weights, self.added = [], [], [], [dict() for _ in blocks]
        self.hooks = [blocks[0].register_forward_pre_hook(lambda module, inputs: self.keep(inputs[0]))]
        for block, added in zip(blocks, self.added):
            self.hooks.append(block.register_forward_hook(lambda module, inputs, output: self.keep(output)))
            scale = getattr(block, "residual_multiplier", 1.0)  # Granite
            for part, path in (("attention", attention), ("ffn", ffn)):
                self.hooks.append(block.get_submodule(path).register_forward_hook(
                    lambda module, inputs, output, part=part, added=added, scale=scale:
                    added.update({part: scale * first(output)})))

    def keep(self, stream):
        stream = first(stream)
        if stream.requires_grad:
            stream.retain_grad()
        self.streams.append(stream)

    @contextlib.contextmanager
    def watching_softmax(self):
        plain = torch.nn.functional.softmax

        def softmax(scores, dim=-1, dtype=None):
            weights = plain(scores, dim=dim)  # in double, whatever type the published code asks for
            self.scores.append(scores.detach())
            self.weights.append(weights.detach())
            return weights

        torch.nn.functional.softmax = softmax
        try:
            yield
        finally:
            torch.nn.functional.softmax = plain
            for hook in self.hooks:
                hook.remove()


def first(output):
    return output[0] if isinstance(output, tuple) else output


@contextlib.contextmanager
def left_out(blocks, which):
    """These blocks hand on what they got."""
    for l in which:
        blocks[l].forward = lambda hidden, *more, **named: hidden
    yield
    for l in which:
        del blocks[l].forward


def lengths(x):
    return np.linalg.norm(x, axis=-1)


def cosines(x, y):
    return np.sum(x * y, axis=-1) / (lengths(x) * lengths(y))


def stream_fields(x):
    """x: [windows, tokens, channels]."""
    size = lengths(x)
    low, median, high = np.quantile(size, (0.05, 0.5, 0.95))
    count = x.shape[1]
    unit = x / size[..., None]
    pairs = np.einsum("wik,wjk->wij", unit, unit)
    ranks, residuals = [], []
    for window in x:
        sigma = np.linalg.svd(window, compute_uv=False)
        share = sigma[sigma > 0] / sigma.sum()
        ranks.append(np.exp(-np.sum(share * np.log(share))))
        residuals.append(one_inf(window - window.mean(axis=0)) / one_inf(window))
    return dict(
        norm=size.mean(), norm_low=low, norm_median=median, norm_high=high, mean_abs=np.abs(x).mean(),
        entry_variance=np.mean([window.var() for window in x]),
        data_variance=x.var(axis=0).mean() if len(x) > 1 else None,
        cosine=np.mean([(p.sum() - np.trace(p)) / (count * (count - 1)) for p in pairs]),
        effective_rank=np.mean(ranks), collapse_residual=np.mean(residuals), largest=np.abs(x).max(),
        median_abs=np.sort(np.abs(x), axis=None)[(x.size - 1) // 2])


def one_inf(matrix):
    return np.sqrt(np.abs(matrix).sum(axis=0).max() * np.abs(matrix).sum(axis=1).max())


def norms_of(block, model_type):
    """name -> (gain, bias) of each norm in the block, those of queries and keys too."""
    offset = 1.0 if model_type.startswith("gemma") else 0.0
    found = {}
    for name, module in block.named_modules():
        if "Norm" in type(module).__name__:
            bias = getattr(module, "bias", None)
            found[name] = (offset + array(module.weight), np.zeros(1) if bias is None else array(bias))
    return found


def array(tensor):
    return tensor.detach().double().numpy()


def length_after(gain, bias):
    """Length of gain * u + bias for |u|^2 = number of channels, u without a preferred direction."""
    return np.sqrt(np.sum(gain**2) + np.sum(bias**2))


def predicted_turn(placement, names, norms, before, stream, attention, ffn):
    """Sum of arctan(contribution / what it is added to) over pi, all taken as orthogonal. stream, attention, ffn are
    measured mean lengths, norms those of the block, before those of the previous one (None in the first block)."""
    if placement == "post":  # x -> N2(y + ffn), y = N1(x + attention)
        if before is not None:
            stream = length_after(*before["output.LayerNorm"])
        middle = length_after(*norms["attention.output.LayerNorm"])
        turns = np.arctan(attention / stream), np.arctan(ffn / middle)
    elif placement == "parallel":  # x -> x + attention + ffn, neither before the other: each is added to the rest
        turns = np.arctan(attention / np.hypot(stream, ffn)), np.arctan(ffn / np.hypot(stream, attention))
    else:  # x -> (x + attention) + ffn
        if placement == "output norm":
            attention, ffn = (length_after(*norms[name]) for name in names)
        turns = np.arctan(attention / stream), np.arctan(ffn / np.hypot(stream, attention))
    return sum(turns) / np.pi


def block_fields(x, y, a, f, weights, scores):
    """x: before the block, y: after it, a, f: what attention and the FFN add; [windows, tokens, channels]."""
    entropy = torch.special.entr(weights).sum(-1).numpy()  # [windows, heads, queries]
    sink = weights[..., 0].numpy().mean(axis=(0, 2))
    largest = scores.amax(dim=(0, 2, 3)).numpy()
    heads = [dict(entropy=e, sink=s, largest_logit=m) for e, s, m in zip(entropy.mean(axis=(0, 2)), sink, largest)]
    turn = cosines(x, y)
    size = lengths(x).mean()
    return dict(
        attention_norm=lengths(a).mean(), attention_ratio=lengths(a).mean() / size,
        attention_cosine=cosines(a, x).mean(),
        ffn_norm=lengths(f).mean(), ffn_ratio=lengths(f).mean() / size, ffn_cosine=cosines(f, x).mean(),
        angular_distance=np.mean(np.arccos(np.clip(turn, -1, 1))) / np.pi, influence=1 - turn.mean(),
        entropy=entropy.mean(), sink=sink.mean(), sink_heads=np.mean(sink > 0.3), largest_logit=largest.max()), heads


def massive_of(layer, x, median):
    found = [dict(layer=layer, sequence=s, token=t, channel=k, value=x[s, t, k]) for s, t, k in np.ndindex(*x.shape)
             if abs(x[s, t, k]) > 100 and abs(x[s, t, k]) >= 1000 * median]
    return sorted(found, key=lambda entry: -abs(entry["value"]))[:3]


def report(name):
    folder = HERE / name if name in DEEP else MODELS / name
    config = transformers.AutoConfig.from_pretrained(folder)
    attention, ffn, placement, bound = FAMILIES[config.model_type]
    if placement == "parallel" and not config.use_parallel_residual:
        placement = "pre"
    encoder = config.model_type == "bert"
    kind = transformers.AutoModel if encoder else transformers.AutoModelForCausalLM
    model = kind.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    blocks = next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList))
    windows, tokens = REPORTS[name]
    seed = int.from_bytes(name.encode(), "big") % 2**31
    ids = torch.randint(0, config.vocab_size, (windows, tokens), generator=torch.Generator().manual_seed(seed))
    if name == "gpt2-massive":
        ids[(ids == 7) | (ids == 4)] = 9
        ids[1, 3], ids[2, 0] = 7, 4

    seen = Seen(blocks, attention, ffn)
    with seen.watching_softmax():
        output = model(ids)
    result = dict(sequences=windows, tokens=tokens, ids=ids.flatten().tolist(), loss=None)
    if not encoder:
        def loss_of(logits):
            return cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        logits, loss = output.logits, loss_of(output.logits)
        loss.backward()
        result["loss"] = loss.item()
    streams = [array(stream) for stream in seen.streams]
    fields = [stream_fields(x) for x in streams]
    for field, stream in zip(fields, seen.streams):
        field["gradient"] = None if encoder else stream.grad.norm().item()
    result.update(embedding=fields[0], layers=fields[1:], heads=[], massive=[], gains=[], lens_top=[], final_top=None)

    prefix = next(key for key, module in model.named_modules() if module is blocks)
    before = None
    for l, layer in enumerate(result["layers"]):
        x, y, a = streams[l], streams[l + 1], array(seen.added[l]["attention"])
        f = array(seen.added[l]["ffn"]).reshape(x.shape)  # OPT's second matrix sees the tokens of all windows in one list
        if placement != "post":  # the contributions are all that a block does
            assert np.abs(y - x - a - f).max() < 1e-12 * np.abs(y).max(), name
        own, heads = block_fields(x, y, a, f, seen.weights[l], seen.scores[l])
        norms = norms_of(blocks[l], config.model_type)
        own["angular_predicted"] = predicted_turn(placement, (attention, ffn), norms, before, fields[l]["norm"],
                                                  own["attention_norm"], own["ffn_norm"])
        own["angular_ratio"] = own["angular_distance"] / own["angular_predicted"]
        every = np.concatenate([np.abs(gain) for gain, _ in norms.values()])
        own.update(gain_mean=every.mean(), gain_largest=every.max(), drop=None, lens_loss=None, lens_agreement=None)
        for key, (gain, _) in norms.items():
            result["gains"].append(dict(layer=l, norm=f"{prefix}.{l}.{key}.weight", mean=np.abs(gain).mean(),
                                        deviation=gain.std(), largest=np.abs(gain).max()))
        if not encoder:
            with torch.no_grad(), left_out(blocks, [l]):
                own["drop"] = loss_of(model(ids).logits).item() - loss.item()
            with torch.no_grad(), left_out(blocks, range(l + 1, len(blocks))):
                lens = model(ids).logits
            own["lens_loss"] = loss_of(lens).item()
            own["lens_agreement"] = (lens.argmax(-1) == logits.argmax(-1)).double().mean().item()
            result["lens_top"].append(lens[-1, -1].argmax().item())
            result["final_top"] = logits[-1, -1].argmax().item()
        layer.update(own)
        result["heads"].append(heads)
        result["massive"] += massive_of(l, y, layer["median_abs"])
        before = norms
    result["growth"] = growth_of([layer["norm_median"] for layer in result["layers"]])
    result["bound"] = bound
    return result


if __name__ == "__main__":
    torch.set_num_threads(1)
    for chosen in sys.argv[1:] or REPORTS:
        if chosen in DEEP:
            make_checkpoint(chosen)
        text = json.dumps(report(chosen), indent=1, default=lambda x: x.tolist(), allow_nan=False)
        (HERE / f"{chosen}.json").write_text(text + "\n")
        print(chosen)
