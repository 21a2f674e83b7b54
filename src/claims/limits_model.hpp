// One analysis of a model for all claims about it.
#pragma once

#include <string>

#include "claims/claim.hpp"
#include "limits/result.hpp"
#include "limits/settings.hpp"

namespace flyball::claims {

struct Analysed {
    std::string model;  // as named
    std::string about;  // "builtin:pre-ln, 72 heads, 256 tokens": where a verdict was reached
    limits::Result result;
};

// Of the context's model and text, or of `model` where that is named. Analyses are kept, so that the claims of a run
// share them; claims that call this run alone. A text shorter than the lengths gives the lengths it has room for.
const Analysed& analysed(const Context& context, const limits::Settings& settings = {}, const std::string& model = "");

// The means over heads for one N, or NaN.
double separation_ratio(const limits::Result& result, std::size_t n);

}  // namespace flyball::claims
