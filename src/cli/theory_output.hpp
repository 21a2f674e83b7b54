// What `flyball theory` shows: a table with a plot, and figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/figure.hpp"
#include "theory/prediction.hpp"

namespace flyball::cli {

struct TheoryOutput {
    theory::Settings settings;  // what all have in common
    std::vector<double> betas;  // one run each and scheme; empty where heads have their own (settings.betas)
    std::vector<double> cosines;
    bool log_time = false;
    std::vector<theory::Prediction> runs;
};

std::string theory_text(const TheoryOutput& output);

// "power  C t^-3, C = 2.366"
std::string law_in_words(const theory::Law& law);

// What --json prints and theory.json has: the predictions, and what they come to in a few sentences.
Json theory_document(const TheoryOutput& output);

// gamma ("cosine"), the length ("radius") and gamma' ("velocity") over time.
struct TheoryFigure {
    std::string name;
    report::LineFigure figure;
};
std::vector<TheoryFigure> theory_figures(const TheoryOutput& output);

// FILE.svg shows gamma, FILE-radius.svg the length, FILE-velocity.svg gamma'; a CSV beside each. Returns their paths.
std::vector<std::string> write_theory_figures(const std::filesystem::path& file, const TheoryOutput& output,
                                              const report::Sheet& sheet);

}  // namespace flyball::cli
