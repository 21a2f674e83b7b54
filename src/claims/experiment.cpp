#include "claims/experiment.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/random.hpp"
#include "core/setting_field.hpp"
#include "dynamics/start.hpp"

namespace flyball::claims {

namespace {

dynamics::Record stoppable(const Context& context, dynamics::Problem problem, dynamics::Control control,
                           const dynamics::Watch& watch) {
    control.stop = context.stop;
    dynamics::Record record = dynamics::run(std::move(problem), control, watch);
    if (record.outcome == dynamics::Outcome::interrupted) {
        throw Interrupted{};
    }
    return record;
}

}  // namespace

dynamics::Record run_particles(const Context& context, const dynamics::Settings& settings,
                               const scheme::Program& program, const Sampled& sampled) {
    context.at(0);
    dynamics::Watch watch = dynamics::watch_of(settings);
    watch.progress = context.progress;
    watch.sampled = sampled;
    return stoppable(context, dynamics::problem_of(settings, program), dynamics::control_of(settings), watch);
}

dynamics::Problem particles_at(const scheme::Program& program, std::vector<double> rows, std::size_t dim, double T,
                               const attention::Settings& attention) {
    dynamics::Problem problem{program, 1, rows.size() / dim, dim, std::move(rows)};
    problem.attention.settings = attention;
    problem.attention.heads = std::max<std::size_t>(1, attention.head_betas.size());
    problem.time = T;
    return problem;
}

// Distances of 1e-7 between tokens are looked at: tolerances are as low as doubles allow.
dynamics::Record run_particles(const Context& context, dynamics::Problem problem, const std::vector<double>& times,
                               const Sampled& sampled) {
    dynamics::Control control;
    control.rtol = 1e-13;
    control.atol = 1e-15;
    dynamics::Watch watch;
    watch.times = times;
    watch.sampled = sampled;
    return stoppable(context, std::move(problem), control, watch);
}

std::vector<double> random_rows(std::size_t tokens, std::size_t dim, double r0, std::uint64_t seed) {
    std::vector<double> rows(tokens * dim);
    Random(seed, 77).fill_normal(rows);
    rows = measure::directions({rows.data(), tokens, dim});
    for (double& value : rows) {
        value *= r0;
    }
    return rows;
}

std::vector<double> cone_rows(std::size_t tokens, std::size_t dim, double opening, std::uint64_t seed) {
    dynamics::Settings s;
    s.tokens = tokens;
    s.dim = dim;
    s.start = dynamics::StartKind::cone;
    s.cone_delta = opening;
    s.seed = seed;
    return dynamics::start_rows(s);
}

attention::Settings softmax_at(double beta) {
    attention::Settings settings;
    settings.beta = beta;
    return settings;
}

std::vector<double> orthonormal_rows(std::size_t tokens, double r0) {
    std::vector<double> rows(tokens * tokens, 0.0);
    for (std::size_t j = 0; j < tokens; ++j) {
        rows[j * tokens + j] = r0;
    }
    return rows;
}

PaperRow predicted_row(const Context& context, const PaperRow& row) {
    PaperRow predicted = row;
    predicted.s = [context, s = row.s](const TokenState& x) {
        return context.predict("s", s(x), {x.r, x.along, x.length, x.t});
    };
    predicted.growth = [context, growth = row.growth](const TokenState& x) {
        return context.predict("growth", growth(x), {x.r, x.along, x.length, x.t});
    };
    return predicted;
}

const PaperRow& paper_row(std::string_view scheme) {
    for (const PaperRow& row : paper_rows()) {
        if (std::string_view(row.scheme).substr(0, row.scheme.find(':')) == scheme) {
            return row;
        }
    }
    assert(false && "a row of Table 2");
    return paper_rows().front();
}

std::vector<double> one_minus_cosines(const std::vector<double>& theta, std::size_t systems, std::size_t dim) {
    const std::size_t each = theta.size() / systems;
    std::vector<double> result;
    for (std::size_t m = 0; m < systems; ++m) {
        result.push_back(measure::one_minus_cosine({theta.data() + m * each, each / dim, dim}));
    }
    return result;
}

std::string listed(const std::vector<std::string>& words) {
    return joined(words, "and");
}

std::vector<double> log_spaced(double first, double last, std::size_t count) {
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(count - 1);
        times.push_back(first * std::pow(last / first, share));
    }
    times.back() = last;
    return times;
}

}  // namespace flyball::claims
