#!/usr/bin/env python3
"""Makes checkpoints whose config.json is unusual, and what transformers makes of them.

Each folder holds a config.json as typed here, model.safetensors with random weights, and expected.safetensors: ids, the
last hidden state and, for decoders, logits, in float32 through from_pretrained with eager attention. Its metadata names
the versions that computed it. What the keys mean is what transformers makes of them, never our own reading.

The seeds of the first nine follow the order of the list, all others are seeded by their names.

usage: pip install torch==2.13.0 transformers==5.22.2 safetensors==0.8.0; make_unusual.py [NAME ...]
"""
import json
import shutil
import sys
import zlib
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


VISION = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=4, image_size=4, patch_size=2,
              vision_use_head=False)
SEEDED_BY_ORDER = 9


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
    "qwen3-layer-types": (llama(
        "qwen3", head_dim=6, use_sliding_window=True, sliding_window=3, attention_bias=True, num_key_value_heads=None,
        layer_types=["sliding_attention", "full_attention"]), 12, ()),
    # Half the keys: caps, windows, the scale of scores are the defaults of the class. hidden_act is another family's key.
    "gemma2-few-keys": (llama("gemma2", head_dim=8, hidden_act="relu"), 12, ()),
    "gemma2-one-cap": (llama(
        "gemma2", head_dim=8, attn_logit_softcapping=0.25, final_logit_softcapping=None, sliding_window=4,
        query_pre_attn_scalar=2, tie_word_embeddings=False), 12, ()),
    # As first published; a cap of scores, which the class does not look at.
    "gemma3-older-spelling": (llama(
        "gemma3_text", head_dim=8, rope_theta=500.0, rope_local_base_freq=20.0, sliding_window=4,
        sliding_window_pattern=2, rope_scaling=dict(rope_type="linear", factor=8.0), attn_logit_softcapping=0.1,
        query_pre_attn_scalar=4), 12, ()),
    # rope_scaling goes into full_attention and wins; `type` there is no longer looked at, `truncate` inside never was.
    "gemma3-both-spellings": (llama(
        "gemma3_text", head_dim=8, sliding_window=4, sliding_window_pattern=2, rope_theta=77.0,
        rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=8, truncate=False),
        rope_parameters=dict(full_attention=dict(rope_type="linear", factor=2.0, type="default"),
                             sliding_attention=dict(type="linear", factor=3.0, rope_theta=40.0))), 12, ()),
    # The language model of a Gemma that sees images: no cap of logits in its class.
    "gemma3-images": (dict(
        model_type="gemma3", image_token_index=10, vision_config=VISION,
        text_config=llama("gemma3_text", head_dim=8, sliding_window=4, final_logit_softcapping=1.0,
                          layer_types=["sliding_attention", "full_attention"])), 12, ("published-prefix",)),
    # rope_theta is that of full attention alone.
    "olmo3-one-theta": (llama(
        "olmo3", sliding_window=4, rope_theta=30.0, layer_types=["full_attention", "sliding_attention"]), 12, ()),
    "olmo2-head-dim": (llama("olmo2", head_dim=6, attention_bias=True), 12, ()),
    "granite-few-keys": (llama("granite", residual_multiplier=0.22, mlp_bias=True, attention_bias=True), 12, ()),
    "opt-few-keys": (dict(
        model_type="opt", vocab_size=11, hidden_size=16, num_attention_heads=2, num_hidden_layers=2, ffn_dim=10,
        max_position_embeddings=16, word_embed_proj_dim=None), 12, ()),
    # A quarter of twelve channels is three, and four turn.
    "gpt-neox-odd-share": (dict(
        model_type="gpt_neox", vocab_size=11, hidden_size=24, num_attention_heads=2, num_hidden_layers=2,
        intermediate_size=10, max_position_embeddings=32, attention_bias=False, rope_theta=3.0), 12, ()),
    "gpt-neox-inside-share": (dict(
        model_type="gpt_neox", vocab_size=11, hidden_size=16, num_attention_heads=2, num_hidden_layers=2,
        intermediate_size=10, max_position_embeddings=16, rotary_pct=0.25, rotary_emb_base=50,
        rope_scaling=dict(type="dynamic", factor=2.0, partial_rotary_factor=0.75)), 20, ()),
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
    order = list(CASES).index(name)
    generator = torch.Generator().manual_seed(
        2000 + order if order < SEEDED_BY_ORDER else zlib.crc32(name.encode()))
    tensors = {}
    for key, tensor in model.state_dict().items():
        noise = torch.randn(tensor.shape, generator=generator)
        is_gain = tensor.dim() == 1 and key.endswith("weight")
        centre = 0 if config["model_type"].startswith("gemma") else 1  # what a gain of 1 is stored as
        tensors[key] = centre + 0.2 * noise if is_gain else 0.4 * noise
    tensors = {key: tensor for key, tensor in tensors.items() if not key.startswith("pooler.")}
    if loaded.tie_word_embeddings and "other-head" not in edits:
        tensors.pop("lm_head.weight", None)
    if "head-only" in edits:
        tensors["lm_head.weight"] = tensors.pop("transformer.wte.weight")
    if "published-prefix" in edits:
        tensors = {key.replace("model.language_model.", "language_model.model.").replace("model.vision", "vision")
                      .replace("model.multi", "multi"): tensor for key, tensor in tensors.items()}
    if "score" in edits:
        tensors["score.weight"] = torch.ones(2, 12)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    model = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    below = config.get("image_token_index", config.get("vocab_size"))
    ids = torch.randint(0, below, (1, count), generator=generator)
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
