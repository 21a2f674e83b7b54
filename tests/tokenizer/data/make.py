#!/usr/bin/env python3
"""Trains a tiny tokenizer of every kind we read with PyPI's `tokenizers` and writes what it makes of awkward texts.

Writes NAME/tokenizer.json and NAME/vectors.json for each tokenizer here, gpt2-files/ and bert-files/ (gpt2 and wordpiece in
the older formats), and normalizers.json and pre_tokenizers.json: single steps on the shorter texts. The committed files are of tokenizers
0.23.3. Nobody needs this script to build or test.

usage: make.py      (pip install tokenizers)
"""
import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).resolve().parent
BYTES = pre_tokenizers.ByteLevel.alphabet()
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
NESTED = r" ?[^(\s|[.,!?…。，、])]+"  # a set in a set
CORPUS = """
A governor holds the speed of an engine: when the shaft turns faster the balls fly out, the valve closes, and the engine
slows. Normalization does the same for a transformer. It's not the only way, and it isn't free; we'll see what they've
measured, what we'd expect, and why I'm sure that you're right. The THEOREM's proof: 1, 22, 333, 4444 and 1,234,567.89.
The residual stream grows like the square root of depth, the gradient like its inverse; depth 12, depth 24, depth 96.
def step(x, dt):
    return norm(x + dt*f(x))  # post-ln
\tif depth <= tau: return x\r\n
Naïve façades, résumés and cafés: Ångström, Übergröße, señor, crème brûlée, smørrebrød.
Скорость вала растёт, и шары расходятся. Нормализация держит скорость. Η ταχύτητα αυξάνεται, ΟΔΟΣ και οδός.
归一化是变换器的调速器。速度太快，阀门关闭。正規化は速度を保つ。정규화는 속도를 유지한다。
السرعة ثابتة والطاقة محفوظة. המהירות קבועה. गति स्थिर है।
""" * 3
TEXTS = [
    "", " ", "  ", "\n", "a", "Hello world", "hello  world   three", " leading", "trailing ", "trailing two  ",
    "tab\tnew\nline\r\ncarriage\r\rend\n\n\n", "   \n  \n", "I'm you're he's we'll they'd I've don't",
    "I'M YOU'RE HE'S WE'LL THEY'D I'VE DON'T", "'S 'ſ ’s", "x'll'll''s", "1", "12", "1234567", "1,234,567.89 50% $9",
    "a1b22c333", "٣٤٥ Ⅷ ½ ²³ ①②", "the speed of the governor", "unbelievable normalizations", "THE THEOREM'S PROOF",
    "norm(x + dt*f(x)) | norm(x)", "https://example.com/a?b=1&c=%20#d", "____ ---- ==== !!!???...", "naïve café",
    "nai\u0308ve cafe\u0301", "e\u0301\u0323 e\u0323\u0301 a\u0327\u0301", "Åå \u212b A\u030a", "İstanbul ıI ẞß ŉ",
    "ΟΔΟΣ οδός Σ", "Скорость вала", "归一化是变换器的调速器。", "速度を保つ カタカナ ﾊﾝｶｸ", "정규화는 속도", "\u1112\u1161\u11ab\u1100\u1173\u11af",
    "السرعة ثابتة", "המהירות קבועה", "गति स्थिर है", "ไม่มีช่องว่าง", "😀😃 👩\u200d👩\u200d👧\u200d👦 🇺🇸 👍🏽", "a\u200db\u200cc\u200bd\u2060e",
    "\ufeffbom", "nul\x00byte\x00", "\x01\x02\x1f\x7f\x80\x85\x9f", "\xa0nbsp\u2003em\u3000ideographic\u1680ogham", "\u180e mongolian",
    "\u2028line\u2029para", "\ufffd replaced \ufffd", "\ue000 private \U000f0000", "𝒳𝓎 𐍈 \U0001f9e0", "soft\xadhyphen", "ﬁ ﬂ ligatures Ǆ ǅ",
    "<|endoftext|>", "a<|endoftext|>b", "a <|endoftext|> b", "<|endoftext|><|endoftext|>", "<|endoftext|", "<s>", "</s>x<unk>",
    "[MASK]", "the [MASK] of", "[CLS] a [SEP]", "[mask]", "a<mask>b", "a  <mask>  b", "<mask>\n", " <mask><mask> ", "word<word>word",
    "<word> x<word> <word>x", "Speed SPEED speed speeds", "<|begin_of_text|>hi<|end|>", "▁a▁ ▁b", "a▁b", "  ▁  ", "<0x41><0xE2>",
    "a" * 130, "ab" * 90 + " " + "é" * 70, "x" * 100 + " " + "y" * 101, "0" * 40, " " * 70, "\n" * 50, "-" * 60 + "\n",
    "The quick brown fox jumps over the lazy dog. " * 3, "mixedالسرعةtext归一化end", "a.b,c!d?e…f。g，h", "(a|b) [c] {d}",
    "don't do not . , ! ?", "can 't", "tau:\u00b5\u03bc", "\U0010ffff\U000e0041 tags", "क\u094d\u0937 \u0915\u093c",
]


def save(tokenizer, name, merges_as_text=False):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    document = json.loads(tokenizer.to_str())
    if merges_as_text:
        document["model"]["merges"] = [" ".join(pair) for pair in document["model"]["merges"]]
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    vectors(Tokenizer.from_str(text), name)


