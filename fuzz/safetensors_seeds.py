#!/usr/bin/env python3
"""Writes the seeds of fuzz/corpus/safetensors: one small file per feature of the format."""
import json
import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "corpus" / "safetensors"
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1,
         "U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1}


def container(header: str, data: bytes = b"") -> bytes:
    text = header.encode()
    return struct.pack("<Q", len(text)) + text + data


def tensors(*items, metadata=None) -> bytes:
    header = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for name, dtype, shape in items:
        size = SIZES[dtype]
        for extent in shape:
            size *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    return container(json.dumps(header, separators=(",", ":")), bytes(i % 251 for i in range(offset)))


SEEDS = {
    "empty-header": container("{}"),
    "every-dtype": tensors(*[(dtype.lower(), dtype, [2]) for dtype in SIZES]),
    "metadata": tensors(("w", "F32", [2, 3]), metadata={"format": "pt", "name": "caf\u00e9 \"x\""}),
    "scalar-and-empty": tensors(("scalar", "F64", []), ("empty", "BF16", [3, 0])),
    "padded": container('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}   ', b"x"),
    "overlap": container('{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},'
                         '"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}', b"xyz"),
    "huge-shape": container('{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'),
    "negative-shape": container('{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}', b"abcd"),
    "nested": container('{"a":{"dtype":"F32","shape":[[[[1]]]],"data_offsets":[0,4]}}', b"abcd"),
    "huge-length": struct.pack("<Q", 100_000_000_000) + b"{}",
}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, contents in SEEDS.items():
        (FOLDER / f"{name}.safetensors").write_bytes(contents)
