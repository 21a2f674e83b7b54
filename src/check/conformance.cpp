#include "check/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "check/conformance_explain.hpp"
#include "check/conformance_factors.hpp"
#include "core/error.hpp"
#include "core/unreachable.hpp"

namespace flyball::check {

namespace {

using Weight = ConformanceFinding::Severity;

constexpr double hidden_branch = 0.5;  // a tolerance above it hides half of what a block adds
constexpr double bf16_step = 0x1p-7;

class Judgement {
  public:
    Judgement(const scheme::Scheme& scheme, const RunFile& run)
        : scheme_(scheme), run_(run), few_(fewer_rows(run, rows_for_trials(run))), plain_(scheme.program, run) {}

    Conformance judge() {
        result_.equation = scheme_.program.text();
        result_.rows = run_.rows;
        result_.file_rows = run_.file_rows;
        result_.dim = run_.dim;
        result_.norm = run_.norm;
        result_.eps = run_.eps;
        result_.dt = run_.dt;
        result_.stored = name(run_.stored);
        for (const SavedBlock& block : run_.blocks) {
            result_.roundoff = std::max(result_.roundoff, block.resid.computed);
        }
        result_.reading = read_as(run_, plain_);
        other_order_of_gains();
        gains_that_serve_twice();
        result_.conforms = result_.reading.conforms;
        notes();
        if (!result_.conforms) {
            differences();
            explanations();
        }
        result_.nearest = nearest_scheme(few_, scheme_, !result_.conforms, explanations_);
        if (!result_.conforms && result_.nearest.conforms && result_.nearest.equation != result_.equation) {
            add("nearest", Weight::explanation,
                fmt::format("The run is as {} says: {}", result_.nearest.scheme, result_.nearest.equation),
                {{"scheme", result_.nearest.scheme}, {"error", result_.nearest.error}});
        }
        return std::move(result_);
    }

  private:
    void add(const std::string& id, Weight severity, const std::string& message, Json evidence = Json::object()) {
        result_.findings.push_back({id, severity, message, std::move(evidence)});
    }

    std::vector<std::size_t> wrong_blocks(Place place) const {
        std::vector<std::size_t> wrong;
        for (std::size_t l = 0; l < run_.layers(); ++l) {
            if (!result_.reading.blocks[l].at(place).conforms()) {
                wrong.push_back(l);
            }
        }
        return wrong;
    }

    // `norm(f(norm(x)))` is evaluated from the inside and written from the outside; who saved the gains may have
    // counted either way.
    void other_order_of_gains() {
        if (result_.reading.conforms) {
            return;
        }
        Hypothesis written = plain_;
        written.gains = GainOrder::written;
        if (!read_as(few_, written).conforms) {
            return;
        }
        plain_.gains = GainOrder::written;
        result_.reading = read_as(run_, plain_);
        add("gains-as-written", Weight::note,
            "The gains of the norms are numbered by where `norm(` stands in the text, the outer one first; by the "
            "order of evaluation, the inner one first, the run would differ.");
    }

    // A norm that both sub-layers use is saved once.
    void gains_that_serve_twice() {
        const std::size_t in_file = run_.blocks[0].norms.size();
        const std::size_t in_text = norms_at(run_, plain_, 0);
        if (result_.reading.conforms || in_file == 0 || in_file >= in_text || in_text % in_file != 0) {
            return;
        }
        Hypothesis shared = plain_;
        shared.gains = GainOrder::shared;
        Reading reading = read_as(run_, shared);
        if (!reading.conforms && reading.error >= result_.reading.error) {
            return;
        }
        plain_ = shared;
        result_.reading = std::move(reading);
        add("gains-shared", Weight::note,
            fmt::format("A block has gains for {} of the {} norms that the equation evaluates in it; they were used "
                        "again for the others, as of a norm that serves both sub-layers.",
                        in_file, in_text),
            {{"in_file", in_file}, {"in_equation", in_text}});
    }

    void notes() {
        if (run_.rows < run_.file_rows) {
            add("some-rows", Weight::note,
                fmt::format("Of {} rows {} were looked at, evenly spaced.", run_.file_rows, run_.rows));
        }
        if (scheme_.program.stream_count() > 1) {
            std::vector<std::string> names;
            for (std::size_t i = 1; i < scheme_.program.stream_count(); ++i) {
                names.push_back(scheme_.program.stream_name(i));
            }
            add("carried-streams", Weight::note,
                fmt::format(
                    "The run has the stream x alone; the equation carries {} on from the embedding, so an error "
                    "in a block shows in all that follow.",
                    fmt::join(names, ", ")));
        }
        missing_gains();
        missing_parameters();
        precision();
    }

