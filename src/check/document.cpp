#include "check/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"

namespace flyball::check {

namespace {

Json curve_json(const DepthCurve& curve) {
    Json json = Json::object();
    json["depth"] = curve.depth;
    json["stream"] = curve.stream;
    json["gradient"] = curve.gradient;
    json["memory"] = curve.memory;
    return json;
}

Json run_json(const ShortRun& run) {
    Json json = Json::object();
    json["scheme"] = run.scheme;
    json["depth"] = run.depth;
    json["outcome"] = train::name(run.outcome);
    json["steps"] = run.losses.size();
    json["first"] = run.first;
    json["last"] = run.last;
    return json;
}

Json block_json(const BlockReport& block, const PreflightReport& report) {
    Json json = Json::object();
    json["scheme"] = block.block.scheme.name;
    json["equation"] = block.block.scheme.program.text();
    json["verdict"] = name(block.verdict);
    json["growth"] = block.growth();
    json["bound"] = block.beginning.bound;
    json["suggested_dt"] = block.suggested_dt ? Json(*block.suggested_dt) : Json(nullptr);
    json["findings"] = Json::array();
    for (const Finding& finding : block.findings) {
        json["findings"].push_back(to_json(finding));
    }
    Json sizes = Json::object();
    for (const SettingField& field : setting_fields()) {
        if (const auto text = field.text(block.block.settings)) {
            sizes[field.key] = *text;
        }
    }
    json["settings"] = std::move(sizes);
    json["dynamics"] = block.motion.document();
    json["beginning"] = Json::array();
    for (const DepthCurve& curve : block.beginning.curves) {
        json["beginning"].push_back(curve_json(curve));
    }
    json["training"] = Json::array();
    for (const ShortRun& run : block.runs) {
        json["training"].push_back(run_json(run));
    }
    json["yardsticks"] = Json::array();
    for (const BlockReport& yardstick : report.yardsticks) {
        for (const ShortRun& run : yardstick.runs) {
            json["yardsticks"].push_back(run_json(run));
        }
    }
    json["advice"] = advice(block, report);
    return json;
}

// "grows like the root of depth, from 1.2 to 6.9 over 24 blocks"
std::string stream_words(const BlockReport& block) {
    const DepthCurve& own = block.beginning.own;
    if (!block.beginning.finite()) {
        return "is not finite";
    }
    const std::string growth = block.growth();
    const DepthLaw& law = block.beginning.stream;
    const std::string shape = growth == "bounded"     ? "stays of one size"
                              : growth == "sqrt"      ? "grows like the root of depth"
                              : growth == "linear"    ? "grows in proportion to depth"
                              : !law.is_exponential() ? "grows exponentially with the number of blocks of the model"
                              : law.falls             ? "shrinks exponentially"
                                                      : "grows exponentially";
    return fmt::format("{} (root mean square {} after the first and {} after the last of {} blocks)", shape,
                       format_short(own.stream[1], 2), format_short(own.stream.back(), 2), own.depth);
}

std::string gradient_words(const BlockReport& block) {
    const double ratio = block.beginning.own.gradient_ratio();
    return std::isfinite(ratio)
               ? fmt::format("the gradient at its first block is {} times that at its last", format_short(ratio, 2))
               : std::string("its gradients are not finite");
}

const Finding* gravest(const BlockReport& block) {
    return block.findings.empty() ? nullptr : &block.findings.front();
}

std::string run_words(const ShortRun& run) {
    return run.failed() ? fmt::format("fails ({})", train::name(run.outcome)) : fmt::format("{:.2f}", run.last);
}

// What to do about the gravest finding.
std::string remedy(const BlockReport& block) {
    const Finding* finding = gravest(block);
    const std::string step =
        block.suggested_dt && *block.suggested_dt < block.block.settings.dt
            ? fmt::format(" With a residual step of dt = {:.2g} the stream of a fresh model stays near unit size.",
                          *block.suggested_dt)
            : "";
    if (finding == nullptr || finding->severity == Severity::note) {
        const bool smaller = block.suggested_dt && *block.suggested_dt < 0.5 * block.block.settings.dt;
        return "Nothing here speaks against a larger run." +
               (smaller ? fmt::format(" If the stream should stay near unit size, dt = {:.2g} does it.",
                                      *block.suggested_dt)
                        : std::string());
    }
    switch (finding->severity) {
        case Severity::malformed:
            return "Correct the text before anything else: it does not say what it was written for.";
        case Severity::unstable:
            return "Do not train it at this size as it is." + step +
                   " Otherwise norm what a branch adds, or start its matrices smaller.";
        case Severity::caution:
            return "It can be tried; look at what is said above first, and at the loss of the first steps.";
        case Severity::note:
            break;
    }
    return "";
}

}  // namespace

std::string advice(const BlockReport& block, const PreflightReport& report) {
    const BlockReport& peri = report.yardsticks.back();
    // Peri-LN itself is not compared with Peri-LN, but with the other yardstick.
    const bool is_peri = block.block.scheme.name == peri.block.scheme.name;
    const BlockReport& beside = is_peri ? report.yardsticks.front() : peri;
    const std::string other = is_peri ? "Pre-LN" : "Peri-LN";
    std::string text =
        fmt::format("Beside {} your block has a stream that {}, where {}'s stream {}; {}, where {} has {}.", other,
                    stream_words(block), other, stream_words(beside), gradient_words(block), other,
                    format_short(beside.beginning.own.gradient_ratio(), 2));
    if (!block.runs.empty()) {
        const ShortRun& run = block.runs.back();
        text += fmt::format(" After {} steps at {} blocks its loss is {}, from {:.2f} ({}).",
                            peri.runs.back().losses.size(), run.depth, run_words(run), run.first,
                            fmt::format("{} {}, {} {}", report.yardsticks[0].block.scheme.name,
                                        run_words(report.yardsticks[0].runs.back()), peri.block.scheme.name,
                                        run_words(peri.runs.back())));
    }
    if (const Finding* worst = gravest(block); worst != nullptr && worst->severity != Severity::note) {
        text += " " + worst->message;
    }
    return text + " " + remedy(block);
}

namespace {

// How large the equation lets a stream become over depth.
std::string bound_words(std::string_view bound) {
    return bound == "none"      ? "none, nothing in the equation holds it back"
           : bound == "bounded" ? "a length that does not grow with depth"
                                : fmt::format("growth that is {} in depth", bound);
}

const char* motion_words(double velocity) {
    return velocity > 0 ? "draws tokens together" : velocity < 0 ? "drives them apart" : "does not turn them";
}

}  // namespace

std::string difference(const BlockReport& a, const BlockReport& b) {
    const std::string first = a.block.scheme.name;
    const std::string second = b.block.scheme.name;
    std::string text = fmt::format("{} is {}, {} is {}.", first, name(a.verdict), second, name(b.verdict));
    text += fmt::format(" At the start the stream of {} {}; that of {} {}.", first, stream_words(a), second,
                        stream_words(b));
    text += fmt::format(" In {} {}; in {} {}.", first, gradient_words(a), second, gradient_words(b));
    text += a.beginning.bound == b.beginning.bound
                ? fmt::format(" Whatever the weights become, both streams have the same bound: {}.",
                              bound_words(a.beginning.bound))
                : fmt::format(" Whatever the weights become, the bound of the stream of {} is: {}; that of {}: {}.",
                              first, bound_words(a.beginning.bound), second, bound_words(b.beginning.bound));
    if (a.motion.problem.empty() && b.motion.problem.empty()) {
        const double velocity_a = a.motion.initial_velocity;
        const double velocity_b = b.motion.initial_velocity;
        text += velocity_a > 0 && velocity_b > 0
                    ? fmt::format(" As particles, {} turns tokens {} times as fast as {} at the start.", second,
                                  format_short(velocity_b / velocity_a, 2), first)
                    : fmt::format(" As particles at the start, {} {}, and {} {}.", first, motion_words(velocity_a),
                                  second, motion_words(velocity_b));
    }
    const ShortRun& run_a = a.runs.back();
    const ShortRun& run_b = b.runs.back();
    text += fmt::format(" After {} steps at {} blocks the losses are {} and {}.",
                        std::max(run_a.losses.size(), run_b.losses.size()), run_a.depth, run_words(run_a),
                        run_words(run_b));
    return text;
}

Json document(const PreflightReport& report) {
    if (report.blocks.size() == 1) {
        return block_json(report.blocks.front(), report);
    }
    Json json = Json::object();
    json["checks"] = Json::array();
    for (const BlockReport& block : report.blocks) {
        json["checks"].push_back(block_json(block, report));
    }
    json["difference"] = difference(report.blocks[0], report.blocks[1]);
    return json;
}

}  // namespace flyball::check
