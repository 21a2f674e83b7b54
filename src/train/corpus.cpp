#include "train/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "record/sealed.hpp"
#include "train/synthetic.hpp"

namespace flyball::train {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "train.corpus";
constexpr std::size_t most_tokens = std::size_t{1} << 32U;
constexpr double smallest_share = 1e-6;                          // of the validation part, and of the other
constexpr std::size_t default_training = std::size_t{1} << 21U;  // of synthetic tokens
constexpr std::size_t default_validation = std::size_t{1} << 17U;

// 1003854 is "1,003,854".
std::string grouped(std::size_t number) {
    std::string digits = fmt::format("{}", number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) {
        digits.insert(at - 3, 1, ',');
    }
    return digits;
}

// How many of `count` tokens are trained on: rounded down, as nanoGPT's prepare.py does it.
std::size_t training_part(std::size_t count, double validation_share) {
    return std::min(count, static_cast<std::size_t>(static_cast<double>(count) * (1 - validation_share)));
}

void split(Corpus& corpus, std::vector<Token> tokens, double validation_share) {
    const auto cut = static_cast<std::ptrdiff_t>(training_part(tokens.size(), validation_share));
    corpus.validation.assign(tokens.begin() + cut, tokens.end());
    tokens.resize(static_cast<std::size_t>(cut));
    corpus.train = std::move(tokens);
}

// The fewest tokens whose two parts both have `least`.
std::size_t fewest(std::size_t least, double validation_share) {
    const double smaller = std::min(validation_share, 1 - validation_share);
    auto count = static_cast<std::size_t>(static_cast<double>(least - 1) / smaller);  // or a little more
    count -= std::min<std::size_t>(count, 2);
    while (training_part(count, validation_share) < least || count - training_part(count, validation_share) < least) {
        ++count;
    }
    return count;
}

struct Lengths {
    std::size_t train = 0, validation = 0;
};

Lengths lengths(const Corpus& corpus) {
    return {corpus.train.size(), corpus.validation.size()};
}

// `unit` is what tokens are called, `two_files` whether the parts come from one file each.
void expect_long_enough(Lengths got, const CorpusSettings& settings, std::string_view what, std::string_view unit,
                        bool two_files) {
    const std::size_t least = settings.context + 1;
    if (got.train >= least && got.validation >= least) {
        return;
    }
    const std::string both = fmt::format("{} in each part, one more than {}", grouped(least),
                                         setting("context", fmt::format("{}", settings.context)));
    const std::size_t enough = two_files ? 0 : fewest(least, settings.validation_share);
    // Unless their number is given, the parts of generated text have lengths of their own.
    const std::string in_all = settings.data == "synthetic" ? setting("tokens", fmt::format("{} or more", enough))
                                                            : fmt::format("at least {} {}", grouped(enough), unit);
    throw Error(ErrorKind::input, where,
                fmt::format("{} with {} {}, {} of them to train on and {} to validate", what,
                            grouped(got.train + got.validation),
                            got.train + got.validation == 1 ? unit.substr(0, unit.size() - 1) : unit,
                            grouped(got.train), grouped(got.validation)),
                two_files ? fmt::format("at least {}", both) : fmt::format("{}, so that there are {}", in_all, both),
                "take a longer text or a smaller context");
}

std::string sentence(const Corpus& corpus, std::string_view what) {
    return fmt::format("{}: {} to train on and {} to validate", what, grouped(corpus.train.size()),
                       grouped(corpus.validation.size()));
}

std::string read_data(const std::string& path, std::size_t most_bytes) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        throw Error(ErrorKind::input, where, fmt::format("the folder {}", flyball::quoted(path)),
                    "a text file, a .bin file or synthetic",
                    fs::exists(fs::path(path) / "train.bin", ignored)
                        ? fmt::format("name the file {}", flyball::quoted((fs::path(path) / "train.bin").string()))
                        : "name a file in it");
    }
    std::string contents = read_regular_file(path, most_bytes);
    if (contents.empty()) {
        throw Error(ErrorKind::input, where, fmt::format("the empty file {}", flyball::quoted(path)),
                    "a file with text");
    }
    return contents;
}

