// One training run in memory: a model, its optimiser, its place in the data. Step by step; who stores what it reports,
// and when it stops, is the business of run.hpp.
//
//     step s = 1, 2, ..: windows of the text (batches.hpp) -> loss and gradient -> AdamW (optimiser.hpp) -> report
//
// The state after a step is a function of the settings, the scheme and the data alone, so that any step is a restart
// point: a run that is taken up from one ends with the same bits. (Which steps are recorded is a setting: a recorded
// step computes the same in another order, so that runs that differ in it alone agree to rounding.)
//
// Divergence is a result. A run ends when
//
//     nan        the loss, a stream or a gradient is no longer finite
//     exploded   the root mean square of a stream exceeds 65,504, the largest number of half precision
//     spike      the mean loss of 8 steps is above the best such mean by `spike` * log(vocabulary)
//
// and the report says at which step, in which layer and in what it began.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/batch_step.hpp"
#include "model/pass.hpp"
#include "record/sealed.hpp"
#include "train/batches.hpp"
#include "train/corpus.hpp"
#include "train/initial.hpp"
#include "train/observer.hpp"
#include "train/optimiser.hpp"

namespace flyball::train {

enum class Outcome { done, interrupted, nan, exploded, spike };
const char* name(Outcome outcome);

// Where a run went wrong.
struct Failure {
    Outcome outcome = Outcome::nan;
    std::size_t step = 0;
    std::optional<std::size_t> layer;  // from 1; none where no layer is to blame
    std::string quantity;              // "stream", "gradient", "loss"
};

struct StepReport {
    std::size_t step = 0;  // from 1
    double loss = 0;       // of the step's batches, before its update
    double rate = 0;
    double gradient_norm = 0;         // before clipping
    std::vector<LayerRecord> layers;  // empty unless this step is recorded
    LayerRecord embedding;
    std::optional<Failure> failure;
};

class Trainer {
  public:
    // The corpus must outlive the trainer.
    Trainer(const Settings& settings, const scheme::Scheme& scheme, const Corpus& corpus);

    std::size_t done() const { return done_; }  // steps
    bool finished() const { return done_ == settings_.steps; }
    // Throws Stopped, and leaves the run as it was, when `stop` is set while gradients are computed.
    StepReport step(const std::atomic<bool>* stop = nullptr);

    // Over at most so many windows of the validation part, spread evenly.
    struct Validation {
        double loss = 0;              // mean, in nats a token
        std::optional<double> floor;  // the least that any predictor can reach on these windows, where that is known
    };
    Validation validate(std::size_t windows) const;

    const model::Model<float>& model() const { return initial_.model; }
    const std::vector<std::string>& notes() const { return initial_.notes; }
    const Optimisation& optimisation() const { return optimisation_; }

    void save(const std::filesystem::path& path, const record::Seal& seal) const;
    void restore(const std::filesystem::path& path, const record::Seal& seal);

  private:
    bool is_recorded(std::size_t step) const;
    std::optional<Failure> find_failure(std::size_t step, const std::vector<std::int32_t>& ids,
                                        const std::vector<std::int32_t>& targets);
    std::optional<Failure> check_layers(const StepReport& report) const;
    std::optional<Failure> check_loss(const StepReport& report);

    Settings settings_;
    const Corpus& corpus_;
    Initial initial_;
    Optimisation optimisation_;
    Optimiser optimiser_;
    Batches batches_;
    model::Pass<float> pass_;             // steps that are recorded: it can be looked into
    model::BatchStep<float> batch_step_;  // all others: faster, and equal to rounding
    Observer observer_;
    model::Parameters<float> gradients_;
    std::size_t done_ = 0;
    std::vector<double> recent_;  // losses of the last steps, for spikes
    double best_ = 0;             // smallest mean of them so far; 0: none yet
};

// Bytes that a run needs with the threads there are: weights, gradients and moments, the activations of a batch that is
// recorded, of the parts of one that are computed at the same time, and of one that is validated.
double memory_estimate(const model::Architecture& architecture, std::size_t parameters, const Settings& settings);

}  // namespace flyball::train
