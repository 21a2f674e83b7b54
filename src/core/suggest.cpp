#include "core/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace flyball {

namespace {

constexpr std::size_t longest_word = 256;  // the work grows with the product of the lengths

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Optimal string alignment distance, by rows: `previous` is the row above, `before` the one above that.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> previous(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before, previous);
        std::swap(previous, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
    if (word.size() > longest_word) {
        return {};
    }
    const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
    std::size_t best = limit + 1;
    std::string found;
    for (const std::string& candidate : candidates) {
        const std::size_t least = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
        if (least >= best) {
            continue;
        }
        const std::size_t d = distance(word, candidate);
        if (d < best) {
            best = d;
            found = candidate;
        }
    }
    return found;
}

}  // namespace flyball
