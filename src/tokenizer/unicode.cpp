#include "tokenizer/unicode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/utf8.hpp"

namespace flyball::tokenizer {

namespace {

struct Range {
    char32_t first, last;
};
struct LowerRun {
    char32_t first, last;
    char32_t step;
    std::int32_t difference;
};
struct ClassRun {
    char32_t first, last;
    std::uint8_t value;
};
struct Singleton {
    char32_t point, becomes;
};
struct Pair {
    char32_t point, first, second;
    bool composes;
};

#include "tokenizer/unicode_decompositions.inl"
#include "tokenizer/unicode_table.inl"

// The run that holds the point, or nullptr.
template <typename Run, std::size_t n>
const Run* find_run(const std::array<Run, n>& runs, char32_t point) noexcept {
    const auto* const after = std::upper_bound(runs.begin(), runs.end(), point,
                                               [](char32_t value, const Run& run) { return value < run.first; });
    if (after == runs.begin() || (after - 1)->last < point) {
        return nullptr;
    }
    return after - 1;
}

template <typename Entry, std::size_t n>
const Entry* find_entry(const std::array<Entry, n>& entries, char32_t point) noexcept {
    const auto* const at = std::lower_bound(entries.begin(), entries.end(), point,
                                            [](const Entry& entry, char32_t value) { return entry.point < value; });
    return at != entries.end() && at->point == point ? at : nullptr;
}

std::uint8_t combining_class(char32_t point) noexcept {
    if (point < 0x300) {
        return 0;
    }
    const ClassRun* const run = find_run(class_runs, point);
    return run == nullptr ? std::uint8_t{0} : run->value;
}

// Hangul syllables are arithmetic: first + (lead * 21 + vowel) * 28 + tail.
namespace hangul {
constexpr char32_t first = 0xAC00, lead = 0x1100, vowel = 0x1161, tail = 0x11A7;
constexpr char32_t leads = 19, vowels = 21, tails = 28;
constexpr char32_t count = leads * vowels * tails;
}  // namespace hangul

void decompose(char32_t point, std::vector<char32_t>& out) {
    if (point >= hangul::first && point < hangul::first + hangul::count) {
        const char32_t index = point - hangul::first;
        out.push_back(hangul::lead + index / (hangul::vowels * hangul::tails));
        out.push_back(hangul::vowel + index / hangul::tails % hangul::vowels);
        if (index % hangul::tails != 0) {
            out.push_back(hangul::tail + index % hangul::tails);
        }
    } else if (const Pair* const pair = point < 0xC0 ? nullptr : find_entry(pairs, point); pair != nullptr) {
        decompose(pair->first, out);
        decompose(pair->second, out);
    } else if (const Singleton* const single = point < 0x340 ? nullptr : find_entry(singletons, point);
               single != nullptr) {
        decompose(single->becomes, out);
    } else {
        out.push_back(point);
    }
}

std::vector<char32_t> decomposed(std::string_view text) {
    std::vector<char32_t> points;
    points.reserve(text.size());
    while (!text.empty()) {
        const Utf8Point next = next_valid_point(text);
        decompose(next.value, points);
        text.remove_prefix(next.length);
    }
    // Marks between two characters of class 0 are put in the order of their classes.
    std::vector<std::pair<std::uint8_t, char32_t>> marks;
    for (std::size_t i = 0; i < points.size();) {
        std::size_t end = i;
        marks.clear();
        while (end < points.size() && combining_class(points[end]) != 0) {
            marks.emplace_back(combining_class(points[end]), points[end]);
            ++end;
        }
        if (marks.size() > 1) {
            std::stable_sort(marks.begin(), marks.end(),
                             [](const auto& a, const auto& b) { return a.first < b.first; });
            std::transform(marks.begin(), marks.end(), points.begin() + static_cast<std::ptrdiff_t>(i),
                           [](const auto& mark) { return mark.second; });
        }
        i = std::max(end, i + 1);
    }
    return points;
}

// The one character that two make, or 0.
char32_t composed(char32_t a, char32_t b) {
    if (a >= hangul::lead && a < hangul::lead + hangul::leads && b >= hangul::vowel &&
        b < hangul::vowel + hangul::vowels) {
        return hangul::first + ((a - hangul::lead) * hangul::vowels + (b - hangul::vowel)) * hangul::tails;
    }
    if (a >= hangul::first && a < hangul::first + hangul::count && (a - hangul::first) % hangul::tails == 0 &&
        b > hangul::tail && b < hangul::tail + hangul::tails) {
        return a + (b - hangul::tail);
    }
    static const std::unordered_map<std::uint64_t, char32_t> compositions = [] {
        std::unordered_map<std::uint64_t, char32_t> map;
        for (const Pair& pair : pairs) {
            if (pair.composes) {
                map.emplace(std::uint64_t{pair.first} << 32U | pair.second, pair.point);
            }
        }
        return map;
    }();
    const auto found = compositions.find(std::uint64_t{a} << 32U | b);
    return found == compositions.end() ? 0 : found->second;
}

std::string encoded(const std::vector<char32_t>& points) {
    std::string text;
    text.reserve(points.size());
    for (const char32_t point : points) {
        append_point(text, point);
    }
    return text;
}

}  // namespace

bool is_white_space(char32_t point) noexcept {
    return (point >= 9 && point <= 13) || point == 0x20 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 || point == 0x202F ||
           point == 0x205F || point == 0x3000;
}

bool is_control(char32_t point) noexcept {
    return find_run(controls, point) != nullptr;
}

bool is_nonspacing_mark(char32_t point) noexcept {
    return point >= 0x300 && find_run(nonspacing_marks, point) != nullptr;
}

bool is_punctuation(char32_t point) noexcept {
    return find_run(punctuation, point) != nullptr;
}

std::string punctuation_class() {
    std::string text;
    for (const Range& range : punctuation) {
        text += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", static_cast<std::uint32_t>(range.first),
                            static_cast<std::uint32_t>(range.last));
    }
    return text;
}

