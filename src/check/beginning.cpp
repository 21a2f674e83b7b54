// Fresh models of several depths, one pass forward and back each, and the laws of their curves over depth.
#include "check/beginning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

#include "core/number.hpp"
#include "core/parallel.hpp"
#include "model/block_watch.hpp"
#include "model/pass.hpp"
#include "train/batches.hpp"
#include "train/initial.hpp"

namespace flyball::check {

namespace {

constexpr std::array<std::size_t, 6> depths = {4, 8, 16, 32, 64, 96};
constexpr std::size_t most_measured_tokens = 512;  // of a sequence: attention's cost grows with its square
constexpr std::size_t measured_rows = 128;
constexpr double least_cosine = 1e-3;  // of a turn by a right angle or more, after which nothing is left

// Shapes of curves that multiply by less than this cannot be told apart.
constexpr double told_apart = 4;
// Of the mean, in every quarter: an exponential has 1, a power of depth has a quarter in the last one.
constexpr double steady_share = 0.45;
// The squares of what is larger are no floats. A curve that ends where going on as far again would not lead here is
// ended by something else, such as a division by zero.
const double largest_held = std::sqrt(static_cast<double>(std::numeric_limits<float>::max()));
constexpr double at_rest = 0.05;  // of its first value, by which a curve that has not begun to move may differ from it

train::Settings stand_in(const scheme::Scheme& scheme, const Settings& settings, std::size_t depth,
                         std::size_t tokens) {
    train::Settings sizes;
    sizes.layers = depth;
    sizes.dim = Settings::measured_width;
    sizes.heads = Settings::measured_heads;
    sizes.context = tokens;
    sizes.norm = settings.norm;
    sizes.dt = settings.dt;
    sizes.init = init_for_width(scheme, settings);
    sizes.seed = settings.seed;
    return sizes;
}

}  // namespace

// One forward and one backward pass of a fresh stand-in on the built-in language, looked at by model/block_watch.hpp.
DepthCurve measured_depth(const scheme::Scheme& scheme, const Settings& settings, const train::Corpus& corpus,
                          std::size_t depth) {
    const std::size_t tokens = std::min(settings.tokens, most_measured_tokens);
    const std::size_t sequences = std::max<std::size_t>(2, measured_rows / tokens);
    const train::Initial initial =
        train::initial_model(stand_in(scheme, settings, depth, tokens), on_stand_in(scheme, settings), corpus.vocab);

    const model::Batch batch(sequences, tokens);
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> targets;
    train::Batches(corpus.train, tokens, sequences, settings.seed).fill(1, 0, ids, targets);
    model::BlockWatch watch(initial.model, batch, 1);
    model::Pass<float> pass(initial.model, batch, model::Keep::inputs);
    pass.forward(ids, watch.taps());
    model::Parameters<float> gradients(initial.model.layout());
    DepthCurve curve;
    curve.depth = depth;
    curve.loss = pass.loss_and_backward(targets, gradients, 1, watch.taps());
    const double root = std::sqrt(static_cast<double>(Settings::measured_width));
    curve.stream.push_back(watch.embedding().moments.norm / root);
    curve.gradient.push_back(watch.embedding().gradient);
    curve.memory.push_back(1);
    for (const model::BlockMeasures& block : watch.blocks()) {
        curve.stream.push_back(block.moments.norm / root);
        curve.gradient.push_back(block.gradient);
        curve.turn.push_back(block.angle);
        curve.memory.push_back(curve.memory.back() * std::max(std::cos(block.angle), least_cosine));
    }
    const auto is_finite = [](double value) { return std::isfinite(value); };
    curve.finite = std::isfinite(curve.loss) && std::all_of(curve.stream.begin(), curve.stream.end(), is_finite) &&
                   std::all_of(curve.gradient.begin(), curve.gradient.end(), is_finite) &&
                   std::all_of(curve.memory.begin(), curve.memory.end(), is_finite);
    return curve;
}

bool DepthLaw::is_exponential() const {
    return steady && factor > told_apart;
}

double DepthLaw::percent_a_block() const {
    return 100 * (falls ? -std::expm1(-rate) : std::expm1(rate));
}

double Beginning::rate_over_models() const {
    // Between models of 32, 64 and 96 blocks an exponential makes the same factor twice, a power of depth a smaller
    // one.
    const auto last_of = [&](std::size_t depth) {
        const auto at =
            std::find_if(curves.begin(), curves.end(), [&](const DepthCurve& curve) { return curve.depth == depth; });
        return std::log(at->stream.back());
    };
    const double first = last_of(64) - last_of(32);
    const double second = last_of(96) - last_of(64);
    return first > std::log(2) && second > 0.8 * first && std::isfinite(second) ? second / 32 : 0;
}

namespace {

// A curve from where it begins to move: blocks that only prepare (Post-LN before a condition changes) are no part of a
// law that begins after them. A curve that moves slowly from the start is left whole.
std::vector<double> moving_part(const std::vector<double>& values) {
    const auto rest = [&](double value) { return std::fabs(value / values.front() - 1) < at_rest; };
    const auto first = std::find_if_not(values.begin(), values.end(), rest);
    const auto resting = static_cast<std::size_t>(first - values.begin());
    return 8 * resting < values.size() || first == values.end() ? values : std::vector<double>(first - 1, values.end());
}

}  // namespace

// `steady` is what tells exponentials: each quarter of the depth has at least 0.45 of its share of log(factor). An
// exponential has 1 in every quarter; a power of depth does most of its growing early, and a step all of it in one
// place. A curve that is too small for a float after a few blocks has as many parts as it has blocks.
DepthLaw law_of(const std::vector<double>& values, double least) {
    DepthLaw law;
    const auto end = std::find_if(values.begin(), values.end(),
                                  [&](double value) { return value < least || !std::isfinite(value); });
    law.held = static_cast<std::size_t>(end - values.begin());
    law.vanishes = end != values.end() && *end < least;
    law.overflows = end != values.end() && !law.vanishes;
    std::vector<double> upright(values.begin(), end);
    law.falls = law.vanishes || (!upright.empty() && upright.back() < upright.front());
    if (law.falls) {
        for (double& value : upright) {
            value = 1 / value;
        }
    }
    law.growth = measure::growth(moving_part(upright));
    law.factor = upright.empty() ? 1 : upright.back() / upright.front();
    const std::size_t last = upright.empty() ? 0 : upright.size() - 1;
    const std::size_t parts = last >= 8 || (law.held < values.size() && last > 1) ? std::min<std::size_t>(last, 4) : 0;
    const double ending = law.vanishes ? 1 / least : largest_held;
    if (parts > 0 && (law.held == values.size() || upright.back() * law.factor > ending)) {
        law.rate = std::log(law.factor) / static_cast<double>(last);
        law.steady = law.factor >= 1;
        for (std::size_t k = 0; k < parts; ++k) {
            const double part = std::log(upright[last * (k + 1) / parts] / upright[last * k / parts]);
            law.steady = law.steady && part > steady_share * std::log(law.factor) / static_cast<double>(parts);
        }
    }
    return law;
}

bool Beginning::finite() const {
    return own.finite &&
           std::all_of(curves.begin(), curves.end(), [](const DepthCurve& curve) { return curve.finite; });
}

Beginning beginning(const scheme::Scheme& scheme, const Settings& settings, const train::Corpus& corpus) {
    // The deepest first: it takes as long as all others together.
    std::vector<std::size_t> wanted(depths.rbegin(), depths.rend());
    if (std::find(wanted.begin(), wanted.end(), settings.depth) == wanted.end()) {
        wanted.push_back(settings.depth);
    }
    std::vector<DepthCurve> found(wanted.size());
    parallel_slots(wanted.size(), wanted.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            found[i] = measured_depth(scheme, settings, corpus, wanted[i]);
        }
    });
    Beginning result;
    result.bound = worst_case(on_stand_in(scheme, settings), settings);
    for (DepthCurve& one : found) {
        if (one.depth == settings.depth) {
            result.own = one;
        }
        result.curves.push_back(std::move(one));
    }
    std::sort(result.curves.begin(), result.curves.end(),
              [](const DepthCurve& a, const DepthCurve& b) { return a.depth < b.depth; });
    const DepthCurve& last = result.curves.back();
    result.stream = law_of({last.stream.begin() + 1, last.stream.end()}, least_held);
    result.memory = law_of({last.memory.begin() + 1, last.memory.end()});
    result.gradient = law_of({last.gradient.rbegin(), last.gradient.rend() - 1}, least_held);
    return result;
}

