#include "dynamics/trained_weights.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"
#include "dynamics/start.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

namespace {

[[noreturn]] void fail_trained(const std::string& got, const std::string& expected, const std::string& hint = {}) {
    throw Error(ErrorKind::usage, "dynamics.trained_weights", got, expected, hint);
}

}  // namespace

void use_trained(std::shared_ptr<const TrainedWeights> trained, const Said& said, Settings& s) {
    if (!said.dim) {
        s.dim = trained->dim;
    }
    if (!said.heads) {
        s.heads = trained->heads;
    }
    if (!said.beta) {
        s.beta = trained->beta;
    }
    if (!said.attention) {
        s.attention = attention::name(trained->kind);
    }
    if (!said.span) {
        s.layers = trained->blocks;
    }
    if (!said.dt && s.layers) {
        s.dt = trained->dt;
    }
    s.trained = std::move(trained);
}

std::vector<std::string> trained_notes(const Settings& s) {
    if (s.trained == nullptr) {
        return {};
    }
    const TrainedWeights& trained = *s.trained;
    std::vector<std::string> notes = trained.notes;
    if (trained.causal != s.causal) {
        notes.push_back(trained.causal ? "The model has a causal mask, this run has none."
                                       : "The model has no mask, this run has a causal one.");
    }
    if (s.beta != trained.beta) {
        notes.push_back(
            fmt::format("beta is {}, that of the model is {}.", format_double(s.beta), format_double(trained.beta)));
    }
    const double length = s.layers ? static_cast<double>(*s.layers) : s.time;
    if (length > static_cast<double>(trained.blocks)) {
        notes.push_back(fmt::format("After its {} blocks the model is gone through again.", trained.blocks));
    }
    return notes;
}

void check_trained(const Settings& s) {
    if (s.trained == nullptr) {
        fail_trained(fmt::format("weights of {}, which nobody has read", flyball::quoted(s.weight_file)),
                     "the matrices of a model beside its name");
    }
    const TrainedWeights& trained = *s.trained;
    const std::string name = flyball::quoted(trained.model);
    if (s.dim != trained.dim) {
        fail_trained(fmt::format("{} with the weights of {}", setting("dim", std::to_string(s.dim)), name),
                     fmt::format("the {} channels that the model has", trained.dim),
                     fmt::format("leave out {}", setting("dim")));
    }
    if (s.heads != trained.heads) {
        fail_trained(fmt::format("{} with the weights of {}", setting("heads", std::to_string(s.heads)), name),
                     fmt::format("the {} heads that the model has", trained.heads),
                     fmt::format("leave out {}", setting("heads")));
    }
    if (trained.window > 0 && s.tokens > trained.window) {
        fail_trained(fmt::format("{} tokens with the weights of {}, which has blocks whose tokens see {} others at "
                                 "most",
                                 s.tokens, name, trained.window - 1),
                     "no more tokens than such a window has, since particles have none",
                     fmt::format("use {}", setting("tokens", std::to_string(trained.window))));
    }
    if (trained.centred && s.dim == 1) {
        fail_trained(fmt::format("the weights of {}, which has one channel", name),
                     "at least two channels: LayerNorm takes their mean away, and of one channel nothing is left");
    }
    if (trained.centred && start_dimensions(s) + 1 > s.dim) {
        fail_trained(
            fmt::format("{} start of {} tokens with the weights of {}",
                        s.start == StartKind::symmetric ? "a symmetric" : "an equiangular", s.tokens, name),
            fmt::format("at most {} tokens: LayerNorm leaves one dimension less than the model has", s.dim - 1));
    }
}

namespace {

constexpr double only_mean = 1e-12;  // what is left of a row is rounding when it is no longer than this share of it

// Rows of a file have as many channels as the model: LayerNorm sees what is left of them without their mean.
std::vector<double> without_mean(const Settings& s) {
    std::vector<double> rows = start_rows(s);
    const std::size_t count = s.systems * s.tokens;
    for (std::size_t row = 0; row < count; ++row) {
        const std::size_t begin = row * s.dim;
        const double before = measure::length(rows.data() + begin, s.dim);
        double sum = 0;
        for (std::size_t c = begin; c < begin + s.dim; ++c) {
            sum += rows[c];
        }
        for (std::size_t c = begin; c < begin + s.dim; ++c) {
            rows[c] -= sum / static_cast<double>(s.dim);
        }
        if (measure::length(rows.data() + begin, s.dim) <= only_mean * before) {
            fail_trained(
                fmt::format("row {} of {}, whose channels are all alike", row + 1, flyball::quoted(s.start_file)),
                "rows with a direction of their own: LayerNorm takes the mean of the channels away, and of this "
                "one nothing is left");
        }
    }
    return rows;
}

}  // namespace

std::vector<double> centred_start(const Settings& settings) {
    if (settings.start == StartKind::file) {
        return without_mean(settings);
    }
    Settings narrow = settings;
    narrow.dim = settings.dim - 1;
    const std::vector<double> from = start_rows(narrow);
    const std::size_t d = settings.dim;
    const std::size_t rows = settings.systems * settings.tokens;
    // The reflection that takes the last axis to u = (1, .., 1)/sqrt d:  y - 2 v <v, y>/|v|^2,  v = e_d - u.
    const double u = 1 / std::sqrt(static_cast<double>(d));
    std::vector<double> start(rows * d, 0.0);
    for (std::size_t j = 0; j < rows; ++j) {
        double sum = 0;
        for (std::size_t c = 0; c + 1 < d; ++c) {
            sum += from[j * (d - 1) + c];
        }
        const double factor = -u * sum / (1 - u);  // 2 <v, y>/|v|^2, with |v|^2 = 2 (1 - u)
        for (std::size_t c = 0; c < d; ++c) {
            const bool last = c + 1 == d;
            start[j * d + c] = (last ? 0 : from[j * (d - 1) + c]) - factor * ((last ? 1 : 0) - u);
        }
    }
    return start;
}

}  // namespace flyball::dynamics