std::vector<Token> read_bin(const std::string& path) {
    const std::string contents = read_data(path, 2 * most_tokens);
    if (contents.size() % 2 != 0) {
        throw Error(ErrorKind::input, where,
                    fmt::format("{} with {} bytes, an odd number", flyball::quoted(path), grouped(contents.size())),
                    "ids of two bytes each (uint16, little endian), as nanoGPT's prepare.py writes them",
                    "a file that is not of this kind needs another ending than .bin");
    }
    std::vector<Token> tokens(contents.size() / 2);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        tokens[i] = static_cast<Token>(static_cast<unsigned char>(contents[2 * i]) |
                                       static_cast<unsigned char>(contents[2 * i + 1]) << 8U);
    }
    return tokens;
}

void expect_in_vocabulary(const std::vector<Token>& tokens, std::size_t vocab, const std::string& path) {
    const auto wrong =
        std::find_if(tokens.begin(), tokens.end(), [&](Token id) { return static_cast<std::size_t>(id) >= vocab; });
    if (wrong != tokens.end()) {
        throw Error(ErrorKind::input, where,
                    fmt::format("the id {} at place {} of {}", *wrong, wrong - tokens.begin(), flyball::quoted(path)),
                    fmt::format("ids below {}, the size of the tokenizer's vocabulary", vocab),
                    "name the tokenizer that the file was made with");
    }
}

Corpus bin_corpus(const CorpusSettings& settings) {
    Corpus corpus;
    std::vector<Token> tokens = read_bin(settings.data);
    std::vector<Token> second;
    const fs::path beside = fs::path(settings.data).parent_path() / "val.bin";
    std::error_code ignored;
    const bool two = fs::path(settings.data).filename() == "train.bin" && fs::exists(beside, ignored);
    if (two) {
        second = read_bin(beside.string());
    }
    if (settings.tokenizer.empty()) {
        Token largest = 0;
        for (const std::vector<Token>* const part : {&tokens, &second}) {
            largest =
                std::accumulate(part->begin(), part->end(), largest, [](Token a, Token b) { return std::max(a, b); });
        }
        corpus.vocab = static_cast<std::size_t>(largest) + 1;
    } else {
        Encoded known = read_tokenizer(settings.tokenizer);
        expect_in_vocabulary(tokens, known.vocab, settings.data);
        expect_in_vocabulary(second, known.vocab, beside.string());
        corpus.vocab = known.vocab;
        corpus.tokenizer = std::move(known.files);
    }
    std::string what = fmt::format("tokens of {}", flyball::quoted(settings.data));
    if (two) {
        corpus.train = std::move(tokens);
        corpus.validation = std::move(second);
        what += fmt::format(" and {}", flyball::quoted(beside.string()));
    } else {
        split(corpus, std::move(tokens), settings.validation_share);
    }
    expect_long_enough(lengths(corpus), settings, flyball::quoted(settings.data), "tokens", two);
    corpus.description = sentence(corpus, what);
    return corpus;
}

Corpus text_corpus(const CorpusSettings& settings) {
    const EncodingKind kind = settings.tokenizer.empty() ? parse_encoding(settings.encoding) : EncodingKind::tokenizer;
    const std::string what = flyball::quoted(settings.data);
    const std::string text = read_data(settings.data, most_tokens);
    Encoded encoded;
    std::string_view unit;
    switch (kind) {
        case EncodingKind::bytes:
            encoded = encode_bytes(text);
            unit = "bytes";
            break;
        case EncodingKind::chars:
            encoded = encode_chars(text, what);
            unit = "characters";
            break;
        case EncodingKind::tokenizer:
            encoded = encode_with(settings.tokenizer, text, what);
            unit = "tokens";
            break;
    }
    Corpus corpus;
    corpus.vocab = encoded.vocab;
    corpus.tokenizer = std::move(encoded.files);
    split(corpus, std::move(encoded.tokens), settings.validation_share);
    expect_long_enough(lengths(corpus), settings, what, unit, false);
    corpus.description = sentence(corpus, fmt::format("{} of {}", unit, what));
    return corpus;
}

