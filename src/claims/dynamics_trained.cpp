// What the paper says of identity and random weights, under the weights of trained models (src/bridge).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bridge/model_weights.hpp"
#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"
#include "model/builtin.hpp"

namespace flyball::claims {

namespace {

constexpr double passes = 4;         // through all blocks, for what happens late
constexpr double met = 1e-3;         // 1 - cosine of tokens that have come together
constexpr std::size_t crowd = 16;    // tokens
constexpr double short_start = 0.1;  // r0 that is forgotten soon

// The models that a claim is tried on: all that are shipped, or the one that a user names.
std::vector<std::string> trained_models(const Context& context) {
    if (!context.subject.model.empty()) {
        return {context.subject.model};
    }
    std::vector<std::string> names;
    for (const std::string& name : model::builtin_models()) {
        names.push_back(std::string(model::builtin_prefix) + name);
    }
    return names;
}

// Unit tokens in the limit of thin layers, through the blocks of a model once; no mask, as in the paper. Steps are
// chosen by their error: where branches are short, Peri-LN and nGPT turn so suddenly that equal steps of 0.05 are too
// long.
dynamics::Settings under_weights_of(const Context& context, const std::string& model, std::size_t systems) {
    dynamics::Settings s;
    dynamics::parse_weights(model, s);
    dynamics::use_trained(bridge::read_model_weights(model, false), {}, s);
    s.time = static_cast<double>(s.trained->blocks);
    s.layers.reset();
    s.tokens = crowd;
    s.systems = systems;
    s.rtol = 1e-6;
    s.atol = 1e-8;
    s.samples = 2;
    s.seed = context.seed;
    return s;
}

dynamics::Record run_scheme(const Context& context, const dynamics::Settings& s, const std::string& scheme) {
    return run_particles(context, s, scheme::find_scheme(scheme).program);
}

// Calls `experiment` with every model, its context being this model's share of the progress.
template <class Experiment>
void over_models(const Context& context, const Experiment& experiment) {
    const std::vector<std::string> models = trained_models(context);
    for (std::size_t i = 0; i < models.size(); ++i) {
        const auto count = static_cast<double>(models.size());
        const double begin = static_cast<double>(i) / count;
        experiment(context.part(begin, begin + 1 / count), models[i]);
    }
}

void add_to(std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
}

std::string without_prefix(const std::string& model) {
    return model.starts_with(model::builtin_prefix) ? model.substr(model::builtin_prefix.size()) : model;
}

bool is_one_of(const std::string& scheme, const std::vector<std::string>& leaders) {
    return std::find(leaders.begin(), leaders.end(), scheme) != leaders.end();
}

// How many times as fast as the others nGPT and Peri-LN turn at the start, in the draw where that is least.
Measurement trained_early(const Context& context) {
    const double lead = context.predict("lead", 2);
    double least = HUGE_VAL;
    std::string seen;
    over_models(context, [&](const Context& part, const std::string& model) {
        double of_model = HUGE_VAL;
        for (std::uint64_t draw = 0; draw < context.size<std::uint64_t>(2, 6); ++draw) {
            double slowest_leader = HUGE_VAL;
            double fastest_other = 0;
            for (const std::string& scheme : paper_schemes()) {
                dynamics::Settings s = under_weights_of(part, model, 1);
                s.tokens = 2 * crowd;
                s.time = 0.1;
                s.seed = context.seed + draw;
                const double speed = run_scheme(part, s, scheme).samples.front().speed;
                if (is_one_of(scheme, {"ngpt", "peri-ln"})) {
                    slowest_leader = measure::smaller(slowest_leader, speed);
                } else {
                    fastest_other = measure::larger(fastest_other, speed);
                }
            }
            of_model = measure::smaller(of_model, slowest_leader / fastest_other);
        }
        least = measure::smaller(least, of_model);
        add_to(seen, fmt::format("{} {:.3g}", without_prefix(model), of_model));
    });
    Measurement result;
    result.predicted = fmt::format("at least {} times as fast as the other four", lead);
    result.measured = least;
    result.tolerance = "in every model and draw";
    result.verdict = verdict_of(least > lead);
    result.note = fmt::format(
        "speed at t = 0 of the slower of nGPT and Peri-LN over that of the fastest other, in the draw where it is "
        "least, "
        "by model: {}; n = {}, uniform start, r0 = 1. The lead is 1/|A|",
        seen, 2 * crowd);
    return result;
}

struct Late {
    std::string scheme;
    double start_speed;
    double apart;  // 1 - cosine at the end
};

report::LineFigure late_figure(const dynamics::Settings& s, const std::vector<dynamics::Record>& records) {
    report::LineFigure figure;
    figure.title = fmt::format("Mean cosine between tokens under the weights of {}", s.trained->model);
    figure.x.label = "blocks gone through";
    figure.y.label = "mean cosine";
    figure.caption = fmt::format(
        "n = {}, d = {}, β = {:.4g}, {} heads, {} systems; the {} blocks are gone through {} times; attention "
        "alone, without positions, biases, gains and FFN. Band: 5 % to 95 % of systems.",
        s.tokens, s.dim, s.beta, s.heads, s.systems, s.trained->blocks, passes);
    for (std::size_t i = 0; i < records.size(); ++i) {
        figure.series.push_back(cosine_series(paper_schemes()[i], records[i].samples));
    }
    return figure;
}

// As stated: Post-LN and nGPT are closer together than the other four. As corrected: nGPT is; Post-LN's tokens are
// still apart in models whose branch turns them by less than `slow` a block at the start, and closer than Peri-LN's
// where that is more than `fast`.
Measurement trained_late(const Context& context) {
    const double slow = context.predict("slow", 0.035);
    const double fast = context.predict("fast", 0.2);
    bool as_stated = true;
    bool as_corrected = true;
    std::size_t models_as_stated = 0;
    std::size_t models = 0;
    std::string seen;
    Measurement result;
    over_models(context, [&](const Context& part, const std::string& model) {
        dynamics::Settings s = under_weights_of(part, model, context.size<std::size_t>(1, 4));
        const double blocks = s.time;
        s.time *= passes;
        s.samples = static_cast<std::size_t>(s.time / (blocks < 24 ? 1 : blocks / 12)) + 1;
        std::vector<dynamics::Record> records;
        std::vector<Late> late;
        for (const std::string& scheme : paper_schemes()) {
            const double share = static_cast<double>(records.size()) / 6;
            records.push_back(run_scheme(part.part(share, share + 1.0 / 6), s, scheme));
            late.push_back(
                {scheme, records.back().samples.front().speed, records.back().samples.back().one_minus_cosine});
        }
        const auto of = [&late](const char* scheme) {
            return *std::find_if(late.begin(), late.end(), [&](const Late& one) { return one.scheme == scheme; });
        };
        double others = HUGE_VAL;
        for (const Late& one : late) {
            others = is_one_of(one.scheme, {"post-ln", "ngpt"}) ? others : measure::smaller(others, one.apart);
        }
        const bool both = of("post-ln").apart < others && of("ngpt").apart < others;
        ++models;
        models_as_stated += both ? 1 : 0;
        as_stated = as_stated && both;
        const Late post = of("post-ln");
        const bool is_apart = post.apart > 0.5;
        const bool is_ahead = post.apart < of("peri-ln").apart;
        as_corrected = as_corrected && of("ngpt").apart < others && (post.start_speed > slow || is_apart) &&
                       (post.start_speed < fast || is_ahead);
        add_to(seen, fmt::format("{} {:.3f}: nGPT {:.1e}, Post-LN {:.1e}, Peri-LN {:.1e}, Pre-LN {:.1e}",
                                 without_prefix(model), of("post-ln").start_speed, of("ngpt").apart,
                                 of("post-ln").apart, of("peri-ln").apart, of("pre-ln").apart));
        if (!context.subject.model.empty() || model == "builtin:pre-ln" || model == "builtin:post-ln") {
            result.pictures.push_back(
                {"dynamics-trained-" + (context.subject.model.empty() ? without_prefix(model) : std::string("model")),
                 late_figure(s, records)});
        }
    });
    result.predicted = "Post-LN and nGPT closest in every model";
    result.measured = fmt::format("in {} of {} models", models_as_stated, models);
    result.tolerance = fmt::format(
        "corrected: Post-LN above 0.5 where it turns by less than {} a block, ahead of Peri-LN where by more than {}",
        slow, fast);
    result.verdict = verdict_of(as_stated, as_corrected);
    result.note = fmt::format(
        "speed of Post-LN at the start and 1 - cosine after {} passes through the blocks, by model: {}; n = {}, thin "
        "layers",
        passes, seen, crowd);
    return result;
}

// Exponent of the stream's length over the blocks of a model, from a quarter of them on.
double growth_exponent(const Context& context, dynamics::Settings s, const char* scheme) {
    s.layers = s.trained->blocks;
    s.dt = 1;
    s.r0 = short_start;
    s.samples = s.trained->blocks + 1;
    std::vector<double> clock;
    std::vector<double> value;
    for (const dynamics::Sample& sample : run_scheme(context, s, scheme).samples) {
        if (sample.t > 0 && sample.t >= s.final_time() / 4) {
            clock.push_back(std::log(sample.t));
            value.push_back(std::log(sample.radius));
        }
    }
    return fit_line(clock, value).slope;
}

Measurement trained_growth(const Context& context) {
    const double linear = context.predict("tied", 1);
    const double root = context.predict("fresh", 0.5);
    const double most = context.predict("most", 0.7);
    constexpr double near = 0.1;
    std::size_t runs = 0;
    std::size_t as_stated = 0;
    double largest = -HUGE_VAL;
    double smallest = HUGE_VAL;
    std::string seen;
    over_models(context, [&](const Context& part, const std::string& model) {
        std::string of_model;
        for (const bool causal : {false, true}) {
            for (const char* scheme : {"pre-ln", "peri-ln"}) {
                dynamics::Settings s = under_weights_of(part, model, context.size<std::size_t>(4, 16));
                s.causal = causal;
                const double slope = growth_exponent(part, s, scheme);
                ++runs;
                as_stated += slope > root - near && slope < linear + near ? 1 : 0;
                largest = measure::larger(largest, slope);
                smallest = measure::smaller(smallest, slope);
                of_model += fmt::format(" {:.2f}", slope);
            }
        }
        add_to(seen, without_prefix(model) + of_model);
    });
    Measurement result;
    result.predicted = fmt::format("exponents from {} to {}", root, linear);
    result.measured = fmt::format("from {:.2f} to {:.2f}; {} of {} runs so", smallest, largest, as_stated, runs);
    result.tolerance = fmt::format("{}; corrected: below {}", near, most);
    result.verdict = verdict_of(as_stated == runs, largest < most);
    result.note = fmt::format(
        "slope of log |x| over log l from a quarter of the blocks on, one layer a block, r0 = {}, n = {}; Pre-LN and "
        "Peri-LN without a mask, then under a causal one, by model: {}",
        short_start, crowd, seen);
    if (std::isnan(largest)) {
        result.measured = fmt::format("no exponent in some model; {} of {} runs so", as_stated, runs);
        result.verdict = Verdict::undecided;
        result.note += "; fewer than three blocks, or a run that failed, have none";
    }
    return result;
}

// Mean over tokens of |theta'| |x| under Peri-LN, in the middle of a block. A branch has length 1: this is the share of
// it that is across the token.
double share_across(const dynamics::Settings& s, const dynamics::Particles& particles, std::size_t block) {
    dynamics::Problem problem = dynamics::problem_of(s, scheme::find_scheme("peri-ln").program);
    problem.start = particles.x();
    problem.attention.weights = [&s, block](std::size_t, std::size_t) { return s.trained->at(block); };
    const dynamics::Velocities now = dynamics::velocities(problem);
    double sum = 0;
    for (std::size_t j = 0; j < now.r.size(); ++j) {
        sum += measure::length(now.turn.data() + j * s.dim, s.dim) * now.r[j];
    }
    return sum / static_cast<double>(now.r.size());
}

Measurement trained_movement(const Context& context) {
    const double stated = context.predict("share", 0.8);
    double least = HUGE_VAL;
    std::string seen;
    over_models(context, [&](const Context& part, const std::string& model) {
        dynamics::Settings s = under_weights_of(part, model, context.size<std::size_t>(1, 4));
        const double blocks = s.time;
        s.time *= passes;
        s.samples = 2 * static_cast<std::size_t>(s.time) + 1;  // twice a block: at its ends and in its middle
        double sum = 0;                                        // over the blocks of a pass
        double first = 0;
        double last = 0;
        std::size_t halves = 0;  // of a block gone through; times of samples are rounded
        const auto look = [&](const dynamics::Sample&, const dynamics::Particles& particles) {
            if (halves % 2 == 1) {
                sum += share_across(s, particles, halves / 2) / blocks;
            } else if (halves > 0 && halves % (2 * s.trained->blocks) == 0) {
                last = std::exchange(sum, 0);
                first = first == 0 ? last : first;
                least = measure::smaller(least, last);
            }
            ++halves;
        };
        const dynamics::Sample end =
            run_particles(part, s, scheme::find_scheme("peri-ln").program, look).samples.back();
        add_to(seen, fmt::format("{} {:.3f} and {:.3f} (1 - cosine = {:.2g}, |x| = {:.3g})", without_prefix(model),
                                 first, last, end.one_minus_cosine, end.radius));
    });
    Measurement result;
    result.predicted = fmt::format("at least {} of 1/|x|", stated);
    result.measured = least;
    result.tolerance = fmt::format("in every model and each of {} passes", passes);
    result.verdict = verdict_of(least > stated);
    result.note = fmt::format(
        "mean of |theta'| |x| over tokens and the blocks of a pass; in the first and in the last of {} passes, by "
        "model: "
        "{}; n = {}, thin layers",
        passes, seen, crowd);
    return result;
}

// Tokens of nGPT that have met: how fast they turn, beside identity weights, where they stand.
Measurement trained_consensus(const Context& context) {
    const double least = context.predict("speed", 0.5);
    double slowest = HUGE_VAL;
    std::size_t together = 0;
    std::size_t models = 0;
    std::string seen;
    double standing = 0;
    over_models(context, [&](const Context& part, const std::string& model) {
        dynamics::Settings s = under_weights_of(part, model, 1);
        s.time *= passes;
        const dynamics::Sample last = run_scheme(part, s, "ngpt").samples.back();
        ++models;
        if (last.one_minus_cosine < met) {
            ++together;
            slowest = measure::smaller(slowest, last.speed);
        }
        add_to(seen, fmt::format("{} {:.2f} at {:.0e}", without_prefix(model), last.speed, last.one_minus_cosine));
        dynamics::Settings identity;
        identity.tokens = s.tokens;
        identity.dim = s.dim;
        identity.seed = s.seed;
        identity.until = dynamics::parse_until(fmt::format("one_minus_cosine<{}", met));
        identity.time = 100;
        identity.samples = 2;
        standing = measure::larger(standing, run_scheme(part, identity, "ngpt").samples.back().speed);
    });
    Measurement result;
    result.predicted = fmt::format("at least {} a block", least);
    result.measured = slowest;
    result.tolerance = fmt::format("in every model where 1 - cosine < {}, half of them or more", met);
    result.verdict = verdict_of(slowest > least && 2 * together >= models && standing < least / 5);
    result.note = fmt::format(
        "speed of nGPT's tokens and 1 - cosine after {} passes through the blocks, by model: {}; with identity weights "
        "(beta = 1) {:.2g} where 1 - cosine = {}",
        passes, seen, standing, met);
    if (together == 0) {
        result.measured = "tokens met in no model";
        result.verdict = Verdict::undecided;
    }
    return result;
}

Claim trained_claim(const char* id, const char* statement, Verdict expected, const char* note,
                    Measurement (*experiment)(const Context&), double cost) {
    Claim claim{id, statement, "finding", expected, note, experiment, cost};
    claim.of_one_model = true;
    return claim;
}

}  // namespace

std::vector<Claim> dynamics_trained_claims() {
    return {
        trained_claim(
            "dynamics-trained-early",
            "Under the weights of the shipped models, as under random ones, nGPT and Peri-LN turn tokens first.",
            Verdict::holds,
            "while branches are short beside the stream, which is a matter of r0 and of the model: at r0 = 1, without "
            "gains, "
            "the slower of the two turns 0.43 times as fast as the others under SmolLM2-135M and 1.16 times under "
            "Gemma 3 270M",
            trained_early, 5),
        trained_claim(
            "dynamics-trained-late",
            "Under the weights of the shipped models, as under random ones, Post-LN and nGPT collapse in the end and "
            "the other "
            "four more slowly.",
            Verdict::holds_corrected,
            "nGPT does. How fast Post-LN moves depends on the length of the branch, which Peri-LN norms. After four "
            "passes through a model Post-LN is ahead of Peri-LN under weights whose blocks turn its tokens by more "
            "than 0.2 each at the start (those of models that norm the stream in every block); under weights whose "
            "blocks turn them by less than 0.035 (those of Pre-LN and Peri-LN models) its tokens have hardly moved",
            trained_late, 20),
        trained_claim("dynamics-trained-growth",
                      "Through the blocks of the shipped models the stream of Pre-LN and Peri-LN grows like t, or like "
                      "sqrt t as with new weights in every layer.",
                      Verdict::holds_corrected,
                      "more slowly than t in each of them, and in most than sqrt t: blocks take back what others "
                      "wrote, and under some models' weights the stream gets shorter. That is no law of trained "
                      "weights: exponents are 0.68 to 0.83 under Gemma 3 270M and 0.76 to 1.25 under SmolLM2-135M",
                      trained_growth, 5),
        trained_claim("dynamics-trained-movement",
                      "Under the weights of the shipped models a token of Peri-LN turns at nearly 1/|x| a block, early "
                      "and late, also after "
                      "tokens have met: what a branch adds is across the token.",
                      Verdict::holds,
                      "early movement survives, and so does the slowing down by growth; that clustering itself stops "
                      "tokens, as with identity weights, does not",
                      trained_movement, 10),
        trained_claim("dynamics-trained-consensus",
                      "Under the weights of the shipped models tokens that have met do not stand still, as they do "
                      "with identity weights: "
                      "they turn together from block to block.",
                      Verdict::holds, "", trained_consensus, 10)};
}

}  // namespace flyball::claims
