#include "core/csv.hpp"

namespace flyball {

std::string csv_cell(std::string_view text, Quotes quotes) {
    if (quotes == Quotes::when_needed && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string out = "\"";
    for (const char c : text) {
        out += c;
        if (c == '"') {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace flyball
