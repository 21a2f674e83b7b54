#!/usr/bin/env python3
"""Writes fuzz/corpus/config: tiny complete models of every family, a NUL between config.json and the tensors."""
import json
import struct
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "corpus" / "config"
GPT2 = dict(model_type="gpt2", n_layer=1, n_embd=4, n_head=2, n_positions=4, vocab_size=3)
LLAMA = dict(model_type="llama", num_hidden_layers=1, hidden_size=4, num_attention_heads=2, num_key_value_heads=1,
             intermediate_size=3, vocab_size=3, max_position_embeddings=8)
BERT = dict(model_type="bert", num_hidden_layers=1, hidden_size=4, num_attention_heads=2, intermediate_size=3, vocab_size=3,
            max_position_embeddings=4, type_vocab_size=1)


def gpt2():
    block = "h.0."
    return {"wte.weight": [3, 4], "wpe.weight": [4, 4], "ln_f.weight": [4], block + "attn.c_attn.weight": [4, 12],
            block + "attn.c_proj.weight": [4, 4], block + "mlp.c_fc.weight": [4, 16], block + "mlp.c_proj.weight": [16, 4],
            block + "ln_1.weight": [4], block + "ln_2.weight": [4]}


def llama(bias=False):
    block = "model.layers.0."
    shapes = {"model.embed_tokens.weight": [3, 4], "model.norm.weight": [4], "lm_head.weight": [3, 4],
              block + "input_layernorm.weight": [4], block + "post_attention_layernorm.weight": [4],
              block + "mlp.gate_proj.weight": [3, 4], block + "mlp.up_proj.weight": [3, 4],
              block + "mlp.down_proj.weight": [4, 3], block + "self_attn.o_proj.weight": [4, 4]}
    for part, width in (("q", 4), ("k", 2), ("v", 2)):
        shapes[f"{block}self_attn.{part}_proj.weight"] = [width, 4]
        if bias:
            shapes[f"{block}self_attn.{part}_proj.bias"] = [width]
    return shapes


def bert():
    block = "encoder.layer.0."
    shapes = {"embeddings.word_embeddings.weight": [3, 4], "embeddings.position_embeddings.weight": [4, 4],
              "embeddings.token_type_embeddings.weight": [1, 4]}
    for norm in ("embeddings", block + "attention.output", block + "output"):
        shapes[norm + ".LayerNorm.weight"] = shapes[norm + ".LayerNorm.bias"] = [4]
    for name, out, width in (("attention.self.query", 4, 4), ("attention.self.key", 4, 4), ("attention.self.value", 4, 4),
                             ("attention.output.dense", 4, 4), ("intermediate.dense", 3, 4), ("output.dense", 4, 3)):
        shapes[f"{block}{name}.weight"] = [out, width]
        shapes[f"{block}{name}.bias"] = [out]
    return shapes


def tensors(shapes, dtype="F32"):
    size = {"F32": 4, "F16": 2, "BF16": 2}[dtype]
    header, data = {}, b""
    for i, (name, shape) in enumerate(shapes.items()):
        count = 1
        for n in shape:
            count *= n
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size * count]}
        values = [((i + 3 * k) % 7 - 3) / 4 for k in range(count)]
        data += b"".join({"F32": lambda v: struct.pack("<f", v), "F16": lambda v: struct.pack("<e", v),
                          "BF16": lambda v: struct.pack("<f", v)[2:]}[dtype](v) for v in values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


FOLDER.mkdir(parents=True, exist_ok=True)
SCALED = dict(LLAMA, rope_scaling=dict(rope_type="yarn", factor=2.0, original_max_position_embeddings=4))
for name, config, shapes, dtype in (
        ("gpt2", GPT2, gpt2(), "F32"), ("llama", LLAMA, llama(), "BF16"), ("llama-yarn", SCALED, llama(), "F32"),
        ("mistral", dict(LLAMA, model_type="mistral", sliding_window=2), llama(), "F16"),
        ("qwen2", dict(LLAMA, model_type="qwen2"), llama(True), "F32"), ("bert", BERT, bert(), "F32")):
    (FOLDER / name).write_bytes(json.dumps(config).encode() + b"\0" + tensors(shapes, dtype))
(FOLDER / "unknown").write_bytes(b'{"model_type": "mamba"}\0' + tensors({}))
