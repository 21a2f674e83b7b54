#include "check/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/number.hpp"
#include "core/unreachable.hpp"

namespace flyball::check {

namespace {

constexpr double of_one_size = 1.25;  // factors over all blocks below this are no story
constexpr double hardly_a_story = 4;  // beyond it a stream without a law is told by its factor

std::string with_capital(std::string text) {
    if (!text.empty()) {
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    }
    return text;
}

// "grows like the square root of depth (root mean square 1.2 after the first and 6.9 after the last of 24 blocks)"
std::string stream_words(const BlockReport& block) {
    const DepthCurve& own = block.beginning.own;
    const auto number = [](double value) {
        return std::isfinite(value) ? format_short(value, 2) : std::string("no finite number");
    };
    return fmt::format("{} (root mean square {} after the first and {} after the last of {} blocks)",
                       growth_words(block), number(own.stream[1]), number(own.stream.back()), own.depth);
}

// "the gradient at the first block is 5 times that at the last". None behind the last block: the readout is of another
// stream.
std::string gradient_words(const BlockReport& block) {
    const DepthCurve& own = block.beginning.own;
    if (own.gradient[1] == 0) {
        return "no gradient reaches the first block";
    }
    if (own.gradient.back() == 0) {
        return "no gradient reaches x behind the last block";
    }
    const double ratio = own.gradient_ratio();
    return std::isfinite(ratio)
               ? fmt::format("the gradient at the first block is {} times that at the last", format_short(ratio, 2))
               : std::string("the gradients are not finite");
}

// "loss 3.02 after 300 steps", "training fails after 12 steps, because the stream exploded"
std::string run_words(const ShortRun& run) {
    return run.failed() ? fmt::format("training fails after {} {}, because {}", run.losses.size(),
                                      run.losses.size() == 1 ? "step" : "steps", outcome_words(run.outcome))
                        : fmt::format("loss {:.2f} after {} steps", run.last, run.losses.size());
}

// " At 24 blocks: loss 3.82 after 300 steps, from 4.04 at the start; pre-ln: loss 3.01 after 300 steps; .."
std::string runs_sentence(const BlockReport& block, const PreflightReport& report) {
    const ShortRun& run = block.runs.back();
    std::string text = run.failed() ? fmt::format(" At {} blocks its {}", run.depth, run_words(run))
                                    : fmt::format(" After {} steps at {} blocks its loss is {:.2f}", run.losses.size(),
                                                  run.depth, run.last);
    text += fmt::format(", from {:.2f} at the start", run.first);
    std::string others;
    for (const BlockReport& yardstick : report.yardsticks) {
        if (yardstick.block.scheme.name != block.block.scheme.name) {
            others += fmt::format("{}{}: {}", others.empty() ? "" : "; ", yardstick.block.scheme.name,
                                  run_words(yardstick.runs.back()));
        }
    }
    return text + fmt::format(" ({}).", others);
}

// What may help, in the imperative. Only what the finding is about: a stream that a factor on x shrinks is not helped
// by smaller matrices.
std::string remedy_of(const std::string& id) {
    if (id == "stream-shrinks-exponentially" || id == "stream-vanishes") {
        return "take away the factor below 1 on x, or norm what a branch adds, so that it does not shrink with the "
               "stream";
    }
    if (id == "stream-is-overwritten") {
        return "make branches smaller beside x, by a factor on either or by matrices that start smaller";
    }
    if (id == "gradient-explodes" || id == "gradient-vanishes") {
        return "carry x on from block to block without a factor or a norm, norm what a branch adds, or start its "
               "matrices smaller";
    }
    return "norm what a branch adds, start its matrices smaller, or take away a factor above 1 on x";
}

// What to do about the gravest finding.
std::string remedy(const BlockReport& block) {
    const Severity severity = block.findings.empty() ? Severity::note : block.findings.front().severity;
    const bool is_smaller = block.suggested_dt && *block.suggested_dt < block.block.settings.dt;
    switch (severity) {
        case Severity::note:
            return "Nothing here speaks against a larger run." +
                   (is_smaller && *block.suggested_dt < 0.5 * block.block.settings.dt
                        ? fmt::format(" If the stream should stay near unit size, dt = {:.2g} does it.",
                                      *block.suggested_dt)
                        : std::string());
        case Severity::caution:
            return "It can be tried; look at what is said above first, and at the loss of the first steps.";
        case Severity::unstable: {
            const std::string change = remedy_of(block.findings.front().id);
            const std::string what =
                is_smaller ? fmt::format(
                                 "With a residual step of dt = {:.2g} the stream of a fresh model stays near "
                                 "unit size. If that is not enough, {}.",
                                 *block.suggested_dt, change)
                           : with_capital(change) + ".";
            return "Do not train it at this size as it is. " + what;
        }
        case Severity::malformed:
            return "Correct the text before anything else: it does not say what it was written for.";
    }
    unreachable();
}

const char* motion_words(double velocity) {
    return velocity > 0 ? "draws tokens together" : velocity < 0 ? "drives them apart" : "does not turn them";
}

}  // namespace

std::string outcome_words(train::Outcome outcome) {
    switch (outcome) {
        case train::Outcome::done:
            return "it was done";
        case train::Outcome::interrupted:
            return "it was interrupted";
        case train::Outcome::nan:
            return "a number is no longer finite";
        case train::Outcome::exploded:
            return "the stream exploded";
        case train::Outcome::spike:
            return "the loss jumped far above its best";
    }
    unreachable();
}

std::string growth_words(const BlockReport& block) {
    const DepthLaw& law = block.beginning.stream;
    if (!block.beginning.finite() && !law.is_exponential()) {
        return fmt::format("is not finite in every model of up to {} blocks", block.beginning.curves.back().depth);
    }
    if (law.is_exponential()) {
        return law.falls ? "shrinks exponentially" : "grows exponentially";
    }
    if (law.vanishes) {
        return "becomes too small for 32-bit numbers";
    }
    const std::string growth = block.growth();
    if (growth == "exponential") {
        return "grows exponentially with the number of blocks of the model";
    }
    if (growth == "sqrt") {
        return "grows like the square root of depth";
    }
    if (growth == "linear") {
        return "grows in proportion to depth";
    }
    if (law.factor < of_one_size) {
        return "stays of one size";
    }
    if (law.falls) {
        return "shrinks, but not exponentially";
    }
    return law.factor < hardly_a_story ? "hardly grows" : "grows by no law of depth";
}

std::string advice(const BlockReport& block, const PreflightReport& report) {
    const BlockReport& peri = report.yardsticks.back();
    // Peri-LN itself is not compared with Peri-LN, but with the other yardstick.
    const bool is_peri = block.block.scheme.name == peri.block.scheme.name;
    const BlockReport& beside = is_peri ? report.yardsticks.front() : peri;
    const std::string other = is_peri ? "Pre-LN" : "Peri-LN";
    std::string text = fmt::format(
        "Beside {} your block has a stream that {}, where {}'s {}. In your block {}; in {} {}.", other,
        stream_words(block), other, stream_words(beside), gradient_words(block), other, gradient_words(beside));
    if (!block.runs.empty()) {
        text += runs_sentence(block, report);
    }
    if (!block.findings.empty() && block.findings.front().severity != Severity::note) {
        text += " " + block.findings.front().message;
    }
    return text + " " + remedy(block);
}

std::string difference(const BlockReport& a, const BlockReport& b) {
    const std::string first = a.block.scheme.name;
    const std::string second = b.block.scheme.name;
    std::string text = fmt::format("{} is {}, {} is {}.", first, name(a.verdict), second, name(b.verdict));
    text += fmt::format(" At the start the stream of {} {}; that of {} {}.", first, stream_words(a), second,
                        stream_words(b));
    text += fmt::format(" In {} {}; in {} {}.", first, gradient_words(a), second, gradient_words(b));
    const std::string bound_a = a.beginning.bound.words();
    const std::string bound_b = b.beginning.bound.words();
    text += " How large could the stream become with other weights?";
    text += bound_a == bound_b
                ? fmt::format(" The limit is the same in both: {}.", bound_a)
                : fmt::format(" The limit in {}: {}. The limit in {}: {}.", first, bound_a, second, bound_b);
    if (a.motion.problem.empty() && b.motion.problem.empty()) {
        const double velocity_a = a.motion.initial_velocity;
        const double velocity_b = b.motion.initial_velocity;
        text += velocity_a > 0 && velocity_b > 0
                    ? fmt::format(" As particles, {} turns tokens {} times as fast as {} at the start.", second,
                                  format_short(velocity_b / velocity_a, 2), first)
                    : fmt::format(" As particles at the start, {} {}, and {} {}.", first, motion_words(velocity_a),
                                  second, motion_words(velocity_b));
    }
    text += fmt::format(" In training at {} blocks: {}: {}; {}: {}.", a.runs.back().depth, first,
                        run_words(a.runs.back()), second, run_words(b.runs.back()));
    return text;
}

}  // namespace flyball::check
