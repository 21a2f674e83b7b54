#include "dynamics/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/number.hpp"
#include "dynamics/method.hpp"
#include "dynamics/observables.hpp"
#include "dynamics/sample.hpp"
#include "dynamics/start.hpp"
#include "dynamics/start_file.hpp"
#include "dynamics/trained_weights.hpp"

namespace flyball::dynamics {

namespace {

constexpr double most_equal_steps = 9007199254740992;  // 2^53: beyond, t + dt is t

constexpr double longest_time =
    1e100;  // as for theory: beyond, solvers and their tolerances leave the range of numbers

[[noreturn]] void fail(std::string_view got, std::string_view expected, std::string_view hint = {}) {
    throw Error(ErrorKind::usage, "dynamics.settings", got, expected, hint);
}

void positive(double value, std::string_view name) {
    if (!(value > 0) || !std::isfinite(value)) {
        fail(setting(name, format_double(value)), "a finite number above 0");
    }
}

void check_start(const Settings& s) {
    if (s.start == StartKind::cone && !(s.cone_delta > 0 && s.cone_delta <= 1)) {
        fail(fmt::format("cone:{}", format_double(s.cone_delta)), "a delta above 0 and at most 1");
    }
    if (s.start == StartKind::equiangular) {
        const double least = s.tokens < 2 ? -1 : -1 / static_cast<double>(s.tokens - 1);
        if (!(s.start_cosine < 1) || (s.start_cosine < least && share_of_mean(s.tokens, s.start_cosine) != 0)) {
            fail(fmt::format("equiangular:{} for {} tokens", format_double(s.start_cosine), s.tokens),
                 fmt::format("a cosine from {} up to but not 1: no {} vectors have less between all of them",
                             format_double(least), s.tokens));
        }
    }
    if (const std::size_t needed = start_dimensions(s); needed > s.dim) {
        const bool symmetric = s.start == StartKind::symmetric;
        fail(fmt::format("{} start of {} tokens in {} dimensions", symmetric ? "a symmetric" : "an equiangular",
                         s.tokens, s.dim),
             symmetric ? "at least as many dimensions as tokens: the start is orthonormal"
                       : fmt::format("at least {} dimensions, which so many vectors with equal angles need", needed),
             s.trained
                 ? fmt::format("use {}", setting("start", "uniform"))  // the dimension is the model's
                 : fmt::format("use {} or {}", setting("dim", std::to_string(needed)), setting("start", "uniform")));
    }
    if (s.start == StartKind::file) {
        check_start_file(s);
    } else if (s.start_frame) {
        fail(fmt::format("{} without a file to start from", setting("start-frame")),
             fmt::format("the trajectory that it is a sample of, {}", setting("start", "FILE.h5")));
    }
}

}  // namespace

std::size_t start_dimensions(const Settings& s) {
    if (s.start == StartKind::symmetric) {
        return s.tokens;
    }
    if (s.start == StartKind::equiangular) {
        const bool simplex = s.tokens > 1 && share_of_mean(s.tokens, s.start_cosine) == 0;
        return s.tokens - (simplex ? 1 : 0);
    }
    return 1;
}

void complete(Settings& s) {
    if (s.dim == 0) {
        s.dim = std::max<std::size_t>(32, start_dimensions(s));
    }
}

void check(const Settings& s) {
    if (s.tokens == 0 || s.dim == 0) {
        fail(fmt::format("{} tokens in {} dimensions", s.tokens, s.dim), "at least one of each");
    }
    if (s.systems == 0 || s.heads == 0) {
        fail(fmt::format("{} systems, {} heads", s.systems, s.heads), "at least one of each");
    }
    if (!std::isfinite(s.beta) || s.beta < 0) {
        fail(setting("beta", format_double(s.beta)), "a finite number, 0 or more");
    }
    positive(s.r0, "r0");
    if (!(s.pair_cosine >= -1 && s.pair_cosine < 1)) {
        fail(setting("pair-cosine", format_double(s.pair_cosine)), "a cosine from -1 up to but not 1");
    }
    positive(s.rtol, "rtol");
    positive(s.atol, "atol");
    positive(s.step(), "dt");
    if (s.layers) {
        if (*s.layers == 0) {
            fail(setting("layers", "0"), "at least one layer");
        }
        if (!std::isfinite(s.final_time())) {
            fail(fmt::format("{} and {}", setting("layers", std::to_string(*s.layers)),
                             setting("dt", format_double(s.step()))),
                 "layers and a step whose product, the time of the last layer, is a finite number");
        }
    } else {
        positive(s.time, "time");
        if (s.time > longest_time) {
            fail(setting("time", format_double(s.time)),
                 fmt::format("a time above 0, at most {}", format_double(longest_time)));
        }
        if (row_for(s).has_equal_steps() && s.time / s.step() > most_equal_steps) {
            fail(
                fmt::format("{} steps of {} to {}", format_double(s.time / s.step()),
                            setting("dt", format_double(s.step())), setting("time", format_double(s.time))),
                fmt::format("at most {}: shorter steps do not change t near the end", format_double(most_equal_steps)));
        }
    }
    if (s.samples < 2) {
        fail(setting("samples", std::to_string(s.samples)), "at least 2: the start and the end");
    }
    if (s.until && !is_measured(event_field(s.until->observable), s.tokens, s.dim)) {
        fail(fmt::format("{} of {} tokens in {} dimensions", setting("until", s.until->observable), s.tokens, s.dim),
             fmt::format("an observable that is measured there: {}", where_measured()));
    }
    check_start(s);
    if (s.draws_weights() && s.dim % s.heads != 0) {
        fail(fmt::format("{} heads in {} dimensions", s.heads, s.dim),
             fmt::format("a number of heads that divides {}", setting("dim")));
    }
    if (s.fresh && !s.draws_weights()) {
        fail(fmt::format("{} with weights that are not random", setting("fresh")),
             setting("weights", "gaussian, kaiming or orthogonal"));
    }
    if (s.weights == WeightKind::model) {
        check_trained(s);
    } else if (s.norm_gains) {
        fail(fmt::format("{} with {}", setting("gains"), setting("weights", weights_text(s))),
             "the weights of a model, whose norms have gains",
             fmt::format("use {}", setting("weights", "builtin:pre-ln")));
    }
    if (s.tokens > (std::size_t{1} << 40) / s.dim / s.systems) {
        fail(fmt::format("{}, {} and {}", setting("systems", std::to_string(s.systems)),
                         setting("tokens", std::to_string(s.tokens)), setting("dim", std::to_string(s.dim))),
             "a run that fits a machine: a product of at most 2^40");
    }
}

namespace {

// With more samples than this every layer is one, also where they are spaced in log t: from one layer to the next is at
// least log(1 + 1/L) of log L.
std::size_t sample_count(const Settings& s) {
    if (!s.layers) {
        return s.samples;
    }
    const double last = static_cast<double>(*s.layers);
    const double enough = s.log_time ? 2 + 2 * (last + 1) * std::log(last + 1) : last + 1;
    return static_cast<double>(s.samples) > enough ? *s.layers + 1 : s.samples;
}

}  // namespace

std::vector<double> sample_times(const Settings& s) {
    const double end = s.final_time();
    std::vector<double> times;
    if (s.layers) {  // whole layers only
        const auto last = static_cast<double>(*s.layers);
        const std::size_t samples = sample_count(s);
        const bool log_time = s.log_time && samples == s.samples;
        for (std::size_t i = 0; i < samples; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(samples - 1);
            const double layer = log_time ? (i == 0 ? 0 : std::round(std::pow(last, share))) : std::round(share * last);
            const double t = layer * s.step();
            if (times.empty() || t > times.back()) {
                times.push_back(t);
            }
        }
        return times;
    }
    for (std::size_t i = 0; i < s.samples; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(s.samples - 1);
        double t = share * end;
        if (s.log_time && i > 0) {
            // From a thousandth of the end, or 1e-3 if that is earlier, evenly in log t.
            const double first = std::min(1e-3, end * 1e-3);
            const double step = s.samples == 2 ? 1 : static_cast<double>(i - 1) / static_cast<double>(s.samples - 2);
            t = first * std::pow(end / first, step);
        }
        times.push_back(i + 1 == s.samples ? end : t);
    }
    return times;
}

double memory_estimate(const Settings& s, std::size_t streams, const KeptToTheEnd& kept) {
    const double numbers = static_cast<double>(s.systems) * static_cast<double>(s.tokens) * static_cast<double>(s.dim);
    // Copies of the state that are kept, restart points included; the equation and attention have some more.
    const double copies = s.layers ? 8 : row_for(s).copies;
    constexpr double rows = 12;
    double total = numbers * static_cast<double>(streams) * 8 * (copies + rows);
    // Weights as attention has them, and as they come: drawn or read, copied and taken over, before the old ones go.
    constexpr double coming = 3;
    if (s.trained) {
        total += 4.0 * 8 * static_cast<double>(s.dim * s.trained->heads * s.trained->width) * (1 + coming);
    } else if (s.weights != WeightKind::identity) {
        total += 4.0 * 8 * static_cast<double>(s.dim) * static_cast<double>(s.dim) *
                 (static_cast<double>(s.systems) + coming);
    }
    if (s.draws_weights()) {  // every system has an attention of its own, with the buffers of its kernel: measured
        const double d = static_cast<double>(s.dim);
        total += static_cast<double>(s.systems) * (2e5 + 8 * d * (250 + 16 * static_cast<double>(s.tokens)));
    }
    // The feed-forward sub-layer: two matrices a system, and the inner rows of the tokens.
    total += 8.0 * static_cast<double>(s.ffn_width) *
             (2.0 * static_cast<double>(s.dim) * static_cast<double>(s.systems) + static_cast<double>(s.tokens));
    // Every sample is kept: in the record, in the restart point that is being written, and as text and JSON at the end.
    double of_samples = 20;
    // Those of every system: in the record, in restart points and arrays, and in the document where that was asked for.
    of_samples += s.systems > 1 ? static_cast<double>(s.systems) * (s.per_system ? 20 : 6) : 0;
    const auto runs = static_cast<double>(kept.runs);
    total += runs * of_samples * static_cast<double>(sample_count(s)) * sizeof(Sample);
    // A point of a picture as it was read, in the figure, in the part of it that is being drawn, and as text.
    return total + runs * static_cast<double>(kept.picture_points) * 128;
}

}  // namespace flyball::dynamics
