"""Mistakes planted in src/tokenizer; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("length-counts-text-alone", "src/tokenizer/tokenizer.cpp",
     "ids.resize(std::min(ids.size(), most - special.size()));", "ids.resize(std::min(ids.size(), most));"),
    ("special-tokens-after-the-text-alone", "src/tokenizer/tokenizer.cpp",
     "ids.insert(ids.begin(), pair.before.begin(), pair.before.end());", ""),
    ("special-tokens-shown-when-skipped", "src/tokenizer/tokenizer.cpp",
     "if (!skip_special || parts_->special.count(id) == 0) {", "if (skip_special || parts_->special.count(id) == 0) {"),
    ("merges-ranked-backwards", "src/tokenizer/bpe.cpp",
     "rules_[at] = {pair, static_cast<std::uint32_t>(i), token(whole)};",
     "rules_[at] = {pair, static_cast<std::uint32_t>(merges.size() - i), token(whole)};"),
    ("hangul-with-one-tail-fewer", "src/tokenizer/unicode.cpp",
     "leads = 19, vowels = 21, tails = 28;", "leads = 19, vowels = 21, tails = 27;"),
    ("marks-stay-when-accents-are-stripped", "src/tokenizer/normalise.cpp",
     "text = rewritten(nfd(text), strip_mark);", "text = rewritten(text, strip_mark);"),
    ("chinese-is-not-spaced", "src/tokenizer/normalise.cpp",
     'out.append(" ").append(bytes).append(" ");', 'out.append(bytes).append(" ");'),
    ("split-keeps-what-is-removed", "src/tokenizer/pretokenize.cpp",
     "if (!is_match) {\n                    emit_(start, end);", "if (is_match) {\n                    emit_(start, end);"),
    ("merged-with-the-wrong-neighbour", "src/tokenizer/pretokenize.cpp",
     "join(start, end, held_ && is_match && !held_match_);", "join(start, end, held_ && !is_match && held_match_);"),
    ("fallback-bytes-in-base-ten", "src/tokenizer/decode.cpp",
     "16 * digit(token[3]) + digit(token[4])", "10 * digit(token[3]) + digit(token[4])"),
    ("wordpieces-joined-without-spaces", "src/tokenizer/decode.cpp",
     'tokens[i].insert(0, " ");', 'tokens[i].insert(0, "");'),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("byte-fallback-lower-case", "src/tokenizer/bpe.cpp",
     "<0x{:02X}>", "<0x{:02x}>"),
    ("wordpiece-longest-word-unknown", "src/tokenizer/wordpiece.cpp",
     "characters <= settings_.longest_word", "characters < settings_.longest_word"),
    ("byte-table-soft-hyphen", "src/tokenizer/bpe.cpp",
     "byte >= 0xAE", "byte >= 0xAD"),
    ("length-forgets-special-tokens", "src/tokenizer/tokenizer.cpp",
     "std::min(ids.size(), most - special.size())", "std::min(ids.size(), most)"),
    ("older-cased-bert-loses-accents", "src/tokenizer/older.cpp",
     'switches.flag("strip_accents", lower), lower}', 'switches.flag("strip_accents", true), lower}'),
    ("older-metaspace-marks-only-the-first-piece", "src/tokenizer/steps.cpp",
     'older ? "always" : "never"', 'older ? "first" : "never"'),
    ("single-word-token-needs-words-on-both-sides-to-be-refused", "src/tokenizer/added.cpp",
     "(ends_with_word(text.substr(0, start)) || starts_with_word(text.substr(end)))",
     "(ends_with_word(text.substr(0, start)) && starts_with_word(text.substr(end)))"),
]
