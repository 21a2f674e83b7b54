// What `flyball theory` shows: JSON, a table with a plot, and figures.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "report/figure.hpp"
#include "scheme/catalogue.hpp"
#include "theory/theory.hpp"

namespace flyball::cli {

struct Predicted {
    scheme::Scheme scheme;
    double initial_velocity = 0;
    theory::Law law;
    std::vector<theory::Point> points;
    std::vector<std::optional<double>> times_to_cosine;  // one for each cosine asked for
};

struct TheoryOutput {
    theory::Settings settings;
    std::vector<double> cosines;
    bool log_time = false;
    std::vector<Predicted> runs;
};

Json theory_json(const TheoryOutput& output);
std::string theory_text(const TheoryOutput& output);

// "power  C t^-3, C = 2.366"
std::string law_in_words(const theory::Law& law);

// FILE.svg shows gamma, FILE-radius.svg the length, FILE-velocity.svg gamma'; a CSV beside each. Returns their paths.
std::vector<std::string> write_theory_figures(const std::filesystem::path& file, const TheoryOutput& output);

}  // namespace flyball::cli
