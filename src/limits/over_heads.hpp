// From the sums of heads to what a model shows: means over heads, distributions compared, coverage of a layer.
#pragma once

#include <cstddef>
#include <vector>

#include "limits/head_sums.hpp"
#include "limits/result.hpp"
#include "limits/settings.hpp"

namespace flyball::limits {

// The heads of a layer at the longest length; `keys` is how many keys each of its rows sees. Empties their lists.
Coverage coverage_of(const std::vector<HeadSums*>& heads, const std::vector<std::size_t>& keys, std::size_t tokens);

class OverHeads {
  public:
    // Every head of a pass, layer after layer.
    void add(std::size_t layer, std::size_t head, double temperature, const Plan& plan, const HeadSums& sums);
    void end_pass(const Plan& plan, double alpha, const std::vector<Coverage>& coverage);

    Result result() const { return result_; }

  private:
    std::vector<std::vector<HeadSums::Curves>> curves_;  // [length of the pass][head]
    std::vector<std::vector<DistanceMeans>> by_length_;  // [head], lengths of all passes so far
    Result result_;
    std::size_t head_ = 0;
    bool saw_distinct_ = false;
};

}  // namespace flyball::limits
