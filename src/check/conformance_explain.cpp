#include "check/conformance_explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "check/conformance_fit.hpp"
#include "core/number.hpp"
#include "scheme/typing.hpp"

namespace flyball::check {

namespace {

using scheme::Program;

constexpr double numbers_of_a_trial = 4e5;
constexpr double close_enough = 0.5;  // what an explanation that does not explain everything has to leave at most

class Explainer {
  public:
    Explainer(const RunFile& run, const Program& program, GainOrder gains, const Reading& reading,
              const std::optional<BranchFinding>& branches)
        : run_(run), plain_(program, run), reading_(reading), branches_(branches) {
        plain_.gains = gains;
    }

    std::vector<Explanation> all() {
        orders();
        clock();
        gains_of_others();
        norms();
        wiring();
        arithmetic();
        numbers();
        steps();
        if (!explained()) {
            for (Explanation& one : explain_in_some_blocks(run_, plain_, reading_)) {
                found_.push_back(std::move(one));
            }
        }
        gains();
        const bool plain = std::any_of(found_.begin(), found_.end(),
                                       [](const Explanation& one) { return one.conforms && !one.contrived; });
        std::vector<Explanation> good;
        std::copy_if(found_.begin(), found_.end(), std::back_inserter(good),
                     [&](const Explanation& one) { return one.conforms && !(plain && one.contrived); });
        if (good.empty() && !found_.empty()) {
            const auto best = std::min_element(found_.begin(), found_.end(),
                                               [](const auto& a, const auto& b) { return a.error < b.error; });
            if (best->error < close_enough * reading_.error) {
                best->message += fmt::format(" That leaves an error of {:.2g} where it was {:.2g}, so it is not all.",
                                             best->error, reading_.error);
                good.push_back(*best);
            }
        }
        return good;
    }

  private:
    Explanation& attempt(const RunFile& run, const Hypothesis& hypothesis, const std::string& id,
                         const std::string& message, Json evidence = Json::object()) {
        const Reading reading = read_as(run, hypothesis);
        evidence["error"] = reading.error;
        found_.push_back({id, message, std::move(evidence), reading.error, reading.conforms});
        return found_.back();
    }
    Explanation& attempt(const Hypothesis& hypothesis, const std::string& id, const std::string& message,
                         Json evidence = Json::object()) {
        return attempt(run_, hypothesis, id, message, std::move(evidence));
    }

    bool explained() const {
        return std::any_of(found_.begin(), found_.end(),
                           [](const Explanation& one) { return one.conforms && !one.contrived; });
    }

    void orders() {
        if (const auto order = order_that_fits(run_, plain_)) {
            Hypothesis other = plain_;
            other.order = *order;
            attempt(other, "order-of-blocks",
                    fmt::format("The blocks were saved in another order than they ran in: {}.",
                                moved_text(*order, "what ran as block {} is saved as block {}")),
                    {{"order", *order}})
                .order = *order;
        }
        if (const auto depths = depths_that_fit(run_, plain_, reading_)) {
            Hypothesis other = plain_;
            other.depth = *depths;
            attempt(other, "blocks-exchanged",
                    fmt::format("Blocks are exchanged, by their factors that depend on depth: {}.",
                                moved_text(*depths, "block {} has the factors of block {}")),
                    {{"acts_as", *depths}})
                .depth = *depths;
        }
    }

    // For each place that is not its own: who is there.
    static std::string moved_text(const std::vector<std::size_t>& who,
                                  fmt::format_string<std::size_t&, std::size_t&> text) {
        std::vector<std::string> parts;
        for (std::size_t place = 0; place < who.size(); ++place) {
            std::size_t there = who[place];
            if (there != place) {
                parts.push_back(fmt::format(text, place, there));
            }
        }
        return fmt::format("{}", fmt::join(parts, ", "));
    }

    void clock() {
        for (const std::size_t fixed : {std::size_t{0}, run_.layers() - 1}) {
            Hypothesis other = plain_;
            std::fill(other.depth.begin(), other.depth.end(), fixed);
            attempt(other, "depth-without-effect",
                    fmt::format("What depends on depth in the equation is the same in every block, as the equation has "
                                "it in block {}: a factor that should change with depth does not.",
                                fixed),
                    {{"as_in_block", fixed}});
        }
        for (const double shift : {1.0, -1.0}) {
            Hypothesis other = plain_;
            other.clock_shift = shift;
            attempt(
                other, "depth-counted-from-elsewhere",
                fmt::format("The t of the equation, which is 0 in the first block, starts at {} in the run.", shift),
                {{"t_of_first_block", shift}});
        }
    }

