// Where the comparisons of an equation flip in time: between two such times its velocity is smooth. moments.hpp asks
// for them, and steps end there.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace flyball::scheme {

// 0 = first, ..., T, evenly spaced.
std::vector<double> switch_probes(double T);

// `outcomes` tells every comparison at a time (Program::comparisons). Between neighbours of the rising `probes` that
// differ, the last time that still has the outcomes of the first, to the last bit: depth <= tau holds there and
// depth < tau does not. Times are above 0. What flips and flips back between two probes is not seen. More than `most`
// are rounding: no more are looked for.
std::vector<double> find_switches(const std::function<std::vector<bool>(double)>& outcomes,
                                  const std::vector<double>& probes, std::size_t most = 20000);

}  // namespace flyball::scheme
