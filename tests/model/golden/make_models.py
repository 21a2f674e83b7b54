#!/usr/bin/env python3
"""Makes the golden models of tests/model: tiny checkpoints with random weights, and what PyTorch says they compute.

Each folder holds a checkpoint as published (config.json, model.safetensors or shards) and expected.safetensors: ids,
logits, hidden.I, attention.I, loss, and gradient.NAME for every parameter, of the mean next-token loss or, for encoders,
of sum(hidden.last * direction). References are computed in double from the rounded weights.

The first twelve were made by transformers 4.57.6 with safetensors 0.7.0, and their seeds follow the order of the list; all
others by transformers 5.22.2 with safetensors 0.8.0, seeded by their names. expected.safetensors names the versions.

usage: pip install torch==2.13.0 transformers==5.22.2 safetensors==0.8.0; make_models.py NAME ...
"""
import json
import shutil
import sys
import zlib
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
LLAMA = dict(
    vocab_size=53, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64, bos_token_id=1, eos_token_id=2,
)
GPT2 = dict(vocab_size=53, n_embd=24, n_layer=2, n_head=3, n_positions=32, bos_token_id=1, eos_token_id=2)
BERT = dict(
    vocab_size=53, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=3,
    max_position_embeddings=32,
)


NEOX = dict(
    vocab_size=53, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=3,
    max_position_embeddings=64, bos_token_id=1, eos_token_id=2,
)
OPT = dict(
    vocab_size=53, hidden_size=24, ffn_dim=36, num_hidden_layers=2, num_attention_heads=3, word_embed_proj_dim=24,
    max_position_embeddings=32, bos_token_id=1, eos_token_id=2, pad_token_id=None,
)
SEEDED_BY_ORDER = 12


def llama(**more):
    return transformers.LlamaForCausalLM, transformers.LlamaConfig(**{**LLAMA, **more})


def relative(name, **more):
    """A model of Llama's sizes whose classes are called NAMEForCausalLM and NAMEConfig."""
    config = "Gemma3Text" if name == "Gemma3" else name
    return getattr(transformers, name + "ForCausalLM"), getattr(transformers, config + "Config")(
        **{**LLAMA, "pad_token_id": None, **more})  # the embedding of padding has no gradient


