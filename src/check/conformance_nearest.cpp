#include <cmath>

#include "check/conformance_explain.hpp"
#include "check/conformance_fit.hpp"

namespace flyball::check {

NearestScheme nearest_scheme(const RunFile& run, const scheme::Scheme& asked, bool change_numbers,
                             const std::vector<Explanation>& explanations) {
    NearestScheme best;
    best.error = HUGE_VAL;
    const auto offer = [&](const scheme::CatalogueEntry& entry, const Hypothesis& hypothesis, bool changed) {
        const Reading reading = read_as(run, hypothesis);
        const bool better =
            reading.conforms != best.conforms ? reading.conforms : !best.conforms && reading.error < best.error;
        if (better) {
            best = {std::string(entry.name), hypothesis.program.text(), reading.error, reading.conforms, changed};
        }
    };
    const auto hypothesis_of = [&](const scheme::CatalogueEntry& entry) {
        Hypothesis hypothesis(scheme::Program::parse(entry.equation), run);
        hypothesis.gains = GainOrder::fitted;
        for (const Explanation& one : explanations) {
            if (one.conforms && !one.order.empty()) {
                hypothesis.order = one.order;
            }
            if (one.conforms && !one.depth.empty()) {
                hypothesis.depth = one.depth;
            }
        }
        return hypothesis;
    };
    if (asked.entry != nullptr) {
        Hypothesis hypothesis = hypothesis_of(*asked.entry);
        hypothesis.program = asked.program;  // with the settings that were given
        offer(*asked.entry, hypothesis, false);
    }
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        if (!best.conforms) {
            offer(entry, hypothesis_of(entry), false);
        }
    }
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        if (!change_numbers || best.conforms) {
            break;
        }
        const Hypothesis hypothesis = hypothesis_of(entry);
        for (const WrittenNumber& number : written_numbers(hypothesis.program)) {
            if (number.parameter.empty()) {
                continue;
            }
            Hypothesis other = hypothesis;
            const FittedNumber fitted = fit_written(run, other, number);
            const auto changed = with_number(other.program, number, fitted.value);
            if (changed && fitted.simple) {
                other.program = *changed;
                offer(entry, other, true);
            }
        }
    }
    return best;
}

}  // namespace flyball::check
