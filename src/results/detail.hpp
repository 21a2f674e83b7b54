// How much of long series a page shows, and which of their points.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace flyball::results {

struct Detail {
    std::size_t points = 480;     // of a line
    std::size_t frames = 61;      // of a moving picture
    std::size_t particles = 400;  // in it
    std::size_t cells = 40'000;   // of a heat map
    std::size_t rows = 400;       // of a table

    // Every level halves what there is.
    static Detail at(std::size_t level);
};

// Which of these values to draw, at most about `most`: of each of equal stretches the first, the least, the largest and
// the last, in their order, and a value that is not finite where there is one, so that a gap stays a gap. All of them
// when they are few.
std::vector<std::size_t> thinned(std::span<const double> values, std::size_t most);

// `count` of `total` indices, evenly, the first and the last among them.
std::vector<std::size_t> evenly(std::size_t total, std::size_t count);

}  // namespace flyball::results
