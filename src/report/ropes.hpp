// Where lines of a figure run on top of each other: the pieces by which the hidden ones are seen all the same.
#pragma once

#include <cstddef>
#include <vector>

#include "report/curves.hpp"

namespace flyball::report {

// A piece of a curve that others were drawn over, to be drawn again on top of them, as dashes between theirs.
struct Strand {
    std::size_t curve = 0;
    Stretch points;
    double gap = 0;     // between two dashes of `strand_dash`
    double before = 0;  // the first dash begins so far from the first point
};
constexpr double strand_dash = 7;

// Curves are together where they are less than 1.2 pixels apart for at least two dashes. Of k curves that are together
// each is seen on one k-th of the way. Curves that go back in x are left as they are.
std::vector<Strand> strands(const std::vector<Curve>& curves, const Plot& plot);

}  // namespace flyball::report
