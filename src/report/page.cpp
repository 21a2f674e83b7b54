#include "report/page.hpp"

#include <fmt/format.h>

#include "report/page_bundle.hpp"
#include "report/svg.hpp"

namespace flyball::report {

namespace {

// No request of any kind; the script and the style are in the page itself.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'";

}  // namespace

std::string page_policy(const Source& source) {
    return std::string(policy) + (source.document_address.empty() ? "" : "; connect-src 'self'");
}

std::string embedded_json(const Json& document) {
    const std::string text = dump_json(document);
    std::string out;
    out.reserve(text.size() + text.size() / 64);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        // In JSON these stand in strings alone, where the escape means the same.
        if (c == '<' || c == '>' || c == '&') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else if (text.compare(i, 3, "\u2028") == 0 || text.compare(i, 3, "\u2029") == 0) {
            out += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
            i += 2;
        } else {
            out += c;
        }
    }
    return out;
}

std::string page_around(std::string_view embedded, std::string_view title, const Source& source) {
    std::string out = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n",
        page_policy(source), escape(title));
    out += page_style;
    out += "</style>\n</head>\n<body>\n<div id=\"page\"";
    if (!source.document_address.empty()) {
        out += fmt::format(" data-address=\"{}\" data-tag=\"{}\"", escape(source.document_address),
                           escape(source.document_tag));
    }
    out +=
        "><noscript>This report is drawn by a script in this very file. "
        "Allow scripts to see it; the numbers are also in the tables of the folder.</noscript></div>\n"
        "<script type=\"application/json\" id=\"data\">";
    out += embedded;
    out += "</script>\n<script>\n";
    out += page_script;
    out += "</script>\n</body>\n</html>\n";
    return out;
}

std::size_t page_frame_size() {
    static const std::size_t size = page_around("", "").size();
    return size;
}

}  // namespace flyball::report
