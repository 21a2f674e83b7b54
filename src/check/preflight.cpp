// From measurements to findings: thresholds, sentences, a suggested dt, a verdict.
#include "check/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "check/advice.hpp"
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
constexpr double tamed = 1.2;  // logarithm of a factor over all blocks that leaves a stream near the size it has
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
// None where a stream vanishes or multiplies whatever the step is.
std::optional<double> suggested_step(const BlockReport& report, const train::Corpus& corpus) {
    const double dt = report.block.settings.dt;
    if (!uses_dt(report.block.scheme.program)) {
        return std::nullopt;
    }
    const bool has_law = report.beginning.stream.is_exponential();
    if ((!report.beginning.finite() || report.beginning.stream.vanishes) && !(report.beginning.own.finite && has_law)) {
        return std::nullopt;
    }
    const auto layers = static_cast<double>(report.block.settings.depth);
    const double rate = std::max(has_law ? report.beginning.stream.rate : 0, report.beginning.rate_over_models());
    const std::vector<double>& stream = report.beginning.own.stream;
    const double added = stream.back() * stream.back() - stream.front() * stream.front();
    if (rate > 0) {
        // Only what comes from the branches becomes smaller with dt: try it.
        for (const double share : {1 / (rate * layers), 1 / std::sqrt(std::max(added, 1.0))}) {
            Candidate slower = report.block;
            slower.settings.dt = dt * std::min(1.0, share);
            const DepthCurve tried = measured_depth(slower.scheme, slower.settings, corpus, report.beginning.own.depth);
            if (tried.finite && std::abs(std::log(tried.stream_factor())) < tamed &&
                tried.stream.back() < std::exp(tamed) * std::max(1.0, tried.stream.front())) {
                return slower.settings.dt;
            }
        }
        return std::nullopt;
    }
    if (report.growth() == "bounded" || added <= 0) {
        return dt;
    }
    return dt * std::min(1.0, 1 / std::sqrt(added));
}