# name: (class and configuration, type of the weights, tokens, what to do with the saved tensors)
MODELS = {
    "gpt2": ((transformers.GPT2LMHeadModel, transformers.GPT2Config(**GPT2)), torch.float32, 19, ()),
    "gpt2-no-bias": (
        (transformers.GPT2LMHeadModel, transformers.GPT2Config(
            **GPT2, activation_function="gelu", scale_attn_by_inverse_layer_idx=True, n_inner=40,
            tie_word_embeddings=False, layer_norm_epsilon=1e-3)),
        torch.float32, 17, ("no-bias", "no-prefix")),
    "gpt2-unscaled-f16": (
        (transformers.GPT2LMHeadModel, transformers.GPT2Config(
            **GPT2, activation_function="relu", scale_attn_weights=False)),
        torch.float16, 32, ("masks",)),
    "llama-gqa": (llama(tie_word_embeddings=False), torch.float32, 23, ("shards",)),
    "llama3-bf16": (
        llama(tie_word_embeddings=False, head_dim=10, rope_theta=500000.0, rope_scaling=dict(
            rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=16)),
        torch.bfloat16, 40, ()),
    "llama-bias-tied": (
        llama(tie_word_embeddings=True, attention_bias=True, mlp_bias=True, hidden_act="gelu_pytorch_tanh",
              rms_norm_eps=1e-2, rope_scaling=dict(type="linear", factor=3.0)),
        torch.float32, 12, ()),
    "llama-dynamic": (
        llama(max_position_embeddings=16, rope_scaling=dict(rope_type="dynamic", factor=2.0)), torch.float32, 29, ()),
    "llama-yarn": (
        llama(head_dim=16, rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)),
        torch.float32, 37, ()),
    "mistral-window-f16": (
        (transformers.MistralForCausalLM, transformers.MistralConfig(**LLAMA, sliding_window=5)),
        torch.float16, 31, ()),
    "qwen2": ((transformers.Qwen2ForCausalLM, transformers.Qwen2Config(**LLAMA, tie_word_embeddings=True)),
              torch.float32, 21, ()),
    "bert": ((transformers.BertModel, transformers.BertConfig(**BERT)), torch.float32, 18, ()),
    "bert-prefix-bf16": (
        (transformers.BertForMaskedLM, transformers.BertConfig(**BERT, layer_norm_eps=1e-6, hidden_act="gelu_new")),
        torch.bfloat16, 14, ()),
    "qwen3": (relative("Qwen3", head_dim=10, tie_word_embeddings=True), torch.float32, 22, ()),
    "qwen3-window-bf16": (
        relative("Qwen3", head_dim=8, attention_bias=True, use_sliding_window=True, sliding_window=6,
                 max_window_layers=1), torch.bfloat16, 27, ()),
    "olmo2": (relative("Olmo2"), torch.float32, 25, ()),
    "olmo3-yarn": (
        relative("Olmo3", num_hidden_layers=4, sliding_window=7, rope_parameters=dict(
            full_attention=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16, rope_theta=2000.0),
            sliding_attention=dict(rope_type="default", rope_theta=50.0))), torch.float32, 33, ()),
    "granite": (
        relative("Granite", embedding_multiplier=12.0, attention_multiplier=0.25, residual_multiplier=0.22,
                 logits_scaling=4.0, tie_word_embeddings=True), torch.float32, 24, ()),
    "gpt-neox": ((transformers.GPTNeoXForCausalLM, transformers.GPTNeoXConfig(**NEOX)), torch.float32, 26,
                 ("embed-out",)),
    "gpt-neox-serial-f16": (
        (transformers.GPTNeoXForCausalLM, transformers.GPTNeoXConfig(
            **NEOX, use_parallel_residual=False, tie_word_embeddings=True, hidden_act="gelu_fast",
            rope_parameters=dict(rope_type="linear", factor=2.0, partial_rotary_factor=0.4))),
        torch.float16, 20, ("masks",)),
    "opt": ((transformers.OPTForCausalLM, transformers.OPTConfig(**OPT)), torch.float32, 21, ()),
    "opt-post-ln-f16": (
        (transformers.OPTForCausalLM, transformers.OPTConfig(
            **OPT, do_layer_norm_before=False, enable_bias=False, activation_function="gelu", tie_word_embeddings=False)),
        torch.float16, 17, ()),
    # Caps low enough that half of what they meet is bent.
    "gemma2": (
        relative("Gemma2", head_dim=8, query_pre_attn_scalar=12, sliding_window=6, attn_logit_softcapping=1.5,
                 final_logit_softcapping=2.0), torch.float32, 28, ()),
    "gemma2-uncapped-f16": (
        relative("Gemma2", head_dim=6, query_pre_attn_scalar=6, sliding_window=40, attn_logit_softcapping=None,
                 final_logit_softcapping=None, tie_word_embeddings=False, attention_bias=True), torch.float16, 18, ()),
    "gemma3": (
        relative("Gemma3", head_dim=8, num_hidden_layers=3, query_pre_attn_scalar=8, sliding_window=5,
                 layer_types=["sliding_attention", "full_attention", "sliding_attention"], rope_parameters=dict(
                     full_attention=dict(rope_type="linear", factor=8.0, rope_theta=5000.0),
                     sliding_attention=dict(rope_type="default", rope_theta=30.0))), torch.float32, 30, ()),
    "gemma3-capped-bf16": (
        relative("Gemma3", head_dim=10, query_pre_attn_scalar=5, sliding_window=9, final_logit_softcapping=3.0,
                 hidden_activation="silu"), torch.bfloat16, 26, ()),
}


