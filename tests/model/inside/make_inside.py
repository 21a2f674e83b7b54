#!/usr/bin/env python3
"""What PyTorch sees inside two of the golden models, and what it makes of texts longer than a window.

Reads the checkpoints of tests/model/golden and writes NAME.safetensors here, computed in double:

    ids                    those of the golden
    query.B, key.B, value.B   [heads, tokens, head_dim], after biases and rotary positions
    branch.B.attn, .ffn    what a block adds to the stream
    stream.L               the last stream, before the final norm
    top_ids, top_log_probability   [tokens, 5]
    text                   ids of a longer text
    losses.LENGTH.STRIDE   -log p of each token of it by windows; NaN where a token is not scored

The windows are those of Hugging Face's page "Perplexity of fixed-length models", each run as a sequence of its own.

usage: pip install torch==2.13.0 transformers==5.22.2 safetensors==0.8.0; make_inside.py
"""
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers.models.llama import modeling_llama

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden"
# name: tokens of the text, windows (length, stride); a length beyond the model's positions where these are rotary
MODELS = {
    "gpt2": (75, [(32, 16), (20, 20), (10, 3), (32, 1)]),
    "llama-gqa": (150, [(64, 32), (100, 30), (150, 150)]),
}


def losses_by_windows(model, text, length, stride):
    losses = torch.full((len(text),), float("nan"), dtype=torch.float64)
    seen = 0
    for begin in range(0, len(text), stride):
        end = min(begin + length, len(text))
        logits = model(text[None, begin:end]).logits[0]
        log_p = torch.log_softmax(logits, -1)
        for place in range(max(seen, begin + 1), end):
            losses[place] = -log_p[place - begin - 1, text[place]]
        seen = end
        if end == len(text):
            return losses


def watched(model, ids, found):
    """Runs the model and collects queries, keys, values, branches and the last stream."""
    is_gpt2 = model.config.model_type == "gpt2"
    blocks = model.transformer.h if is_gpt2 else model.model.layers
    hooks = []
    for number, block in enumerate(blocks):
        attention = block.attn if is_gpt2 else block.self_attn
        hooks.append(attention.register_forward_hook(
            lambda module, given, out, b=number: found.update({f"branch.{b}.attn": out[0][0]})))
        hooks.append(block.mlp.register_forward_hook(
            lambda module, given, out, b=number: found.update({f"branch.{b}.ffn": out[0]})))
        if is_gpt2:
            def split(module, given, out, b=number):
                for name, part in zip(("query", "key", "value"), out[0].chunk(3, -1)):
                    found[f"{name}.{b}"] = part.reshape(len(part), model.config.n_head, -1).transpose(0, 1)
            hooks.append(attention.c_attn.register_forward_hook(split))
        else:
            hooks.append(attention.v_proj.register_forward_hook(
                lambda module, given, out, b=number: found.update(
                    {f"value.{b}": out[0].reshape(out.shape[1], model.config.num_key_value_heads, -1).transpose(0, 1)})))
    norm = model.transformer.ln_f if is_gpt2 else model.model.norm
    hooks.append(norm.register_forward_pre_hook(
        lambda module, given: found.update({f"stream.{len(blocks)}": given[0][0]})))
    turned = []
    rotate = modeling_llama.apply_rotary_pos_emb

    def remember(*given, **named):
        turned.append(rotate(*given, **named))
        return turned[-1]

    modeling_llama.apply_rotary_pos_emb = remember
    result = model(ids[None])
    modeling_llama.apply_rotary_pos_emb = rotate
    for number, (query, key) in enumerate(turned):
        found[f"query.{number}"] = query[0]
        found[f"key.{number}"] = key[0]
    for hook in hooks:
        hook.remove()
    return result


def main():
    for name, (count, windows) in MODELS.items():
        model = transformers.AutoModelForCausalLM.from_pretrained(
            GOLDEN / name, dtype=torch.float64, attn_implementation="eager").eval()
        golden = load_file(GOLDEN / name / "expected.safetensors")
        found = {}
        with torch.no_grad():
            logits = watched(model, golden["ids"], found).logits[0]
            assert (logits - golden["logits"]).abs().max() < 1e-4 * logits.abs().max()
            top = torch.log_softmax(logits, -1).topk(5, -1)
            found["top_ids"] = top.indices
            found["top_log_probability"] = top.values
            text = torch.randint(0, model.config.vocab_size, (count,), generator=torch.Generator().manual_seed(5))
            for length, stride in windows:
                found[f"losses.{length}.{stride}"] = losses_by_windows(model, text, length, stride)
        whole = {"ids": golden["ids"], "text": text, "top_ids": found.pop("top_ids")}
        save_file({**whole, **{key: value.float().contiguous() for key, value in found.items()}},
                  HERE / f"{name}.safetensors")
        print(name, (HERE / f"{name}.safetensors").stat().st_size, "bytes", sorted(found))


if __name__ == "__main__":
    main()
