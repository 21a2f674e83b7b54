#include "claims/experiment.hpp"

#include <cassert>
#include <cmath>

#include "claims/system.hpp"

namespace flyball::claims {

dynamics::Record run_particles(const Context& context, const dynamics::Settings& settings,
                               const scheme::Program& program, const Sampled& sampled) {
    context.at(0);
    dynamics::Watch watch;
    watch.stop = context.stop;
    watch.progress = context.progress;
    watch.sampled = sampled;
    dynamics::Record record = dynamics::run(settings, program, watch);
    if (record.outcome == dynamics::Outcome::interrupted) {
        throw Interrupted{};
    }
    return record;
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
    const std::size_t rows = each / dim;
    const auto tokens = static_cast<double>(rows);
    std::vector<double> result;
    for (std::size_t m = 0; m < systems; ++m) {
        const auto begin = theta.begin() + static_cast<std::ptrdiff_t>(m * each);
        // The mean of |theta_i - theta_j|^2 / 2 over pairs.
        result.push_back(variance_of({begin, begin + static_cast<std::ptrdiff_t>(each)}, dim) * tokens / (tokens - 1));
    }
    return result;
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
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