    void gains_of_others() {
        Hypothesis other = plain_;
        other.gains = GainOrder::fitted;
        const Reading reading = read_as(run_, other);
        std::vector<std::string> parts;
        std::size_t block = 0;
        for (; block < reading.blocks.size() && parts.empty(); ++block) {  // the first that has others
            const std::vector<int>& used = reading.blocks[block].gains;
            for (std::size_t k = 0; k < used.size(); ++k) {
                if (used[k] < 0) {
                    parts.push_back(fmt::format("norm {} has none", k));
                } else if (used[k] != static_cast<int>(k)) {
                    parts.push_back(fmt::format("norm {} has those of norm {}", k, used[k]));
                }
            }
        }
        if (parts.empty()) {
            return;
        }
        --block;
        attempt(
            other, "gains-of-another-norm",
            fmt::format("Norms have other gains than the file gives them, counted from 0 in the order in which they "
                        "are evaluated: {} (block {}).",
                        fmt::join(parts, ", "), block),
            {{"block", block}, {"gains", reading.blocks[block].gains}});
    }

    void norms() {
        const int in_text = plain_.program.norm_count();
        for (int k = 0; k < in_text; ++k) {
            Hypothesis other = plain_;
            other.gains = GainOrder::fitted;
            other.alteration = Alteration::without_norm;
            other.norm = k;
            attempt(other, "norm-missing",
                    fmt::format("{}, the outermost one there, is missing from the run.", norm_text(plain_.program, k)),
                    {{"norm", k}});
        }
        for (int k = 0; k < 2 * in_text && !explained(); ++k) {
            Hypothesis other = plain_;
            other.gains = GainOrder::fitted;
            other.alteration = Alteration::without_one_norm;
            other.norm = k;
            if (!alters_a_block(run_, other)) {
                continue;  // a norm of the readout
            }
            attempt(other, "norm-missing",
                    fmt::format("{}, the outermost one there, is missing from the run in {}.",
                                norm_text(plain_.program, k % in_text), k < in_text ? "attention" : "the feed-forward"),
                    {{"norm", k}});
        }
    }

    void wiring() {
        const auto altered = [&](Alteration alteration, const char* id, const char* message) {
            Hypothesis other = plain_;
            other.alteration = alteration;
            other.gains = GainOrder::fitted;  // one norm may serve both sub-layers
            if (alters_a_block(run_, other)) {
                attempt(other, id, message);
            }
        };
        altered(Alteration::skip_after_norm, "skip-after-norm",
                "The residual connection takes the stream after the norm, where the equation takes it before.");
        altered(Alteration::skip_before_norm, "skip-before-norm",
                "The residual connection takes the stream before the norm, where the equation takes it after.");
        if (!run_.has_ffn) {
            return;
        }
        altered(Alteration::parallel, "parallel",
                "The block is parallel: the feed-forward reads the stream before attention has added to it, and the "
                "equation says serial.");
        altered(Alteration::ffn_first, "ffn-first", "The feed-forward runs before attention.");
    }

    void arithmetic() {
        for (const scheme::Normaliser& normaliser : scheme::normalisers()) {
            if (normaliser.function != run_.function) {
                Hypothesis other = plain_;
                other.function = normaliser.function;
                attempt(other, "other-norm",
                        fmt::format("`norm` is {} in the run, and its metadata say {}.", normaliser.name, run_.norm),
                        {{"norm", std::string(normaliser.name)}});
            }
        }
        for (const double eps : {0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2}) {
            if (eps != run_.eps) {
                Hypothesis other = plain_;
                other.eps = eps;
                attempt(other, "other-eps",
                        fmt::format("The eps of the norms is {} in the run, and its metadata say {}.",
                                    format_double(eps), format_double(run_.eps)),
                        {{"eps", eps}});
            }
        }
    }

    void steps() {
        const FittedNumber dt = fit_dt(run_, plain_);
        Hypothesis other = plain_;
        other.dt = dt.value;
        attempt(
            other, "other-dt",
            fmt::format("The step dt is {:.6g} in the run, and {} by its metadata.", dt.value, format_double(run_.dt)),
            {{"dt", dt.value}})
            .contrived = !dt.simple;
        if (!explained() && branches_) {
            branches();
        }
    }

    void branches() {
        Hypothesis other = plain_;
        if (branches_->shape == BranchShape::each) {
            const auto mean = [](const std::vector<double>& factors) {
                return std::accumulate(factors.begin(), factors.end(), 0.0) / static_cast<double>(factors.size());
            };
            other.branches = {mean(branches_->attention), mean(branches_->ffn)};
            attempt(
                other, "branches-scaled",
                fmt::format("What attention adds is multiplied by {:.4g} in the run, and what the feed-forward adds "
                            "by {:.4g}.",
                            other.branches.attention, other.branches.feed_forward),
                {{"attention", other.branches.attention}, {"ffn", other.branches.feed_forward}})
                .contrived = true;
            return;
        }
        const bool ffn = branches_->shape == BranchShape::ffn;
        const FittedNumber factor =
            fit_branch_factor(run_, plain_, branches_->shape, ffn ? branches_->ffn : branches_->attention);
        other.branches = of_shape(branches_->shape, factor.value);
        std::string message = fmt::format("What the sub-layers add is multiplied by {:.4g} in the run.", factor.value);
        if (branches_->shape != BranchShape::both) {
            const char* const one = ffn ? "the feed-forward" : "attention";
            const char* const rest = ffn ? "attention" : "the feed-forward";
            message =
                fmt::format("What {} adds is multiplied by {:.4g} in the run; what {} adds is as the equation says.",
                            one, factor.value, rest);
        }
        attempt(other, branches_->shape == BranchShape::both ? "branches-scaled" : "one-branch-scaled", message,
                {{"factor", factor.value},
                 {"of", ffn                                     ? "ffn"
                        : branches_->shape == BranchShape::both ? "both"
                                                                : "attn"}})
            .contrived = !factor.simple;
    }

