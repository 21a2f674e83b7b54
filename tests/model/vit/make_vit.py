#!/usr/bin/env python3
"""Makes the Vision Transformers of tests/model: tiny checkpoints with random weights, and what PyTorch says they compute.

Each folder holds a checkpoint as published (config.json, model.safetensors) and expected.safetensors: pixel_values
[channels, height, width], hidden.I (the last is last_hidden_state, behind the final norm), attention.I, and of
sum(hidden.last * direction) gradient.NAME for every parameter, by its name in the file, and gradient.rows of hidden.0.
References are computed in double from the rounded weights.

usage: pip install torch==2.13.0 transformers==5.22.2 safetensors==0.8.0; make_vit.py
"""
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
SIZES = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40)
# Pictures and patches that are not square, one with pixels left over; and a classifier in half precision.
MODELS = {
    "vit": (transformers.ViTModel, dict(image_size=[13, 10], patch_size=[4, 2], num_channels=2), torch.float32),
    "vit-classifier-f16": (
        transformers.ViTForImageClassification,
        dict(image_size=8, patch_size=4, num_channels=3, qkv_bias=False, hidden_act="gelu_new", layer_norm_eps=1e-4),
        torch.float16),
}
# What the modules of transformers 5 are called in published files.
IN_FILES = [("layers.", "encoder.layer."), ("attention.q_proj", "attention.attention.query"),
            ("attention.k_proj", "attention.attention.key"), ("attention.v_proj", "attention.attention.value"),
            ("attention.o_proj", "attention.output.dense"), ("mlp.fc1", "intermediate.dense"),
            ("mlp.fc2", "output.dense")]


def in_file(name):
    for now, published in IN_FILES:
        name = name.replace(now, published)
    return name


def make(name, seed):
    cls, keys, dtype = MODELS[name]
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    generator = torch.Generator().manual_seed(seed)
    config = transformers.ViTConfig(**SIZES, **keys)
    config._attn_implementation = "eager"
    model = cls(config).eval()
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            is_gain = parameter.dim() == 1 and parameter_name.endswith("weight")
            parameter.copy_((1 + 0.2 * noise if is_gain else 0.25 * noise).to(dtype).float())
    model.to(dtype).save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)
    stored = load_file(folder / "model.safetensors")
    model = model.double()
    encoder = getattr(model, "vit", model)
    height, width = keys["image_size"] if isinstance(keys["image_size"], list) else [keys["image_size"]] * 2
    pixels = torch.randn((1, keys["num_channels"], height, width), generator=generator)
    seen = []
    hook = encoder.embeddings.register_forward_hook(lambda module, given, out: (out.retain_grad(), seen.append(out))[0])
    result = encoder(pixels.double(), output_hidden_states=True, output_attentions=True)
    hook.remove()
    last = result.last_hidden_state
    direction = torch.randn(last.shape, generator=generator).double()
    (last * direction).sum().backward()
    expected = {"pixel_values": pixels[0], "direction": direction[0], "gradient.rows": seen[0].grad[0]}
    assert torch.equal(result.hidden_states[0], seen[0])
    for i, hidden in enumerate([*result.hidden_states[:-1], last]):
        expected[f"hidden.{i}"] = hidden[0]
    for i, attention in enumerate(result.attentions):
        expected[f"attention.{i}"] = attention[0]
    for parameter_name, parameter in encoder.named_parameters():
        if parameter.grad is not None:
            published = in_file(parameter_name)
            assert published in stored or "vit." + published in stored, published
            expected["gradient." + published] = parameter.grad
    save_file({key: value.detach().float().contiguous() for key, value in expected.items()},
              folder / "expected.safetensors")
    print(name, sum(file.stat().st_size for file in folder.iterdir()), "bytes", [f.name for f in folder.iterdir()])


if __name__ == "__main__":
    for number, chosen in enumerate(MODELS):
        make(chosen, 3000 + number)