def vectors(tokenizer, name):
    rows = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        rows.append({"text": text, "ids": ids, "plain": tokenizer.encode(text, add_special_tokens=False).ids,
                     "decoded": tokenizer.decode(ids), "decoded_all": tokenizer.decode(ids, skip_special_tokens=False)})
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    (HERE / name).mkdir(exist_ok=True)
    (HERE / name / "vectors.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(CORPUS.splitlines(keepends=True), trainer)
    return tokenizer


def bpe(size, special, alphabet=(), **settings):
    return trainers.BpeTrainer(vocab_size=size, special_tokens=special, initial_alphabet=list(alphabet),
                               show_progress=False, **settings)


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    train(tokenizer, bpe(700, ["<|endoftext|>"], BYTES))
    save(tokenizer, "gpt2", merges_as_text=True)
    folder = HERE / "gpt2-files"
    folder.mkdir(exist_ok=True)
    tokenizer.model.save(str(folder))


def llama3():
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, bpe(700, [], BYTES))
    # A word that merges do not reach: only ignore_merges finds it.
    document = json.loads(tokenizer.to_str())
    document["model"]["vocab"]["Ġunbelievable"] = len(document["model"]["vocab"])
    document["model"]["vocab"]["unbelievable"] = len(document["model"]["vocab"])
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end|>", "<|endoftext|>"])
    begin = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False),
         processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", begin)])])
    save(tokenizer, "llama3")


def sentencepiece():
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    # Trained on words, as SentencePiece does; a token never reaches over a space.
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    train(tokenizer, bpe(800, ["<unk>", "<s>", "</s>", *fallback], limit_alphabet=80))
    document = json.loads(tokenizer.to_str())
    document["pre_tokenizer"] = None
    document["added_tokens"] = document["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    save(tokenizer, "sentencepiece")


def metaspace():
    """Metaspace, unknown characters that do not fuse, tokens across spaces, and every switch of added tokens."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    train(tokenizer, bpe(500, ["<unk>", "<s>", "</s>"], limit_alphabet=60))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("<word>", single_word=True, normalized=False), AddedToken("gov", normalized=True),
                          AddedToken("governor", normalized=True)])
    tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 1))
    save(tokenizer, "metaspace")


def roberta():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=True)])
    tokenizer.decoder = decoders.ByteLevel()
    train(tokenizer, bpe(500, ["<s>", "</s>"], BYTES))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    save(tokenizer, "roberta")


def suffixed():
    """The older way to mark words: a suffix on the last piece, a prefix on all but the first."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", continuing_subword_prefix="~"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Strip(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    train(tokenizer, bpe(500, ["<unk>", "<|endoftext|>"], limit_alphabet=60, end_of_word_suffix="</w>",
                         continuing_subword_prefix="~"))
    save(tokenizer, "suffixed")


def wordpiece():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(CORPUS.splitlines(keepends=True),
                                  trainers.WordPieceTrainer(vocab_size=700, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]",
                                                             special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    # Trained files come with both; neither may change what a text alone becomes.
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=16)
    document = tokenizer.to_str()
    tokenizer.no_truncation()
    tokenizer.no_padding()
    save(tokenizer, "wordpiece")
    (HERE / "wordpiece" / "tokenizer.json").write_text(document + "\n", encoding="utf-8")
    folder = HERE / "bert-files"
    folder.mkdir(exist_ok=True)
    tokenizer.model.save(str(folder))


def steps():
    N, P = normalizers, pre_tokenizers
    bert = [N.BertNormalizer(clean_text=bool(i & 1), handle_chinese_chars=bool(i & 2), strip_accents=(None, True, False)[i % 3],
                             lowercase=bool(i & 4)) for i in range(8)]
    normal = [*bert, N.NFC(), N.NFD(), N.Lowercase(), N.Strip(left=True, right=False), N.Replace(Regex(r"\s+"), " "),
              N.Replace("the", "THE")]
    behaviours = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    pre = [P.ByteLevel(add_prefix_space=False), P.ByteLevel(add_prefix_space=True, use_regex=False),
           P.BertPreTokenizer(), P.Whitespace(), P.WhitespaceSplit(), P.Digits(False), P.Digits(True),
           *[P.Punctuation(b) for b in behaviours], *[P.Split("a", b, invert=i) for b in behaviours for i in (False, True)],
           *[P.Split(Regex(r"\w+"), b) for b in behaviours], P.Split(Regex(NESTED), "isolated"), P.Split(Regex("a*"), "isolated"),
           P.Split("", "isolated"), P.Split(Regex(LLAMA3), "isolated"), P.Split(Regex(r"^.|.$"), "isolated"),
           P.Split(Regex(r"\h{,2}\u0064?[\h\s]"), "isolated"), P.Split(Regex(r"(?m:s.)|\W\S"), "merged_with_previous"),
           P.CharDelimiterSplit("e"), *[P.Metaspace(prepend_scheme=s, split=b) for s in ("always", "first", "never") for b in (True, False)],
           P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="first")]),
           P.Sequence([P.ByteLevel(add_prefix_space=False), P.Digits(True)])]
    texts = [text for text in TEXTS if len(text) <= 25]

    def write(name, rows):
        lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        head = json.dumps(texts, separators=(",", ":"))
        (HERE / f"{name}.json").write_text(f'{{"texts":{head},\n"steps":[\n{lines}\n]}}\n', encoding="utf-8")

    write("normalizers", [{"step": json.loads(step.__getstate__()), "out": [step.normalize_str(text) for text in texts]}
                          for step in normal])
    write("pre_tokenizers", [{"step": json.loads(step.__getstate__()),
                              "out": [[piece for piece, _ in step.pre_tokenize_str(text)] for text in texts]}
                             for step in pre])


for make in (gpt2, llama3, sentencepiece, metaspace, roberta, suffixed, wordpiece, steps):
    make()
