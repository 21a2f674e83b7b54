// What `flyball limits` shows: text for a terminal and figures.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/json.hpp"
#include "limits/result.hpp"
#include "limits/settings.hpp"
#include "report/figure.hpp"

namespace flyball::cli {

struct LimitsFigure {
    std::string name;  // of its files
    std::variant<report::LineFigure, report::HeatFigure, report::BoxFigure> figure;
};

// `about`: the model, the text's length and the vectors, for captions.
std::vector<LimitsFigure> limits_figures(const std::vector<limits::Result>& results, const std::string& about);

// At most 80 columns and 24 lines.
std::string limits_text(const std::vector<limits::Result>& results, const std::string& about);

// A row's document for people; `words` are the tokens of the text, or empty.
std::string limits_row_text(const Json& row, const std::vector<std::string>& words);

}  // namespace flyball::cli
