// What the tests of report share: a check of XML, and pieces of an SVG.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "core/number.hpp"
#include "report/figure.hpp"

namespace flyball::report::test {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// "" for a well-formed document, else what is wrong with it: tags that do not match, attributes without quotes or given
// twice, bare < and &, characters XML forbids. Enough of XML for what we write, not a parser. (By hand: std::regex
// overflows the stack on a long path.)
class XmlCheck {
  public:
    explicit XmlCheck(std::string_view text) : text_(text) {}

    std::string fault() {
        for (const char c : text_) {
            if (static_cast<unsigned char>(c) < 0x20 && c != '\n') {
                return "a control character";
            }
        }
        while (at_ < text_.size()) {
            const bool outside = open_.empty() && text_[at_] != '<' && text_[at_] != '\n';
            const std::string wrong = outside ? "text outside the root" : text_[at_] == '<' ? tag() : character();
            if (!wrong.empty()) {
                return wrong + " at " + std::string(text_.substr(at_, 60));
            }
        }
        return open_.empty() ? "" : "not closed: " + open_.back();
    }

  private:
    bool take(std::string_view expected) {
        const bool found = text_.substr(at_).starts_with(expected);
        at_ += found ? expected.size() : 0;
        return found;
    }

    std::string name() {
        const std::size_t start = at_;
        while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-')) {
            ++at_;
        }
        return std::string(text_.substr(start, at_ - start));
    }

    std::string character() {
        if (text_[at_] == '&') {
            return take("&amp;") || take("&lt;") || take("&gt;") || take("&quot;") || take("&#39;") ? "" : "a bare &";
        }
        return text_[at_++] == '>' ? "a bare >" : "";
    }

    std::string tag() {
        const bool closes = take("</");
        if (!closes) {
            take("<");
        }
        const std::string element = name();
        if (element.empty()) {
            return "a bare <";
        }
        std::vector<std::string> attributes;
        while (!closes && take(" ")) {
            attributes.push_back(name());
            if (attributes.back().empty() || !take("=\"")) {
                return "not an attribute";
            }
            while (at_ < text_.size() && text_[at_] != '"') {
                const std::string wrong = text_[at_] == '<' ? "a bare <" : character();
                if (!wrong.empty()) {
                    return wrong;
                }
            }
            take("\"");
        }
        std::sort(attributes.begin(), attributes.end());
        if (std::adjacent_find(attributes.begin(), attributes.end()) != attributes.end()) {
            return "an attribute twice";
        }
        if (closes && (open_.empty() || open_.back() != element)) {
            return "closes what is not open";
        }
        if (closes) {
            open_.pop_back();
        } else if (!take("/")) {
            open_.push_back(element);
        }
        return take(">") ? "" : "a tag that does not end";
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string> open_;
};

inline std::string xml_fault(std::string_view text) {
    return XmlCheck(text).fault();
}

// Well-formed, of a size one can mail, and without a number that is none. The figure's own words must not contain "nan"
// or "inf".
inline void expect_sound(const std::string& svg) {
    EXPECT_EQ(xml_fault(svg), "");
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_LT(svg.size(), 200'000U);
    EXPECT_NE(svg.find("role=\"img\""), std::string::npos);
}

// All matches of the first group.
inline std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
    std::vector<std::string> out;
    const std::regex expression(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), expression), stop; it != stop; ++it) {
        out.push_back((*it)[1]);
    }
    return out;
}

inline std::vector<double> numbers(const std::vector<std::string>& texts) {
    std::vector<double> out;
    for (const std::string& text : texts) {
        out.push_back(parse_double(text).value());
    }
    return out;
}

inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

inline Series line(const std::string& name, std::vector<double> x, std::vector<double> y) {
    return {name, std::move(x), std::move(y), {}, {}, {}};
}

}  // namespace flyball::report::test