def randomise(model, dtype, generator):
    """Numbers large enough that attention is far from uniform, exact in the stored type."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            is_gain = parameter.dim() == 1 and name.endswith("weight")
            centre = 0 if model.config.model_type.startswith("gemma") else 1  # what a gain of 1 is stored as
            value = centre + 0.2 * noise if is_gain else 0.25 * noise
            parameter.copy_(value.to(dtype).to(torch.float32))


def save(model, folder, dtype, edits):
    tensors = {name: tensor.to(dtype).contiguous() for name, tensor in model.state_dict().items()
               if tensor.is_floating_point() and "inv_freq" not in name}
    tied = model.config.tie_word_embeddings
    for head in ("lm_head.weight", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias"):
        if tied or head.startswith("cls"):
            tensors.pop(head, None)
    if "no-bias" in edits:
        tensors = {name: tensor for name, tensor in tensors.items() if not name.endswith(".bias")}
    if "no-prefix" in edits:
        tensors = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    if "embed-out" in edits:  # how Pythia publishes its head
        tensors["embed_out.weight"] = tensors.pop("lm_head.weight")
    if "masks" in edits:  # buffers that old checkpoints carry
        attention = "transformer.h.{}.attn" if model.config.model_type == "gpt2" else "gpt_neox.layers.{}.attention"
        for layer in range(model.config.num_hidden_layers):
            tensors[f"{attention.format(layer)}.bias"] = torch.ones(1, 1, 32, 32, dtype=torch.uint8).tril()
            tensors[f"{attention.format(layer)}.masked_bias"] = torch.tensor(-1e4)
    model.config.dtype = dtype
    model.config.save_pretrained(folder)
    if "shards" not in edits:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
    index = {"metadata": {"total_size": 0}, "weight_map": {name: file for file, part in parts.items() for name in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")


def by_part(config, name, gradient):
    """GPT-NeoX keeps query, key and value of the first head, then of the second; the gradient is compared as all queries,
    all keys, all values. OPT's table of positions begins with two rows that no token has: their gradient is left out."""
    if "embed_positions" in name:
        assert not gradient[:2].any()
        return gradient[2:]
    if "query_key_value" not in name:
        return gradient
    heads = config.num_attention_heads
    pieces = gradient.reshape(heads, 3, config.hidden_size // heads, -1)
    return pieces.transpose(0, 1).reshape(gradient.shape)


def make(name):
    (cls, config), dtype, count, edits = MODELS[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    order = list(MODELS).index(name)
    generator = torch.Generator().manual_seed(
        1000 + order if order < SEEDED_BY_ORDER else zlib.crc32(name.encode()))
    config._attn_implementation = "eager"
    model = cls(config).eval()
    randomise(model, dtype, generator)
    if "no-bias" in edits:
        with torch.no_grad():
            for parameter_name, parameter in model.named_parameters():
                if parameter_name.endswith(".bias"):
                    parameter.zero_()
    save(model, folder, dtype, edits)

    model = model.double()
    ids = torch.randint(0, config.vocab_size, (1, count), generator=generator)
    expected = {"ids": ids[0]}
    encoder = config.model_type == "bert"
    runner = getattr(model, "bert", model) if encoder else model
    result = runner(ids, output_hidden_states=True, output_attentions=True)
    if encoder:
        direction = torch.randn(result.hidden_states[-1].shape, generator=generator).double()
        expected["direction"] = direction[0]
        loss = (result.hidden_states[-1] * direction).sum()
    else:
        expected["logits"] = result.logits[0]
        loss = torch.nn.functional.cross_entropy(result.logits[0, :-1], ids[0, 1:])
    loss.backward()
    expected["loss"] = loss.reshape(1)
    for i, hidden in enumerate(result.hidden_states):
        expected[f"hidden.{i}"] = hidden[0]
    for i, attention in enumerate(result.attentions):
        expected[f"attention.{i}"] = attention[0]
    for parameter_name, parameter in runner.named_parameters():
        if parameter.grad is not None and not ("no-bias" in edits and parameter_name.endswith(".bias")):
            expected["gradient." + parameter_name] = by_part(config, parameter_name, parameter.grad)
    save_file({key: (value if key == "ids" else value.detach().float()).contiguous() for key, value in expected.items()},
              folder / "expected.safetensors",
              metadata={"transformers": transformers.__version__, "torch": torch.__version__})
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{name}: {size} bytes, loss {loss.item():.6f}")
    assert size < 300_000


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        make(chosen)