    void missing_gains() {
        const bool any = std::any_of(run_.blocks.begin(), run_.blocks.end(),
                                     [](const SavedBlock& block) { return !block.norms.empty(); });
        for (std::size_t l = 0; any && plain_.gains != GainOrder::shared && l < run_.layers(); ++l) {
            const std::size_t in_file = run_.blocks[l].norms.size();
            const std::size_t in_text = norms_at(run_, plain_, l);
            if (in_file != in_text) {
                add("gains", Weight::note,
                    fmt::format(
                        "Block {} has gains for {} norms, and the equation evaluates {} there: {}.", l, in_file,
                        in_text,
                        in_file < in_text ? "the others were taken to have no gains" : "the others were not used"),
                    {{"block", l}, {"in_file", in_file}, {"in_equation", in_text}});
                break;  // one is enough
            }
        }
        if (result_.reading.readout_gains_fitted) {
            add("readout-gains", Weight::note,
                "The run has no gains for the norm of the readout. Some gain and bias for each channel explain the "
                "readout; save readout.norms.0.gain to have them checked.");
        }
    }

    void missing_parameters() {
        std::vector<std::string> names;  // of those that are missing somewhere
        std::vector<LearnedPlace> missing;
        std::size_t uses = 0;
        const std::vector<LearnedPlace> places = learned_places(run_, plain_);
        for (const LearnedPlace& place : places) {
            if (!place.is_usable) {
                missing.push_back(place);
                if (std::find(names.begin(), names.end(), place.parameter) == names.end()) {
                    names.push_back(place.parameter);
                }
            }
        }
        for (const LearnedPlace& place : places) {
            uses += std::find(names.begin(), names.end(), place.parameter) == names.end() ? 0 : 1;
        }
        if (missing.empty()) {
            return;
        }
        const LearnedPlace& first = missing.front();
        std::string message =
            fmt::format("The run does not say what the learned parameter {} was", fmt::join(names, ", "));
        if (first.is_given) {
            message = fmt::format("{} of the run has a number for each channel, and the equation has one for all",
                                  first.tensor);
        } else if (missing.size() < uses) {
            message += fmt::format(" in {} of the {} places where the equation has it, such as {}", missing.size(),
                                   uses, first.tensor);
        }
        message += "; the equation's own value was taken.";
        if (!first.is_given && missing.size() == uses) {
            const std::string::size_type dot = first.tensor.find(".scheme.");
            message += fmt::format(" Save it as {}{}.", first.tensor.starts_with("blocks.") ? "blocks.L" : "readout",
                                   first.tensor.substr(dot));
        }
        add("learned-parameters", Weight::note, message);
    }

    void precision() {
        const bool is_wide = run_.stored == Dtype::f64 || run_.stored == Dtype::f32;
        if (is_wide && result_.roundoff > (run_.stored == Dtype::f64 ? 0x1p-53 : 0x1p-24)) {
            const char* const held = result_.roundoff > 0x1p-11 ? "BF16" : result_.roundoff > 0x1p-24 ? "F16" : "F32";
            add("narrow-values", Weight::note,
                fmt::format("The tensors are stored as {} and hold {} values; the tolerance is that of {}.",
                            name(run_.stored), held, held));
        }
        std::vector<std::size_t> hidden;
        double most = 0;
        for (std::size_t l = 0; l < run_.layers(); ++l) {
            const PlaceReading& resid = result_.reading.blocks[l].at(Place::resid);
            if (resid.conforms() && resid.tolerance > hidden_branch) {
                hidden.push_back(l);
                most = std::max(most, resid.tolerance);
            }
        }
        if (!hidden.empty()) {
            add("hidden-by-rounding", Weight::note,
                fmt::format(
                    "In {} the stream is so much larger than what the block adds that numbers stored like these "
                    "cannot show errors below {:.2g} of it; save the run in a wider type.",
                    blocks_text(hidden), most),
                {{"blocks", hidden}});
        }
    }

    // A small factor may take more rows to see than trials have: then they get more.
    Reading reading_of_few() {
        Reading few = read_as(few_, plain_);
        while (few.conforms && few_.rows < run_.rows) {
            few_ = fewer_rows(run_, 4 * few_.rows);
            few = read_as(few_, plain_);
        }
        return few;
    }