scheme::Program trained_program(const scheme::Scheme& scheme, const Settings& settings) {
    return scheme::Program::parse(train::architecture_of(stand_in(scheme, settings, 2, 2), scheme, 2).equation);
}

// A vector of length 1 has numbers of size 1/sqrt(d), and sizes are what a stand-in has in common with the model that it
// stands for: unit(x) becomes rms(x)/sqrt(d). Not where the recipe keeps all vectors at length 1, whose other numbers
// (the scale inside the feed-forward) are for the width of the stand-in.
scheme::Scheme on_stand_in(const scheme::Scheme& scheme, const Settings& settings) {
    const auto width = static_cast<double>(settings.width);
    const std::regex units(settings.norm == "unit" ? "\\b(unit|norm)\\(" : "\\bunit\\(");
    scheme::Program program = trained_program(scheme, settings);
    if (scheme::recipe_of(scheme).training.unit_vectors != scheme::UnitVectors::all) {
        const std::string of_size = format_double(1 / std::sqrt(width)) + "*rms(";
        program = scheme::Program::parse(std::regex_replace(program.text(), units, of_size));
    }
    scheme::Scheme result = scheme;
    result.program = program.with_quantity(scheme::Quantity::d, width)
                         .with_quantity(scheme::Quantity::n, static_cast<double>(settings.tokens));
    return result;
}

void check_start(const std::vector<scheme::Scheme>& given, const Settings& settings) {
    for (const scheme::Scheme& one : given) {
        const scheme::Scheme block = on_stand_in(one, settings);
        train::Settings as_given = stand_in(block, settings, settings.depth, 2);
        as_given.init = settings.init;  // first, so that a message shows what was typed
        train::check_start(as_given, block, 2);
        train::check_start(stand_in(block, settings, settings.depth, 2), block, 2);
    }
}

train::Corpus check_corpus(const Settings& settings) {
    train::CorpusSettings wanted;
    wanted.data = "synthetic";
    wanted.context = std::min(settings.tokens, most_measured_tokens);
    wanted.tokens = std::size_t{1} << 16U;
    wanted.seed = settings.seed;
    return train::load_corpus(wanted);
}

}  // namespace flyball::check