bool is_chinese(char32_t point) noexcept {
    const auto within = [point](char32_t first, char32_t last) { return point >= first && point <= last; };
    // The gap below U+2B920 is the library's.
    return point >= 0x3400 &&
           (within(0x4E00, 0x9FFF) || within(0x3400, 0x4DBF) || within(0xF900, 0xFAFF) || within(0x20000, 0x2A6DF) ||
            within(0x2A700, 0x2B81F) || within(0x2B920, 0x2CEAF) || within(0x2F800, 0x2FA1F));
}

void append_lower(std::string& out, char32_t point) {
    if (point == 0x130) {
        out += "i\xCC\x87";
        return;
    }
    const LowerRun* const run = find_run(lower_runs, point);
    if (run != nullptr && (point - run->first) % run->step == 0) {
        point = static_cast<char32_t>(static_cast<std::int32_t>(point) + run->difference);
    }
    append_point(out, point);
}

std::string nfd(std::string_view text) {
    return is_ascii(text) ? std::string(text) : encoded(decomposed(text));
}

// Decompose, order marks by their class, then compose each mark with the last starter it is not blocked from.
std::string nfc(std::string_view text) {
    // Below U+0300 (lead byte CC) everything is composed already and nothing combines.
    const auto below = [](char c) { return static_cast<unsigned char>(c) < 0xCC; };
    if (std::all_of(text.begin(), text.end(), below)) {
        return std::string(text);
    }
    std::vector<char32_t> points = decomposed(text);
    std::size_t kept = 0;
    std::size_t starter = points.size();  // index in the output of the last character of class 0
    std::uint8_t last_class = 0;          // of what stands between it and here
    for (const char32_t point : points) {
        const std::uint8_t point_class = combining_class(point);
        const bool blocked = starter + 1 != kept && last_class >= point_class;
        if (starter < kept && !blocked) {
            if (const char32_t both = composed(points[starter], point); both != 0) {
                points[starter] = both;
                continue;
            }
        }
        if (point_class == 0) {
            starter = kept;
        }
        last_class = point_class;
        points[kept++] = point;
    }
    points.resize(kept);
    return encoded(points);
}

}  // namespace flyball::tokenizer
