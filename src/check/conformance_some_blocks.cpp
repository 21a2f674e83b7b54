// Mistakes in some blocks of a run alone: those that differ, where others are as the equation says.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "check/conformance_explain.hpp"

namespace flyball::check {

namespace {

constexpr std::size_t most_trials = 512;  // of one block each

class SomeBlocks {
  public:
    SomeBlocks(const RunFile& run, const Hypothesis& plain, const Reading& reading) : run_(run), plain_(plain) {
        for (std::size_t step = 0; step < reading.blocks.size(); ++step) {
            if (!reading.blocks[step].conforms()) {
                wrong_.push_back(step);
            }
        }
    }

    std::vector<Explanation> all() {
        if (wrong_.empty() || wrong_.size() == run_.layers()) {
            return {};
        }
        norms();
        if (found_.empty()) {
            wiring();
        }
        if (found_.empty()) {
            gains();
        }
        return std::move(found_);
    }

  private:
    bool explains(const RunFile& run, const Hypothesis& hypothesis, std::size_t step) const {
        return read_step(run, hypothesis, step, run.before(step)).conforms();
    }

    // The first wrong block tells most mistakes from each other, at a fraction of the cost; streams other than x are
    // carried on from block to block, and only a whole reading has them.
    void attempt(Hypothesis other, const std::string& id, const std::string& message, Json evidence) {
        other.only = wrong_;
        other.gains = GainOrder::fitted;
        if (plain_.program.stream_count() == 1 && !explains(run_, other, wrong_.front())) {
            return;
        }
        const Reading reading = read_as(run_, other);
        if (reading.conforms) {
            evidence["blocks"] = wrong_;
            evidence["error"] = reading.error;
            found_.push_back(
                {id, fmt::format("{} in {}; the other blocks are as the equation says.", message, blocks_text(wrong_)),
                 std::move(evidence), reading.error, true});
        }
    }

    void norms() {
        const int in_text = plain_.program.norm_count();
        for (int k = 0; k < in_text; ++k) {
            Hypothesis other = plain_;
            other.alteration = Alteration::without_norm;
            other.norm = k;
            attempt(other, "norm-missing",
                    fmt::format("{}, the outermost one there, is missing from the run", norm_text(plain_.program, k)),
                    {{"norm", k}});
        }
        for (int k = 0; k < 2 * in_text && found_.empty(); ++k) {
            Hypothesis other = plain_;
            other.alteration = Alteration::without_one_norm;
            other.norm = k;
            if (alters_a_block(run_, other)) {
                attempt(
                    other, "norm-missing",
                    fmt::format("{}, the outermost one there, is missing from {}",
                                norm_text(plain_.program, k % in_text), k < in_text ? "attention" : "the feed-forward"),
                    {{"norm", k}});
            }
        }
    }

    void wiring() {
        const auto altered = [&](Alteration alteration, const char* id, const char* message) {
            Hypothesis other = plain_;
            other.alteration = alteration;
            if (alters_a_block(run_, other)) {
                attempt(other, id, message, Json::object());
            }
        };
        altered(Alteration::skip_after_norm, "skip-after-norm",
                "The residual connection takes the stream after the norm, where the equation takes it before,");
        altered(Alteration::skip_before_norm, "skip-before-norm",
                "The residual connection takes the stream before the norm, where the equation takes it after,");
        if (run_.has_ffn) {
            altered(Alteration::parallel, "parallel",
                    "The feed-forward reads the stream before attention has added to it");
            altered(Alteration::ffn_first, "ffn-first", "The feed-forward runs before attention");
        }
    }

    // Whose gains make a block conform.
    std::optional<std::size_t> owner_of_gains(std::size_t step) const {
        RunFile other = run_;
        for (std::size_t from = 0; from < run_.layers(); ++from) {
            if (from != step && !run_.blocks[from].norms.empty()) {
                other.blocks[step].norms = run_.blocks[from].norms;
                if (explains(other, plain_, step)) {
                    return from;
                }
            }
        }
        return std::nullopt;
    }

    void gains() {
        if (plain_.program.stream_count() > 1 || wrong_.size() * run_.layers() > most_trials) {
            return;
        }
        RunFile moved = run_;
        std::vector<std::string> parts;
        std::vector<std::size_t> owners;
        for (const std::size_t step : wrong_) {
            const auto from = owner_of_gains(step);
            if (!from) {
                return;
            }
            moved.blocks[step].norms = run_.blocks[*from].norms;
            owners.push_back(*from);
            parts.push_back(fmt::format("block {} has those that are saved of block {}", step, *from));
        }
        const Reading reading = read_as(moved, plain_);
        if (reading.conforms) {
            found_.push_back({"gains-of-another-block",
                              fmt::format("Norms have the gains of other blocks: {}.", fmt::join(parts, ", ")),
                              {{"blocks", wrong_}, {"gains_of", owners}, {"error", reading.error}},
                              reading.error,
                              true});
        }
    }

    const RunFile& run_;
    const Hypothesis& plain_;
    std::vector<std::size_t> wrong_;
    std::vector<Explanation> found_;
};

}  // namespace

std::vector<Explanation> explain_in_some_blocks(const RunFile& run, const Hypothesis& plain, const Reading& reading) {
    return SomeBlocks(run, plain, reading).all();
}

}  // namespace flyball::check
