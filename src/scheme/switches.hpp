// Where the comparisons of an equation flip in time: between two such times its velocity is smooth. The one finder
// there is; dynamics and theory end their steps at what it gives.
#pragma once

#include <functional>
#include <vector>

namespace flyball::scheme {

// 0 = first, ..., T, evenly spaced. Two switches closer than T/4096 would be seen as none or one.
std::vector<double> switch_probes(double T);

// `outcomes` tells every comparison at a time (Program::comparisons). Between neighbours of the rising `probes` that
// differ, the last time that still has the outcomes of the first, to the last bit: depth <= tau holds there and
// depth < tau does not. Times are above 0.
std::vector<double> find_switches(const std::function<std::vector<bool>(double)>& outcomes,
                                  const std::vector<double>& probes);

}  // namespace flyball::scheme
