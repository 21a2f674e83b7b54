#!/usr/bin/env python3
"""Makes the golden models of tests/model: tiny checkpoints with random weights, and what PyTorch says they compute.

Each folder holds a checkpoint as published (config.json, model.safetensors or shards) and expected.safetensors: ids,
logits, hidden.I, attention.I, loss, and gradient.NAME for every parameter, of the mean next-token loss or, for encoders,
of sum(hidden.last * direction). References are computed in double from the rounded weights.

usage: pip install torch==2.13.0 transformers==4.57.6 safetensors==0.7.0; make_models.py [NAME ...]
"""
import json
import shutil
import sys
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


def llama(**more):
    return transformers.LlamaForCausalLM, transformers.LlamaConfig(**{**LLAMA, **more})


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
}


def randomise(model, dtype, generator):
    """Numbers large enough that attention is far from uniform, exact in the stored type."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            is_gain = parameter.dim() == 1 and name.endswith("weight")
            value = 1 + 0.2 * noise if is_gain else 0.25 * noise
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
    if "masks" in edits:  # buffers that old checkpoints carry
        for layer in range(model.config.n_layer):
            tensors[f"transformer.h.{layer}.attn.bias"] = torch.ones(1, 1, 32, 32, dtype=torch.uint8).tril()
            tensors[f"transformer.h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
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


def make(name):
    (cls, config), dtype, count, edits = MODELS[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    generator = torch.Generator().manual_seed(1000 + list(MODELS).index(name))
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
            expected["gradient." + parameter_name] = parameter.grad
    save_file({key: (value if key == "ids" else value.detach().float()).contiguous() for key, value in expected.items()},
              folder / "expected.safetensors")
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{name}: {size} bytes, loss {loss.item():.6f}")
    assert size < 300_000


if __name__ == "__main__":
    for chosen in sys.argv[1:] or MODELS:
        make(chosen)
