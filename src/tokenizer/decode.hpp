// From tokens back to text: the `decoder` of a tokenizer file.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokenizer/pattern.hpp"

namespace flyball::tokenizer {

struct DecodeBytes {};  // printable characters become the bytes they stand for
struct DecodeWordPiece {
    std::string prefix = "##";
    bool clean_up = true;  // "do not ." becomes "don't."
};
struct DecodeReplace {
    Pattern pattern;
    std::string by;
};
struct DecodeByteFallback {};  // runs of <0x..> become the characters they spell
struct DecodeFuse {};
struct DecodeStrip {
    std::string character;
    std::size_t start = 0, stop = 0;  // how many at most at each end of a token
};
struct DecodeMarks {
    std::string mark;
    bool drop_first = true;  // the first token has a mark that no space stands for
};
struct DecodeSuffix {
    std::string suffix;
};
// A kind we do not know: decoding is an Error, encoding is not.
struct DecodeUnknown {
    std::string kind;
};

using DecodeStep = std::variant<DecodeBytes, DecodeWordPiece, DecodeReplace, DecodeByteFallback, DecodeFuse,
                                DecodeStrip, DecodeMarks, DecodeSuffix, DecodeUnknown>;

// Without steps the tokens are joined by spaces. The result is valid UTF-8.
std::string decoded(std::vector<std::string> tokens, const std::vector<DecodeStep>& steps);

}  // namespace flyball::tokenizer
