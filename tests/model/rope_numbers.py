#!/usr/bin/env python3
"""Prints rope_numbers.json, which rope_test.cpp compares with: rotary frequencies as transformers (5.23, torch 2.13) makes
them, in float. Of each kind the 64 frequencies of heads of 128 channels, with the bits of a float written as a whole number.
"""
import json

import numpy as np
import torch
from transformers import AutoConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

KINDS = {
    "plain": {"rope_type": "default"},
    "linear": {"rope_type": "linear", "factor": 3.5},
    "dynamic": {"rope_type": "dynamic", "factor": 3.0},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 8192},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768},
}
POSITIONS = 4096  # of the dynamic kind, whose text has 6000 tokens


def frequencies(kind, theta):
    # llama's own class has the plain kind; linear by a factor of 1 is the same
    parameters = {"rope_type": "linear", "factor": 1.0} if kind == "plain" else KINDS[kind]
    config = AutoConfig.for_model("llama", hidden_size=128, num_attention_heads=1, head_dim=128,
                                  max_position_embeddings=POSITIONS, rope_parameters={**parameters, "rope_theta": theta})
    length = torch.tensor(6000) if kind == "dynamic" else None
    values, _ = ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu", seq_len=length)
    return values.numpy()


lines = []
for kind in KINDS:
    for theta in (1e4, 5e5, 1e6):
        bits = frequencies(kind, theta).view(np.int32).tolist()
        lines.append(f'{{"kind":"{kind}","theta":{theta},"bits":{json.dumps(bits, separators=(",", ":"))}}}')
print("[" + ",\n".join(lines) + "]")
