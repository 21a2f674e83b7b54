#!/usr/bin/env python3
"""Prints the checksums that tests hold: PyPI's tokenizers at every code point, and on whole books.

usage: checksums.py [MODELS]      (pip install tokenizers; MODELS is what FLYBALL_TEST_MODELS names)
"""
import sys
from pathlib import Path

from tokenizers import Tokenizer, normalizers, pre_tokenizers

MASK = (1 << 64) - 1


def checksum(numbers):
    value = 0xCBF29CE484222325
    for number in numbers:
        value = ((value ^ number) * 0x100000001B3) & MASK
    return f"{value:#018x}"


def points():
    return (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)


def unicode():
    N = normalizers
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    steps = {"clean": N.BertNormalizer(**{**off, "clean_text": True}),
             "chinese": N.BertNormalizer(**{**off, "handle_chinese_chars": True}),
             "accents": N.BertNormalizer(**{**off, "strip_accents": True}),
             "lower": N.Lowercase(), "nfd": N.NFD(), "nfc": N.NFC()}
    for name, step in steps.items():
        print(name, checksum(byte for c in points() for byte in step.normalize_str(f"a{c}\u0323\u0301b").encode()))
    bert = pre_tokenizers.BertPreTokenizer()
    print("bert pieces", checksum(len(bert.pre_tokenize_str(f"a{c}b")) for c in points()))


def books(models):
    for name in ("gpt2-tokenizer", "minilm-l6"):
        tokenizer = Tokenizer.from_file(str(models / name / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        for book in ("tinyshakespeare", "war_and_peace_body", "wikitext_1000"):
            text = (models.parent / "text" / f"{book}.txt").read_bytes().decode()
            ids = tokenizer.encode(text).ids
            print(name, book, len(ids), checksum(ids))


unicode()
if len(sys.argv) > 1:
    books(Path(sys.argv[1]))
