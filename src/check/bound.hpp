// How large the stream x could become with any weights of the sub-layers, and how that grows when a model gets deeper.
//
//     B(L)    the largest root mean square of x after the last of L blocks. It is 1 at the start, norms have the gains
//             that they start with, gates that start closed are open, and all terms of a sum may point the same way
//
// Weights that make all branches point one way attain it, so it is no mere estimate; "none" where a sub-layer's output
// reaches x without a norm. The law is read off B at 1, 2, 4 and 8 times the depth of the user's model (24 blocks or
// more): models, not blocks of one model, so that a factor of L and a condition on depth mean what they say.
#pragma once

#include <cstddef>
#include <string>

#include "check/settings.hpp"
#include "core/json.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::check {

struct WorstCase {
    enum class Law { bounded, logarithm, power, exponential, none };

    Law law = Law::none;
    double power = 0;       // of the number of blocks, for Law::power
    std::size_t depth = 0;  // of the user's model
    double length = 0;      // B there
    double doubled = 0;     // B of a model with twice as many blocks

    // The smallest of bounded, linear, quadratic and exponential that the law does not exceed; or none.
    std::string name() const;
    // "linear: at most in proportion to the number of blocks (49 after 24 blocks, 97 after 48, from 1 at the start)"
    std::string words() const;
    Json document() const;
};

// `scheme` as a stand-in runs it (on_stand_in in beginning.hpp): d and n are numbers.
WorstCase worst_case(const scheme::Scheme& scheme, const Settings& settings);

}  // namespace flyball::check
