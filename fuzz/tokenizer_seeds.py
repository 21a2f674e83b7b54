#!/usr/bin/env python3
"""Writes fuzz/corpus/tokenizer: small tokenizers with every part that files can have.

usage: tokenizer_seeds.py
"""
import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "corpus" / "tokenizer"
BPE = {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
       "vocab": {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "Ġ": 4, "Ġa": 5, "▁": 6, "▁a": 7, "<0xC3>": 8, "<0xA9>": 9},
       "merges": ["a b", "Ġ a", ["▁", "a"]]}
WORDPIECE = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20,
             "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##b": 4, "hello": 5, "world": 6, "123": 7}}
ADDED = [{"id": 20, "content": "<s>", "lstrip": True, "rstrip": True, "single_word": False, "normalized": False,
          "special": True},
         {"id": 21, "content": "wor", "single_word": True, "normalized": True, "special": False}]
SPLIT = {"type": "Split", "pattern": {"Regex": r"(?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|\s+(?!\S)|\s+"},
         "behavior": "Isolated", "invert": False}
TEMPLATE = {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [20], "tokens": ["<s>"]}}}
FILES = {
    "gpt2": {"added_tokens": ADDED, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True},
             "post_processor": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}, "model": BPE},
    "llama3": {"added_tokens": ADDED, "normalizer": {"type": "NFC"},
               "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                   SPLIT, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]},
               "post_processor": {"type": "Sequence", "processors": [TEMPLATE]}, "decoder": {"type": "ByteLevel"},
               "model": {**BPE, "ignore_merges": True}},
    "llama2": {"added_tokens": ADDED,
               "normalizer": {"type": "Sequence", "normalizers": [
                   {"type": "Prepend", "prepend": "▁"},
                   {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
               "post_processor": TEMPLATE,
               "decoder": {"type": "Sequence", "decoders": [
                   {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
                   {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
               "model": BPE},
    "metaspace": {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True},
                  "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}, "model": BPE},
    "bert": {"normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                            "strip_accents": None, "lowercase": True},
             "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
             "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}, "model": WORDPIECE},
    "steps": {"normalizer": {"type": "Sequence", "normalizers": [
                  {"type": "NFD"}, {"type": "Lowercase"}, {"type": "Strip", "strip_left": True, "strip_right": True},
                  {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}]},
              "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                  {"type": "Whitespace"}, {"type": "Digits", "individual_digits": True},
                  {"type": "Punctuation", "behavior": "MergedWithNext"}, {"type": "CharDelimiterSplit", "delimiter": "e"},
                  {"type": "Split", "pattern": {"Regex": r"[^(\s|[.,])]+|\h{,2}"}, "behavior": "Contiguous", "invert": True}]},
              "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
              "model": {**BPE, "end_of_word_suffix": "</w>", "continuing_subword_prefix": "~", "merges": []}},
}

FOLDER.mkdir(parents=True, exist_ok=True)
for name, document in FILES.items():
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    (FOLDER / f"{name}.json").write_bytes(text)
    (FOLDER / f"{name}-text.bin").write_bytes(text + b"\0a ab  <s> wor b\xc3\xa9 Hello, world! 12345\r\n")
