// Names of schemes and functions as people write them.
//
// The names themselves are data: of schemes in the catalogue (name, title, aliases, models), of functions in
// expression.cpp. Here is only what counts as the same spelling, and what to say to a name that is none of them.
#pragma once

#include <string>
#include <string_view>

namespace flyball::scheme {

// The spelling that all spellings of a name share: capitals, blanks, hyphens, underscores and dots do not count, and a
// name that ends with LayerNorm, RMSNorm or Norm ends with LN. "Peri-LN", "PERI_LN", "periln" and "peri-norm" are one;
// "layernorm" by itself stays what it is.
std::string folded(std::string_view name);

// What may be meant by a name that no scheme has: the scheme of a model, why there is none, or the nearest name. Never
// empty.
std::string scheme_hint(std::string_view name);

// What may be meant by a function that there is not ("did you mean ln?"); empty when nothing is near.
std::string function_hint(std::string_view name);

}  // namespace flyball::scheme