    void differences() {
        const Reading& reading = result_.reading;
        const Reading few = reading_of_few();
        for (const Place place : {Place::attention_in, Place::ffn_in, Place::resid}) {
            const std::vector<std::size_t> wrong = wrong_blocks(place);
            if (wrong.empty()) {
                continue;
            }
            difference(place, wrong);
            if (place != Place::resid) {
                if (auto factor = input_factor(few_, plain_, few, place, wrong)) {
                    result_.findings.push_back(std::move(*factor));
                }
            }
        }
        if ((branches_ = branch_factors(few_, plain_, few, wrong_blocks(Place::resid)))) {
            for (const ConformanceFinding& one : branches_->findings) {
                result_.findings.push_back(one);
            }
        }
        if (!reading.readout.conforms()) {
            add("readout", Weight::difference,
                fmt::format("The readout differs by {:.2g} of its size, where rounding explains {:.1g}.",
                            reading.readout.error, reading.readout.tolerance),
                {{"error", reading.readout.error}, {"tolerance", reading.readout.tolerance}});
        }
    }

    void difference(Place place, const std::vector<std::size_t>& wrong) {
        double least = HUGE_VAL;
        double most = 0;
        double tolerance = 0;
        std::size_t rows = 0;
        std::vector<std::size_t> lost;
        for (const std::size_t l : wrong) {
            const PlaceReading& at = result_.reading.blocks[l].at(place);
            if (!std::isfinite(at.error)) {
                lost.push_back(l);
                continue;
            }
            least = std::min(least, at.error);
            most = std::max(most, at.error);
            tolerance = std::max(tolerance, at.tolerance);
            rows = std::max(rows, at.wrong_rows);
        }
        std::string message = fmt::format("{} differs in {}: ", title(place), blocks_text(wrong));
        message[0] = 'T';
        if (lost.size() == wrong.size()) {
            message += "what the equation says is not finite.";
        } else {
            message += fmt::format(
                "by {} of {}, where rounding explains {:.1g}.",
                most < 1.01 * least ? fmt::format("{:.2g}", most) : fmt::format("{:.2g} to {:.2g}", least, most),
                place == Place::resid ? "what the sub-layers add" : "its size", tolerance);
            if (rows > 0 && 2 * rows < run_.rows) {
                message += fmt::format(" Only {} of {} rows differ.", rows, run_.rows);
            }
            if (!lost.empty()) {
                message += fmt::format(" In {} what the equation says is not finite.", blocks_text(lost));
            }
        }
        add(name(place), Weight::difference, message,
            {{"blocks", wrong}, {"smallest", least}, {"largest", most}, {"tolerance", tolerance}});
    }

    void explanations() {
        const Reading reading = read_as(few_, plain_);
        explanations_ = explain(few_, scheme_.program, plain_.gains, reading, branches_);
        for (const Explanation& one : explanations_) {
            add(one.id, Weight::explanation, one.message, one.evidence);
        }
        const bool explained = std::any_of(explanations_.begin(), explanations_.end(),
                                           [](const Explanation& one) { return one.conforms; });
        double most = result_.reading.readout.error;
        for (const BlockReading& block : result_.reading.blocks) {
            for (const PlaceReading& place : block.places) {
                most = std::max(most, place.conforms() ? 0 : place.error);
            }
        }
        if (!explained && most < bf16_step && result_.roundoff <= 0x1p-24) {
            add("narrow-arithmetic", Weight::explanation,
                "The differences are as small as the rounding of BF16: if a part of the block is computed in BF16 or "
                "F16, say so with `compute` in the metadata.",
                {{"largest", most}});
        }
    }

    const scheme::Scheme& scheme_;
    const RunFile& run_;
    RunFile few_;
    Hypothesis plain_;
    std::optional<BranchFinding> branches_;
    std::vector<Explanation> explanations_;
    Conformance result_;
};

}  // namespace

const char* name(ConformanceFinding::Severity severity) noexcept {
    switch (severity) {
        case Weight::difference:
            return "difference";
        case Weight::explanation:
            return "explanation";
        case Weight::note:
            return "note";
    }
    unreachable();
}

Conformance conformance(const scheme::Scheme& scheme, const RunFile& run) {
    if (const auto twice = called_twice(run, scheme.program)) {
        throw Error(ErrorKind::usage, "check.conformance",
                    fmt::format("an equation that calls {} more than once in a block",
                                *twice == scheme::SubLayer::attention ? "attention" : "the feed-forward"),
                    "one call of each, as a run has one input and one output of each",
                    "give what it returns a name: o = f(x)");
    }
    return Judgement(scheme, run).judge();
}

}  // namespace flyball::check