    void numbers() {
        if (explained()) {
            return;
        }
        for (const WrittenNumber& number : written_numbers(plain_.program)) {
            const FittedNumber fitted = fit_written(run_, plain_, number);
            const auto changed = with_number(plain_.program, number, fitted.value);
            if (!changed || fitted.error > close_enough * reading_.error) {
                continue;
            }
            Hypothesis other = plain_;
            other.program = *changed;
            const std::string said = format_double(number.value);
            attempt(other, number.exponent ? "other-exponent" : "other-number",
                    fmt::format("{}{} is {:.6g} in the run.",
                                number.exponent ? fmt::format("The exponent {} of {}", said, number.base)
                                                : fmt::format("The number {}", said),
                                number.parameter.empty() ? "" : fmt::format(" in the parameter {}", number.parameter),
                                fitted.value),
                    {{"said", number.value}, {"fitted", fitted.value}})
                .contrived = !fitted.simple;
        }
    }

    void gains() {
        if (explained()) {
            return;
        }
        RunFile one_more = run_;
        bool any = false;
        for (SavedBlock& block : one_more.blocks) {
            for (SavedNorm& norm : block.norms) {
                any = any || !norm.gain.empty();
                std::for_each(norm.gain.begin(), norm.gain.end(), [](double& gain) { gain += 1; });
            }
        }
        for (SavedNorm& norm : one_more.readout_norms) {
            std::for_each(norm.gain.begin(), norm.gain.end(), [](double& gain) { gain += 1; });
        }
        if (any) {
            attempt(one_more, plain_, "gains-less-one",
                    "The norms multiply by 1 plus the gains that the file has; save what they multiply by.");
        }
        if (run_.rows < rows_for_gains) {
            return;
        }
        Hypothesis other = plain_;
        other.gains = GainOrder::free;
        attempt(
            other, "gains-not-saved",
            any ? "The gains or biases in the file are not those that the norms had: others explain the inputs of the "
                  "sub-layers."
                : "The norms have gains or biases that the file does not have: some explain the inputs of the "
                  "sub-layers. Save blocks.L.norms.K.gain and .bias.");
    }

    const RunFile& run_;
    Hypothesis plain_;
    const Reading& reading_;
    const std::optional<BranchFinding>& branches_;
    std::vector<Explanation> found_;
};

}  // namespace

std::vector<Explanation> explain(const RunFile& run, const Program& program, GainOrder gains, const Reading& reading,
                                 const std::optional<BranchFinding>& branches) {
    return Explainer(run, program, gains, reading, branches).all();
}

std::string norm_text(const Program& program, int k) {
    std::string text;
    const std::string& source = program.syntax().text;
    const auto look = [&](const scheme::Expression& e) {
        if (e.kind == scheme::Expression::Kind::call && e.function == scheme::Function::norm && e.index == k) {
            text = fmt::format("The norm of `{}`", source.substr(e.span.begin, e.span.end - e.span.begin));
        }
    };
    for (const scheme::SubLayer part : {scheme::SubLayer::attention, scheme::SubLayer::feed_forward}) {
        for (const scheme::Statement& statement : program.statements(part)) {
            scheme::walk(*statement.value, look);
        }
    }
    if (text.empty()) {
        scheme::walk(*program.readout(), look);
        text += " in the readout";
    }
    return text;
}

std::size_t rows_for_trials(const RunFile& run) {
    const double rows = numbers_of_a_trial / static_cast<double>(run.dim * run.layers());
    return static_cast<std::size_t>(std::clamp(rows, static_cast<double>(rows_for_gains), 64.0));
}

std::string blocks_text(const std::vector<std::size_t>& blocks) {
    if (blocks.size() == 1) {
        return fmt::format("block {}", blocks[0]);
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < blocks.size();) {
        std::size_t j = i;
        while (j + 1 < blocks.size() && blocks[j + 1] == blocks[j] + 1) {
            ++j;
        }
        if (j >= i + 2) {
            parts.push_back(fmt::format("{} to {}", blocks[i], blocks[j]));
        } else {
            for (std::size_t k = i; k <= j; ++k) {
                parts.push_back(fmt::format("{}", blocks[k]));
            }
        }
        i = j + 1;
    }
    const std::string last = parts.back();
    parts.pop_back();
    return parts.empty() ? fmt::format("blocks {}", last)
                         : fmt::format("blocks {} and {}", fmt::join(parts, ", "), last);
}

}  // namespace flyball::check
