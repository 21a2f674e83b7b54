#!/usr/bin/env python3
"""Makes checkpoints whose config.json is unusual, and what transformers makes of them.

Each folder holds a config.json as typed here, model.safetensors with random weights, and expected.safetensors: ids, the
last hidden state and, for decoders, logits, in float32 through from_pretrained with eager attention. Its metadata names
the versions that computed it. What the keys mean is what transformers makes of them, never our own reading.

usage: pip install torch==2.13.0 transformers==5.22.2 safetensors==0.8.0; make_unusual.py [NAME ...]
"""
import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
LLAMA = dict(vocab_size=11, hidden_size=16, intermediate_size=12, num_hidden_layers=2, num_attention_heads=2,
             num_key_value_heads=1, max_position_embeddings=64)
GPT2 = dict(model_type="gpt2", vocab_size=11, n_embd=12, n_layer=2, n_head=4, n_positions=16, n_inner=10)
BERT = dict(model_type="bert", vocab_size=11, hidden_size=12, intermediate_size=10, num_hidden_layers=2,
            num_attention_heads=2, max_position_embeddings=16)


def llama(kind="llama", **more):
    return {"model_type": kind, **LLAMA, **more}


# name: (config.json, tokens, what to do with the tensors)
CASES = {
    # The length outside wins over the one inside.
    "llama-original-outside": (llama(
        rope_theta=20.0,
        original_max_position_embeddings=48,
        rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)), 12, ()),
    "qwen2-original-outside": (llama(
        "qwen2", original_max_position_embeddings=40, rope_parameters=dict(
            rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=8, rope_theta=500.0)), 12, ()),
    # The factor is then 64 / 16; null turns truncation off.
    "llama-yarn-null-factor": (llama(rope_scaling=dict(
        type="yarn", factor=None, original_max_position_embeddings=16, truncate=None, attention_factor=None,
        rope_theta=100.0)), 12, ()),
    # The older spelling wins, with the theta inside.
    "llama-both-spellings": (llama(
        rope_theta=50.0, rope_scaling=dict(rope_type="linear", factor=2.0, rope_theta=200.0),
        rope_parameters=dict(rope_type="default", rope_theta=10000.0)), 12, ()),
    "llama-partial-rotary": (llama(partial_rotary_factor=0.5), 12, ()),
    "mistral-other-head": (llama("mistral", tie_word_embeddings=True), 9, ("other-head",)),
    # layer_types makes it a Ministral.
    "mistral-layer-types": (llama(
        "mistral", head_dim=8, sliding_window=3, use_sliding_window=False,
        layer_types=["full_attention", "sliding_attention"]), 12, ()),
    "gpt2-second-names": ({**GPT2, "num_attention_heads": 2, "activation_function": "gelu_python"}, 9,
                          ("head-only", "score")),
    "bert-gelu-python": ({**BERT, "hidden_act": "gelu_python", "position_embedding_type": None}, 9, ()),
}


def make(name):
    config, count, edits = CASES[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    is_bert = config["model_type"] == "bert"
    cls = transformers.BertModel if is_bert else transformers.AutoModelForCausalLM
    loaded = transformers.AutoConfig.from_pretrained(folder)
    model = cls(loaded) if is_bert else cls.from_config(loaded)
    generator = torch.Generator().manual_seed(2000 + list(CASES).index(name))
    tensors = {}
    for key, tensor in model.state_dict().items():
        noise = torch.randn(tensor.shape, generator=generator)
        is_gain = tensor.dim() == 1 and key.endswith("weight")
        tensors[key] = 1 + 0.2 * noise if is_gain else 0.4 * noise
    tensors = {key: tensor for key, tensor in tensors.items() if not key.startswith("pooler.")}
    if loaded.tie_word_embeddings and "other-head" not in edits:
        tensors.pop("lm_head.weight", None)
    if "head-only" in edits:
        tensors["lm_head.weight"] = tensors.pop("transformer.wte.weight")
    if "score" in edits:
        tensors["score.weight"] = torch.ones(2, 12)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = torch.randint(0, config["vocab_size"], (1, count), generator=generator)
    with torch.no_grad():
        result = model(ids, output_hidden_states=True)
    expected = {"ids": ids[0], "hidden": result.hidden_states[-1][0]}
    if not is_bert:
        expected["logits"] = result.logits[0]
    versions = {"transformers": transformers.__version__, "torch": torch.__version__}
    save_file({key: value.contiguous() for key, value in expected.items()}, folder / "expected.safetensors",
              metadata=versions)
    print(f"{name}: {sum(file.stat().st_size for file in folder.iterdir())} bytes")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or CASES:
        make(chosen)
