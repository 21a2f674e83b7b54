// One step of training, and what is looked at to tell that a run has failed.
#include "train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/number.hpp"
#include "core/parallel.hpp"
#include "core/unreachable.hpp"
#include "model/initialise.hpp"
#include "train/adamw_kernels.hpp"
#include "train/profile.hpp"

namespace flyball::train {

namespace {

constexpr std::size_t spike_steps = 8;
constexpr double largest_half = 65504;

// Streams of random numbers that must not meet those of the weights: each purpose has a seed of its own.
std::uint64_t data_seed(std::uint64_t seed) {
    return seed ^ 0x64617461;  // "data"
}

// Every pass has masks of its own. (Multiplying by an odd number is one-to-one, and sends neighbours far apart.)
std::uint64_t dropout_seed(std::uint64_t seed, std::uint64_t pass) {
    return (seed ^ 0x64726f70) + pass * 0x9e3779b97f4a7c15;  // "drop"
}

// A model that is trained further has sizes of its own, and the usual learning rate is that of its width.
Settings sized(Settings settings, const model::Architecture& a) {
    settings.layers = a.layers;
    settings.dim = a.dim;
    settings.heads = a.heads;
    return settings;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

const char* name(Outcome outcome) {
    switch (outcome) {
        case Outcome::done:
            return "done";
        case Outcome::interrupted:
            return "interrupted";
        case Outcome::nan:
            return "nan";
        case Outcome::exploded:
            return "exploded";
        case Outcome::spike:
            return "spike";
    }
    unreachable();
}

Trainer::Trainer(const Settings& settings, const scheme::Scheme& scheme, const Corpus& corpus)
    : settings_(settings),
      corpus_(corpus),
      initial_(initial_model(settings, scheme, corpus.vocab)),
      optimisation_(optimisation_of(sized(settings, initial_.model.architecture()), scheme::recipe_of(scheme).training,
                                    initial_.model.layout().count())),
      optimiser_(
          initial_.model, optimisation_,
          model::rate_factors(initial_.model.architecture(), initial_.model.layout(), scheme::recipe_of(scheme))),
      batches_(corpus.train, settings.context, settings.batch, data_seed(settings.seed)),
      pass_(initial_.model, {settings.batch, settings.context}, model::Keep::everything),
      batch_step_(initial_.model, {settings.batch, settings.context}),
      observer_(initial_.model, {settings.batch, settings.context}),
      gradients_(initial_.model.layout()) {
    const std::string_view measured = scheme::recipe_of(scheme).initialisation.measured;
    if (!measured.empty() && settings.from.empty()) {
        std::vector<std::int32_t> ids;
        std::vector<std::int32_t> targets;
        batches_.fill(0, 0, ids, targets);
        measure_skips(initial_.model, measured, {settings.batch, settings.context}, ids);
    }
}

bool Trainer::is_recorded(std::size_t step) const {
    return step == 1 || step % settings_.record == 0 || step == settings_.steps;
}

// The gradient of the mean over all micro-batches, each weighted 1/accumulate, then one update. The first micro-batch
// of a recorded step goes through a Pass that can be looked into, everything else through BatchStep. Everything random
// is a function of the seed and the number of the step, so that nothing but `done_`, weights and moments has to be
// restored.
StepReport Trainer::step(const std::atomic<bool>* stop) {
    StepReport report;
    report.step = done_ + 1;
    report.rate = optimisation_.schedule.rate(done_);
    const bool recorded = is_recorded(report.step);
    const double weight = 1 / static_cast<double>(settings_.accumulate);
    gradients_.clear();
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> targets;
    std::optional<StopOn> stoppable(std::in_place, stop);
    for (std::size_t i = 0; i < settings_.accumulate; ++i) {
        batches_.fill(done_, i, ids, targets);
        const model::Dropout dropout{settings_.dropout, dropout_seed(settings_.seed, done_ * settings_.accumulate + i)};
        pass_.dropout(dropout);
        if (recorded && i == 0) {
            pass_.forward(ids, observer_.taps());
            report.loss += weight * pass_.loss_and_backward(targets, gradients_, weight, observer_.taps());
        } else {
            batch_step_.dropout(dropout);
            report.loss += weight * batch_step_.run(ids, targets, gradients_, weight);
        }
        if (!std::isfinite(report.loss)) {
            break;  // this micro-batch gave it: find_failure looks at it, not at the last one
        }
    }
    stoppable.reset();                  // half an update would be neither the step before nor this one
    if (!std::isfinite(report.loss)) {  // its gradient may be finite all the same
        report.gradient_norm = std::sqrt(squared_norm(gradients_.all().size(), gradients_.all().data()));
        report.failure = find_failure(report.step, ids, targets);
        return report;
    }
    std::vector<LayerRecord> layers = recorded ? observer_.records(weight) : std::vector<LayerRecord>{};
    std::vector<ParameterStep> parameters;
    const Optimiser::Result result = optimiser_.step(done_, gradients_, recorded ? &parameters : nullptr);
    report.gradient_norm = result.gradient_norm;
    if (!result.finite) {
        report.failure = find_failure(report.step, ids, targets);
        return report;
    }
    ++done_;
    if (recorded) {
        observer_.add_matrices(parameters, layers);
        report.layers = std::move(layers);
        report.embedding = observer_.embedding();
        report.embedding.gradient /= weight;
        report.failure = check_layers(report);
    }
    if (const auto spike = check_loss(report); spike && !report.failure) {
        report.failure = spike;
    }
    return report;
}

// The weights are still those that gave it: look at every layer.
std::optional<Failure> Trainer::find_failure(std::size_t step, const std::vector<std::int32_t>& ids,
                                             const std::vector<std::int32_t>& targets) {
    Failure failure{Outcome::nan, step, std::nullopt, "loss"};
    pass_.forward(ids, observer_.taps());  // with the same masks
    const std::size_t layers = initial_.model.architecture().layers;
    const std::size_t first = observer_.first_not_finite();
    if (first < layers) {
        failure.layer = first + 1;
        failure.quantity = "stream";
        return failure;
    }
    const double loss = pass_.loss_and_backward(targets, gradients_, 1.0, observer_.taps());
    if (!std::isfinite(loss)) {
        return failure;
    }
    failure.quantity = "gradient";
    const std::vector<LayerRecord> records = observer_.records(1);
    for (std::size_t l = records.size(); l-- > 0;) {  // gradients come from above
        if (!std::isfinite(records[l].gradient)) {
            failure.layer = l + 1;
            break;
        }
    }
    return failure;
}

std::optional<Failure> Trainer::check_layers(const StepReport& report) const {
    const double root = std::sqrt(static_cast<double>(initial_.model.architecture().dim));
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        if (!(report.layers[l].norm / root <= largest_half)) {
            return Failure{Outcome::exploded, report.step, l + 1, "stream"};
        }
    }
    return std::nullopt;
}

// Means over 8 steps against the best of them: one bad batch is no spike. In units of log(vocabulary), the loss of a
// model that knows nothing. recent_ and best_ are part of a restart point.
std::optional<Failure> Trainer::check_loss(const StepReport& report) {
    recent_.push_back(report.loss);
    if (recent_.size() > spike_steps) {
        recent_.erase(recent_.begin());
    }
    if (recent_.size() < spike_steps) {
        return std::nullopt;
    }
    const double now = mean(recent_);
    best_ = best_ == 0 ? now : std::min(best_, now);
    const double most = settings_.spike * std::log(static_cast<double>(corpus_.vocab));
    if (settings_.spike > 0 && now > best_ + most) {
        return Failure{Outcome::spike, report.step, std::nullopt, "loss"};
    }
    return std::nullopt;
}

// Whole batches of one shape: what is left over of the windows is not looked at. The floor is of the same windows, so
// that which windows they are does not matter to the difference.
Trainer::Validation Trainer::validate(std::size_t most) const {
    const std::size_t context = settings_.context;
    std::vector<std::size_t> windows = validation_windows(corpus_.validation.size(), context, most);
    const std::size_t sequences = std::min(windows.size(), settings_.batch);
    windows.resize(windows.size() / sequences * sequences);
    model::Pass<float> pass(initial_.model, {sequences, context});
    std::vector<std::int32_t> ids(sequences * context);
    std::vector<std::int32_t> targets(sequences * context);
    double total = 0;
    for (std::size_t first = 0; first < windows.size(); first += sequences) {
        for (std::size_t s = 0; s < sequences; ++s) {
            const auto* const from = corpus_.validation.data() + windows[first + s];
            for (std::size_t j = 0; j < context; ++j) {
                ids[s * context + j] = static_cast<std::int32_t>(from[j]);
                targets[s * context + j] = static_cast<std::int32_t>(from[j + 1]);
            }
        }
        pass.forward(ids);
        total += pass.loss(targets) * static_cast<double>(sequences);
    }
    Validation result{total / static_cast<double>(windows.size()), std::nullopt};
    if (corpus_.floor) {
        result.floor = corpus_.floor->cold_of(windows);
    }
    return result;
}

// The state of a run: weights, both moments, the steps done, and what check_loss remembers. Everything else follows
// from the settings, which the seal holds.
void Trainer::save(const std::filesystem::path& path, const record::Seal& seal) const {
    const LineVector<float>& weights = initial_.model.parameters()->all();
    const std::vector<double> state = {static_cast<double>(done_), best_};
    const std::vector<TensorToWrite> tensors = {
        tensor("weights", {weights.size()}, weights),
        tensor("first", {weights.size()}, optimiser_.first_moments().all()),
        tensor("second", {weights.size()}, optimiser_.second_moments().all()),
        tensor("state", {state.size()}, state),
        tensor("recent", {recent_.size()}, recent_),
    };
    record::write_sealed(path, seal, tensors, {});
}

void Trainer::restore(const std::filesystem::path& path, const record::Seal& seal) {
    const SafeTensors file = record::open_sealed(path, seal);
    const auto copy = [&](const char* name, model::Parameters<float>& to) {
        if (file.info(name).elements() != to.all().size()) {
            record::refuse(path, fmt::format("{} numbers of {}", file.info(name).elements(), name),
                           fmt::format("{}", to.all().size()));
        }
        file.copy_to(name, std::span<float>(to.all()));
    };
    copy("weights", *initial_.model.parameters());
    copy("first", optimiser_.first_moments());
    copy("second", optimiser_.second_moments());
    const std::vector<double> state = file.read<double>("state");
    done_ = static_cast<std::size_t>(state.at(0));
    best_ = state.at(1);
    recent_ = file.read<double>("recent");
}

double memory_estimate(const model::Architecture& architecture, std::size_t parameters, const Settings& s) {
    const model::Batch batch{s.batch, s.context};
    const model::BatchCut cut(batch);
    // Weights, gradients, two moments, the weights before a recorded step, packed weights in two forms; a gradient for
    // each slot but one.
    const std::size_t copies = 7 + (cut.slots - 1);
    const std::size_t workers = std::min(cut.slots, static_cast<std::size_t>(std::max(1, threads())));
    return static_cast<double>(sizeof(float) * copies * parameters) +
           model::memory_estimate(architecture, batch, model::Keep::everything) +
           static_cast<double>(workers) *
               model::memory_estimate(architecture, {cut.group, s.context}, model::Keep::everything) +
           model::memory_estimate(architecture, batch, model::Keep::nothing);
}

}  // namespace flyball::train
