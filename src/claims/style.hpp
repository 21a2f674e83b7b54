// How schemes look in figures: as the catalogue says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dynamics/sample.hpp"
#include "report/figure.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::claims {

// Equations of one's own have colours that no scheme of the catalogue has.
report::Style style_of(const scheme::Scheme& scheme);

// A title for people: "Peri-LN", or the text of the equation.
std::string title_of(const scheme::Scheme& scheme);

// A line of a scheme of the catalogue.
report::Series series_of(std::string_view scheme, std::vector<double> x, std::vector<double> y);

// Its mean cosine over time, with the band from 5 % to 95 % of the systems.
report::Series cosine_series(std::string_view scheme, const std::vector<dynamics::Sample>& samples);

}  // namespace flyball::claims
