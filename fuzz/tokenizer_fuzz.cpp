// Any bytes are either a tokenizer that encodes and decodes any text, or an Error. Nothing else.
// The input is the JSON, a NUL byte, and the text; without a NUL a few texts of our own are encoded.
//     ./tokenizer_fuzz fuzz/corpus/tokenizer
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "tokenizer/tokenizer.hpp"

namespace {

using flyball::Error;
using flyball::tokenizer::Tokenizer;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

void use(const Tokenizer& tokenizer, std::string_view text) {
    try {
        const std::vector<std::int32_t> ids = tokenizer.encode(text);
        require(ids.size() >= tokenizer.encode(text, false).size());
        for (const std::int32_t id : ids) {
            require(id >= 0 && static_cast<std::size_t>(id) < tokenizer.vocabulary_size());
            const auto token = tokenizer.token(id);
            require(token.has_value() && tokenizer.id(*token).has_value());
        }
        require(flyball::is_utf8(tokenizer.decode(ids)));
        require(flyball::is_utf8(tokenizer.decode(ids, false)));
    } catch (const Error& error) {
        require(error.kind() == flyball::ErrorKind::input);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::size_t end = all.find('\0');
    try {
        const Tokenizer tokenizer = Tokenizer::parse(all.substr(0, end), "'fuzz'");
        if (end != std::string_view::npos) {
            use(tokenizer, all.substr(end + 1));
        }
        for (const std::string_view text :
             {"", "a", " a  b\n", "Hello world's 123 \xC3\xA9\xCC\x81 \xE4\xBD\xA0 <s>[MASK]",
              "\xFF\xE2\x82 \xF0\x9F\x98\x80"}) {
            use(tokenizer, text);
        }
    } catch (const Error& error) {
        require(error.kind() == flyball::ErrorKind::input);
    }
    return 0;
}