Corpus synthetic_corpus(const CorpusSettings& settings) {
    Lengths wanted{default_training, default_validation};
    if (settings.tokens > most_tokens) {
        throw Error(ErrorKind::usage, where, setting("tokens", fmt::format("{}", settings.tokens)),
                    fmt::format("at most {}", most_tokens));
    }
    if (settings.tokens > 0) {
        wanted.train = training_part(settings.tokens, settings.validation_share);
        wanted.validation = settings.tokens - wanted.train;
    }
    expect_long_enough(wanted, settings, "synthetic text", "tokens", false);
    const Language language(synthetic_grammar(settings.context));
    Generator generator(language, settings.seed);
    Corpus corpus;
    corpus.vocab = Language::alphabet().size();
    corpus.tokenizer = character_files(std::vector<char32_t>(Language::alphabet().begin(), Language::alphabet().end()));
    corpus.train.resize(wanted.train);
    std::generate(corpus.train.begin(), corpus.train.end(), [&] { return generator.next().token; });
    corpus.validation.reserve(wanted.validation);
    std::vector<double> surprise;
    surprise.reserve(wanted.validation);
    for (std::size_t i = 0; i < wanted.validation; ++i) {
        const Reader::Option option = generator.next();
        corpus.validation.push_back(option.token);
        surprise.push_back(-std::log(option.probability));
    }
    corpus.floor = entropy_floor(language, corpus.validation, surprise, settings.context);
    corpus.description = sentence(
        corpus, fmt::format("characters of synthetic text with an entropy of {:.4f} nats each", corpus.floor->rate));
    return corpus;
}

std::string checksum_of(const Corpus& corpus) {
    std::string text = fmt::format("{} {} {}", corpus.vocab, record::checksum(std::as_bytes(std::span(corpus.train))),
                                   record::checksum(std::as_bytes(std::span(corpus.validation))));
    for (const TokenizerFile& file : corpus.tokenizer) {
        text += fmt::format(" {} {}", file.name, record::checksum(std::string_view(file.contents)));
    }
    return record::checksum(std::string_view(text));
}

}  // namespace

double EntropyFloor::cold_of(std::span<const std::size_t> starts) const {
    double sum = 0;
    for (const std::size_t start : starts) {
        sum += windows.at(start / context);
    }
    return sum / static_cast<double>(starts.size());
}

void Corpus::write_tokenizer(const fs::path& folder) const {
    for (const TokenizerFile& file : tokenizer) {
        write_file_atomically(folder / file.name, file.contents);
    }
}

Corpus load_corpus(const CorpusSettings& settings) {
    if (settings.context == 0) {
        throw Error(ErrorKind::usage, where, setting("context", "0"), "at least 1");
    }
    if (settings.context > most_tokens) {
        throw Error(ErrorKind::usage, where, setting("context", fmt::format("{}", settings.context)),
                    fmt::format("at most {}, the most tokens that a text can have", most_tokens));
    }
    if (!(settings.validation_share >= smallest_share && settings.validation_share <= 1 - smallest_share)) {
        throw Error(ErrorKind::usage, where, setting("validation", format_double(settings.validation_share)),
                    fmt::format("a share of the data, from {} to {}", format_double(smallest_share),
                                format_double(1 - smallest_share)));
    }
    Corpus corpus = settings.data == "synthetic"                    ? synthetic_corpus(settings)
                    : fs::path(settings.data).extension() == ".bin" ? bin_corpus(settings)
                                                                    : text_corpus(settings);
    corpus.checksum = checksum_of(corpus);
    return corpus;
}

}  // namespace flyball::train
