// What a model is trained on: one long sequence of token ids, and another one to validate with.
//
//     a text file     encoded as encoding.hpp says; the last part of it is for validation
//     NAME.bin        ids as nanoGPT's prepare.py writes them (uint16, little endian). For train.bin the validation
//                     part is val.bin beside it, if there is one; otherwise the last part of the file. The vocabulary
//                     is that of the tokenizer that is named, or else ends at the largest id there is. meta.pkl is
//                     not read.
//     "synthetic"     text of a built-in language whose entropy rate is known (synthetic.hpp). A file of that name is
//                     "./synthetic".
//
// A file is read once, and must be a regular file. Not here: more than 2^32 tokens, or data that is not kept in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/encoding.hpp"

namespace flyball::train {

// The least loss that a predictor can have on the validation part, in nats a token; known for synthetic data alone.
struct EntropyFloor {
    double mean = 0;   // mean -log p of the validation tokens under the language, everything before them known
    double error = 0;  // standard error of that mean: how far it may be from `rate` by chance
    double cold = 0;   // mean -log p of the best predictor that sees a window alone, as a model does: see synthetic.hpp
    double cold_error = 0;  // standard error of that
    double rate = 0;        // the entropy rate in closed form: what `mean` tends to
    std::size_t context = 0;
    std::vector<double> windows;  // `cold` of each whole window: element i is of the one that starts at i * context

    // `cold` of the windows that start there, each a multiple of the context: what the loss on just those windows is to
    // be compared with, without the chance of which windows they are.
    double cold_of(std::span<const std::size_t> starts) const;
};

struct Corpus {
    std::string description;  // one sentence for people: "bytes of 'book.txt': 1,003,854 to train on, 111,540 to ..."
    std::size_t vocab = 0;
    std::vector<Token> train, validation;  // both longer than the context; every id is below `vocab`
    std::optional<EntropyFloor> floor;
    std::string checksum;  // of ids, vocabulary and tokenizer: part of a run's identity
    std::vector<TokenizerFile> tokenizer;

    // Makes the folder of a model one that text can be given to, for Flyball and for Hugging Face's library; the ids
    // are those of this corpus. Writes nothing when no text is known for the ids (a .bin file without a tokenizer).
    void write_tokenizer(const std::filesystem::path& folder) const;
};

struct CorpusSettings {
    std::string data;                // a file, or "synthetic"
    std::string encoding = "bytes";  // or "chars"; of a text file
    std::string tokenizer;           // a MODEL whose tokenizer is to be used instead; empty: none
    double validation_share = 0.1;  // of a file, its last part; of the tokens to be generated, if their number is given
    std::size_t context = 256;      // tokens a model sees; both parts must be longer
    std::size_t tokens = 0;         // synthetic: how many to generate; 0: 2^21 to train on and 2^17 to validate
    std::uint64_t seed = 1;         // synthetic: which text of the language
};

Corpus load_corpus(const CorpusSettings& settings);

}  // namespace flyball::train
