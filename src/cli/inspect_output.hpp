// What `flyball inspect` shows: text for a terminal and figures. One report a model.
#pragma once

#include <string>
#include <vector>

#include "inspect/report.hpp"
#include "inspect/summary.hpp"
#include "report/figure.hpp"

namespace flyball::cli {

struct Inspected {
    std::string name;  // of the model, as it was given
    std::string equation;
    inspect::Report report;
    inspect::Spelling spelling;
};

// A table of blocks in at most 80 columns, and the summary; of several models a table that compares them, too.
std::string inspect_text(const std::vector<Inspected>& models);

struct InspectFigure {
    std::string name;  // of its files
    report::LineFigure figure;
};
// One a quantity, all models in each; what no model has is left out.
std::vector<InspectFigure> inspect_figures(const std::vector<Inspected>& models);
// The page that shows the most important of them together.
report::PanelFigure inspect_page(const std::vector<Inspected>& models);

}  // namespace flyball::cli