// A stream that every block multiplies, or that becomes too small for a float by any other law.
void look_at_stream(const BlockReport& report, std::vector<Finding>& findings) {
    const Beginning& beginning = report.beginning;
    const DepthLaw& law = beginning.stream;
    const DepthCurve& deepest = beginning.curves.back();
    const std::size_t depth = report.block.settings.depth;
    const DepthLaw own = law_of({beginning.own.stream.begin() + 1, beginning.own.stream.end()}, least_held);
    const std::string begin = fmt::format("root mean square {} after the first", format_short(deepest.stream[1], 3));
    const std::string beyond = law.falls ? "too small for 32-bit numbers" : "too large for 32-bit numbers";
    if (law.is_exponential()) {
        const double factor = beginning.own.stream_factor();
        findings.push_back(
            {law.falls ? "stream-shrinks-exponentially" : "stream-grows-exponentially", Severity::unstable,
             fmt::format("The stream of a fresh model {} by {} % a block, exponentially: {}.",
                         law.falls ? "shrinks" : "grows", format_short(law.percent_a_block(), 2),
                         own.held < depth ? fmt::format("after block {} of {} it is {}", own.held, depth, beyond)
                                          : fmt::format("from the first to the last of {} blocks by a factor of {}",
                                                        depth, format_short(law.falls ? 1 / factor : factor, 2))),
             law.held < deepest.depth
                 ? fmt::format("{} and {} after block {} of {}; after that it is {}", begin,
                               format_short(deepest.stream[law.held], 3), law.held, deepest.depth, beyond)
                 : fmt::format("{} and {} after the last of {} blocks", begin, format_short(deepest.stream.back(), 3),
                               deepest.depth),
             law.rate});
    } else if (law.vanishes && report.block.scheme.program.stream_count() == 1) {  // another stream may hold it
        findings.push_back({"stream-vanishes", Severity::unstable,
                            fmt::format("The stream of a fresh model of {} blocks becomes too small for 32-bit "
                                        "numbers in block {}: what blocks before it have said is lost.",
                                        deepest.depth, law.held + 1),
                            law.held == 0 ? "root mean square 0 after the first block"
                                          : fmt::format("{} and {} after block {}", begin,
                                                        format_short(deepest.stream[law.held], 3), law.held),
                            static_cast<double>(law.held + 1)});
    }
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
        findings.push_back(
            {"not-finite-at-start", Severity::unstable,
             fmt::format("A fresh model of {} blocks has numbers that are not finite, before any training.", at),
             "a pass forward and back with fresh weights", static_cast<double>(at)});
        look_at_stream(report, findings);
        return;
    }
    look_at_stream(report, findings);
    if (const double rate = beginning.rate_over_models(); rate > 0 && !beginning.stream.is_exponential()) {
        // Of the deepest model and another one: the block's own depth may be the deepest.
        const DepthCurve& other = depth != deepest.depth ? beginning.own : beginning.curves.front();
        const std::string lengths = fmt::format("root mean square {} at the end of {} blocks and {} at the end of {}",
                                                format_short(other.stream.back(), 3), other.depth,
                                                format_short(deepest.stream.back(), 3), deepest.depth);
        findings.push_back({"stream-grows-exponentially", Severity::unstable,
                            fmt::format("The deeper the model, the longer its stream, exponentially: every block more "
                                        "makes it {:.2g} % longer.",
                                        100 * std::expm1(rate)),
                            lengths, rate});
    }
    const double ratio = deepest.gradient_ratio();
    const double own_ratio = beginning.own.gradient_ratio();
    const DepthLaw& law = beginning.gradient;
    std::string evidence =
        fmt::format("length of the gradient {} at the first and {} at the last of {} blocks",
                    format_short(deepest.gradient[1], 3), format_short(deepest.gradient.back(), 3), deepest.depth);
    if (depth != deepest.depth) {
        evidence += fmt::format("; {} and {} in a model of {}", format_short(beginning.own.gradient[1], 3),
                                format_short(beginning.own.gradient.back(), 3), depth);
    }
    if (beginning.own.gradient[1] == 0 || (deepest.gradient[1] == 0 && !law.is_exponential())) {
        const std::size_t blocks = beginning.own.gradient[1] == 0 ? depth : deepest.depth;
        findings.push_back(
            {"gradient-vanishes", Severity::unstable,
             law.is_exponential()
                 ? fmt::format("On its way back the gradient of a fresh model shrinks by {} % a block, until 32-bit "
                               "numbers no longer hold it: none reaches the first of {} blocks, which cannot learn.",
                               format_short(law.percent_a_block(), 2), blocks)
                 : fmt::format("No gradient reaches the first block of a fresh model of {} blocks: it cannot learn.",
                               blocks),
             evidence, 0});
    } else if (law.factor > (law.is_exponential() ? lost_gradient : hopeless_gradient)) {
        findings.push_back({law.falls ? "gradient-vanishes" : "gradient-explodes", Severity::unstable,
                            fmt::format("On its way back the gradient of a fresh model {} by {} % a block: "
                                        "first and last block of {} differ by a factor of {}.",
                                        law.falls ? "shrinks" : "grows", format_short(law.percent_a_block(), 2), depth,
                                        format_short(law.falls ? 1 / own_ratio : own_ratio, 2)),
                            evidence, ratio});
    } else if (law.factor > uneven_gradient) {
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
             fmt::format("The last blocks of a fresh model do next to nothing: they turn the stream {}. The model is "
                         "as deep as its first blocks.",
                         late == 0 ? std::string("not at all")
                                   : fmt::format("{:.1g} times as far as the first ones", late / early)),
             fmt::format("mean turn {1:.2g} radians in the first {0} blocks and {2:.2g} in the last {0}", quarter,
                         early, late),
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
                                fmt::format("Training at {} blocks ends after {} {}: {}.", run.depth, run.losses.size(),
                                            run.losses.size() == 1 ? "step" : "steps", outcome_words(run.outcome)),
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
    if (!beginning.finite() || beginning.stream.is_exponential() || beginning.stream.vanishes ||
        beginning.rate_over_models() > 0) {
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
