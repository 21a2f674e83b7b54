// From measurements to findings: thresholds, sentences, a suggested dt, a verdict.
#include "check/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "check/structure.hpp"
#include "check/trial.hpp"
#include "core/number.hpp"
#include "core/parallel.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::check {

namespace {

// Over 96 blocks. Below the first, schemes that are trained every day differ too (Peri-LN 40, OLMo 2's block 80);
// beyond the second, with the shape of an exponential, nothing is left of a gradient in a model not much deeper.
constexpr double uneven_gradient = 200;
constexpr double lost_gradient = 1000;
constexpr double hopeless_gradient = 1e6;  // whatever the shape
// Of what the first block said, at the end; and of the stream, after one block. A fresh Post-LN keeps two thirds a
// block.
constexpr double faint_memory = 1e-2;
constexpr double lost_in_a_block = 0.25;
constexpr double tamed = 1.2;  // logarithm of a factor over all blocks that is none to fear
constexpr double idle_turn = 1e-3;
constexpr double slow_share = 0.8;  // of what the slower yardstick learns
// Powers of depth: roots of a sum of 1/l have 0.2 over 96 blocks, roots 1/2, lines 1.
constexpr double hardly_grows = 0.25;
constexpr double between_root_and_line = 0.75;
constexpr double pi = 3.14159265358979323846;

bool uses_dt(const scheme::Program& program) {
    for (const scheme::SubLayer sub_layer : {scheme::SubLayer::attention, scheme::SubLayer::feed_forward}) {
        for (const scheme::Statement& statement : program.statements(sub_layer)) {
            if (mentions(*statement.value, {scheme::Quantity::dt})) {
                return true;
            }
        }
    }
    return false;
}

// Steps that keep what 2L branches add of the size of a stream of unit root mean square: random branches add up by
// squares, so that dt = 1/(s sqrt(2L)) with s the size of one; a stream that multiplies wants its rate times L below 1.
std::optional<double> suggested_step(const BlockReport& report, const train::Corpus& corpus) {
    const double dt = report.block.settings.dt;
    if (!uses_dt(report.block.scheme.program)) {
        return std::nullopt;
    }
    if (!report.beginning.finite()) {
        return std::nullopt;
    }
    const auto layers = static_cast<double>(report.block.settings.depth);
    const double rate = std::max(report.beginning.stream.is_exponential() ? report.beginning.stream.rate : 0,
                                 report.beginning.rate_over_models());
    if (rate > 0) {
        // Only a rate that comes from the branches becomes smaller with dt: try it.
        Candidate slower = report.block;
        slower.settings.dt = dt * std::min(1.0, 1 / (rate * layers));
        const Beginning tried = beginning(slower.scheme, slower.settings, corpus);
        const double before = std::abs(std::log(report.beginning.own.stream_factor()));
        const double after = std::abs(std::log(tried.own.stream_factor()));
        const bool helps = tried.finite() && after < std::max(tamed, 0.6 * before);
        return helps ? std::optional<double>(slower.settings.dt) : std::nullopt;
    }
    const std::vector<double>& stream = report.beginning.own.stream;
    const double added = stream.back() * stream.back() - stream.front() * stream.front();
    if (report.growth() == "bounded" || added <= 0) {
        return dt;
    }
    return dt * std::min(1.0, 1 / std::sqrt(added));
}

// Streams and gradients of fresh models: not finite, exponential in the deepest model's depth or from model to model,
// gradients lost or uneven. Thresholds are at the top, with what ordinary schemes have.
void look_at_beginning(const BlockReport& report, std::vector<Finding>& findings) {
    const Beginning& beginning = report.beginning;
    const DepthCurve& deepest = beginning.curves.back();
    const std::size_t depth = report.block.settings.depth;
    if (!beginning.finite()) {
        const auto first = std::find_if(beginning.curves.begin(), beginning.curves.end(),
                                        [](const DepthCurve& curve) { return !curve.finite; });
        const std::size_t at = first != beginning.curves.end() ? first->depth : depth;
        findings.push_back({"not-finite-at-start", Severity::unstable,
                            fmt::format("A fresh model of {} blocks already has numbers that are not finite.", at),
                            "a pass forward and back with fresh weights", static_cast<double>(at)});
        return;
    }
    if (beginning.stream.is_exponential()) {
        const double factor = beginning.own.stream_factor();
        findings.push_back(
            {beginning.stream.falls ? "stream-shrinks-exponentially" : "stream-grows-exponentially", Severity::unstable,
             fmt::format("The stream of a fresh model {} by {} % a block, exponentially: {} blocks make a factor of "
                         "{}.",
                         beginning.stream.falls ? "shrinks" : "grows",
                         format_short(beginning.stream.percent_a_block(), 2), depth,
                         format_short(beginning.stream.falls ? 1 / factor : factor, 2)),
             fmt::format("root mean square {} after the first and {} after the last of {} blocks",
                         format_short(deepest.stream[1], 3), format_short(deepest.stream.back(), 3), deepest.depth),
             beginning.stream.rate});
    }
    if (const double rate = beginning.rate_over_models(); rate > 0 && !beginning.stream.is_exponential()) {
        findings.push_back({"stream-grows-exponentially", Severity::unstable,
                            fmt::format("The deeper the model, the longer its stream, exponentially: every block more "
                                        "makes it {:.2g} % longer.",
                                        100 * std::expm1(rate)),
                            fmt::format("root mean square {} at the end of {} blocks and {} at the end of {}",
                                        format_short(beginning.own.stream.back(), 3), depth,
                                        format_short(deepest.stream.back(), 3), deepest.depth),
                            rate});
    }
    const double ratio = deepest.gradient_ratio();
    const std::string evidence = fmt::format(
        "length of the gradient {} at the first and {} at the last of {} blocks; {} and {} in a model of {}",
        format_short(deepest.gradient[1], 3), format_short(deepest.gradient.back(), 3), deepest.depth,
        format_short(beginning.own.gradient[1], 3), format_short(beginning.own.gradient.back(), 3), depth);
    if (deepest.gradient[1] == 0) {
        findings.push_back({"gradient-vanishes", Severity::unstable,
                            "No gradient reaches the first block of a fresh model: it cannot learn.", evidence, 0});
    } else if (beginning.gradient.factor > (beginning.gradient.is_exponential() ? lost_gradient : hopeless_gradient)) {
        const double own = beginning.own.gradient_ratio();
        findings.push_back({beginning.gradient.falls ? "gradient-vanishes" : "gradient-explodes", Severity::unstable,
                            fmt::format("On its way back the gradient of a fresh model {} by {} % a block: "
                                        "first and last block of {} differ by a factor of {}.",
                                        beginning.gradient.falls ? "shrinks" : "grows",
                                        format_short(beginning.gradient.percent_a_block(), 2), depth,
                                        format_short(beginning.gradient.falls ? 1 / own : own, 2)),
                            evidence, ratio});
    } else if (beginning.gradient.factor > uneven_gradient) {
        findings.push_back({"gradient-uneven", Severity::caution,
                            fmt::format("Gradients at the first block of a fresh model are {} times those at the "
                                        "last: blocks learn at very different speeds without an optimiser that "
                                        "rescales.",
                                        format_short(ratio, 2)),
                            evidence, ratio});
    }
}

// How much of what early blocks have said is left at the end. Only where x is all there is: another stream may hold it.
void look_at_memory(const BlockReport& report, std::vector<Finding>& findings) {
    const Beginning& beginning = report.beginning;
    const double left = beginning.own.memory.back();
    if (!beginning.finite() || report.block.scheme.program.stream_count() > 1 || !beginning.memory.is_exponential() ||
        left > faint_memory) {
        return;
    }
    const double rate = -std::log(beginning.own.memory.back()) / static_cast<double>(beginning.own.depth);
    findings.push_back(
        {"stream-is-overwritten", std::exp(-rate) < lost_in_a_block ? Severity::unstable : Severity::caution,
         fmt::format(
             "Branches overwrite the stream: each block of a fresh model replaces {:.0f} % of it, so that after "
             "{} blocks {:.1g} of what the first one said is left.",
             100 * -std::expm1(-rate), beginning.own.depth, left),
         fmt::format("product of the cosines of all turns; a block turns the stream by {:.0f} degrees",
                     std::acos(std::exp(-rate)) * 180 / pi),
         left});
}

// Blocks at the end that hardly turn the stream beside those at the beginning.
void look_at_turns(const BlockReport& report, std::vector<Finding>& findings) {
    const std::vector<double>& turn = report.beginning.own.turn;
    const std::size_t quarter = turn.size() / 4;
    if (!report.beginning.finite() || quarter == 0) {
        return;
    }
    const auto mean = [&](std::size_t first) {
        return std::accumulate(turn.begin() + static_cast<std::ptrdiff_t>(first),
                               turn.begin() + static_cast<std::ptrdiff_t>(first + quarter), 0.0) /
               static_cast<double>(quarter);
    };
    const double early = mean(0);
    const double late = mean(turn.size() - quarter);
    if (early > 1e-3 && late < idle_turn * early) {
        findings.push_back(
            {"late-blocks-are-idle", Severity::caution,
             fmt::format("The last blocks of a fresh model do nothing: they turn the stream {:.1g} times "
                         "as far as the first ones. The model is as deep as its first blocks.",
                         late / early),
             fmt::format("mean turn of the first {0} blocks {1:.2g} radians, of the last {0} {2:.2g}", quarter, early,
                         late),
             late / early});
    }
}

// The same text under its name in the catalogue may have another start.
void look_at_name(const BlockReport& report, std::vector<Finding>& findings) {
    const scheme::Scheme& scheme = report.block.scheme;
    const scheme::CatalogueEntry* const entry =
        scheme.entry == nullptr ? scheme::entry_of_equation(scheme.program.text()) : nullptr;
    if (entry != nullptr && report.block.settings.init.empty()) {
        findings.push_back({"known-equation", Severity::note,
                            fmt::format("This is the equation of {0}. By that name it starts as its source says ({1}); "
                                        "as an equation all matrices start with the usual deviation.",
                                        entry->name, scheme::describe(entry->recipe.initialisation)),
                            fmt::format("the same text as {}", entry->name), 0});
    }
}

// A run that fails, one that ends above its start, and one that gains less than 0.8 of what the slower yardstick gains.
void look_at_runs(const BlockReport& report, const std::vector<BlockReport>& yardsticks,
                  std::vector<Finding>& findings) {
    for (std::size_t i = 0; i < report.runs.size(); ++i) {
        const ShortRun& run = report.runs[i];
        if (run.failed() || !std::isfinite(run.last)) {
            findings.push_back({"training-fails", Severity::unstable,
                                fmt::format("Training at {} blocks ends after {} steps: {}.", run.depth,
                                            run.losses.size(), train::name(run.outcome)),
                                fmt::format("loss {:.3f} at the start", run.first),
                                static_cast<double>(run.losses.size())});
            continue;
        }
        if (run.last > run.first) {
            findings.push_back(
                {"training-gets-worse", Severity::unstable,
                 fmt::format("A short training run at {} blocks ends above the loss it began with.", run.depth),
                 fmt::format("loss {:.3f} at the start and {:.3f} at the end of {} steps", run.first, run.last,
                             run.losses.size()),
                 run.last - run.first});
            continue;
        }
        double slower = HUGE_VAL;
        for (const BlockReport& yardstick : yardsticks) {
            slower = std::min(slower, yardstick.runs[i].gain());
        }
        if (run.gain() < slow_share * slower) {
            findings.push_back(
                {"slow-start", Severity::caution,
                 fmt::format("It starts slowly: at {} blocks a short training run takes the loss down by "
                             "{:.2f}, where {} and {} take it down by {:.2f} and {:.2f}.",
                             run.depth, run.gain(), yardsticks[0].block.scheme.name, yardsticks[1].block.scheme.name,
                             yardsticks[0].runs[i].gain(), yardsticks[1].runs[i].gain()),
                 fmt::format("loss {:.3f} at the start and {:.3f} at the end of {} steps", run.first, run.last,
                             run.losses.size()),
                 run.gain() / slower});
        }
    }
}

// The order of a report: gravest first, otherwise as found.
void conclude(BlockReport& report, const train::Corpus& corpus) {
    std::stable_sort(report.findings.begin(), report.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    report.verdict = verdict_of(report.findings);
    report.suggested_dt = suggested_step(report, corpus);
}

}  // namespace

std::string BlockReport::growth() const {
    if (!beginning.finite() || beginning.stream.is_exponential() || beginning.rate_over_models() > 0) {
        return "exponential";
    }
    const measure::Growth& law = beginning.stream.growth;
    if (beginning.stream.falls || law.kind == measure::GrowthClass::bounded ||
        law.kind == measure::GrowthClass::unknown || law.exponent < hardly_grows) {
        return "bounded";
    }
    // A law may fit best and still not be the one: a logarithm is next to a straight line. The power of depth decides.
    return law.exponent < between_root_and_line ? "sqrt" : "linear";
}

// Blocks and yardsticks go the same way, so that every number has one beside it; structure and motion are for blocks
// alone. Short runs come last, all together, since they share the threads among them.
PreflightReport preflight(const std::vector<scheme::Scheme>& blocks, const Settings& settings,
                          const PreflightWatch& watch) {
    check(settings);
    const StopOn stop(watch.stop);
    PreflightReport report;
    std::vector<Candidate> candidates;
    for (const scheme::Scheme& block : blocks) {
        candidates.push_back({block, settings});
    }
    for (const char* name : {"pre-ln", "peri-ln"}) {
        Settings usual = settings;
        usual.init.clear();
        candidates.push_back({scheme::find_scheme(name), usual});
    }
    const auto tell = [&](double share) {
        if (watch.progress) {
            watch.progress(share);
        }
    };
    const train::Corpus corpus = check_corpus(settings);
    std::vector<BlockReport> all(candidates.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        BlockReport& one = all[i];
        one.block = candidates[i];
        if (i < blocks.size()) {
            one.findings = structure(trained_program(one.block.scheme, settings), settings);
            one.motion = motion_of(one.block.scheme, settings);
        }
        one.beginning = beginning(one.block.scheme, one.block.settings, corpus);
        check_stop();
        tell(0.4 * static_cast<double>(i + 1) / static_cast<double>(all.size()));
    }
    const std::vector<ShortRun> runs = short_runs(
        candidates, [&](double share) { tell(0.4 + 0.6 * share); }, watch.stop);
    const std::size_t depths = trained_depths(settings).size();
    for (std::size_t i = 0; i < runs.size(); ++i) {
        all[i / depths].runs.push_back(runs[i]);
    }
    report.yardsticks.assign(all.begin() + static_cast<std::ptrdiff_t>(blocks.size()), all.end());
    report.blocks.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(blocks.size()));
    for (BlockReport& one : report.blocks) {
        for (Finding& finding : findings_of(one.motion, one.block.scheme.program)) {
            one.findings.push_back(std::move(finding));
        }
        look_at_beginning(one, one.findings);
        look_at_memory(one, one.findings);
        look_at_turns(one, one.findings);
        look_at_name(one, one.findings);
        look_at_runs(one, report.yardsticks, one.findings);
        conclude(one, corpus);
    }
    return report;
}

}  // namespace flyball::check
