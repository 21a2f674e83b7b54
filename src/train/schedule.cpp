#include "train/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/unreachable.hpp"

namespace flyball::train {

namespace {

std::size_t warm_up_of(const Settings& settings, scheme::Training::WarmUp prescribed) {
    if (settings.warm_up) {
        return *settings.warm_up;
    }
    switch (prescribed) {
        case scheme::Training::WarmUp::none:
            return 0;
        case scheme::Training::WarmUp::usual:
            return settings.steps / 20;
        case scheme::Training::WarmUp::needed:
            return settings.steps / 10;
    }
    unreachable();
}

}  // namespace

double Schedule::rate(std::size_t step) const {
    if (step < warm_up) {
        return peak * static_cast<double>(step + 1) / static_cast<double>(warm_up + 1);
    }
    const double share =
        static_cast<double>(step - warm_up) / static_cast<double>(std::max<std::size_t>(1, steps - warm_up));
    const double cosine = (1 + std::cos(std::numbers::pi * std::min(1.0, share))) / 2;
    return peak * (final_share + (1 - final_share) * cosine);
}

Optimisation optimisation_of(const Settings& settings, const scheme::Training& training, std::size_t parameters) {
    Optimisation result;
    result.schedule = {settings.largest_rate(), settings.final_rate, warm_up_of(settings, training.warm_up),
                       settings.steps};
    result.weight_decay = settings.weight_decay.value_or(training.weight_decay ? 0.1 : 0.0);
    result.clip = settings.clip.value_or(training.clip ? 1.0 : 0.0);
    const bool is_large = static_cast<double>(parameters) >= training.learned_clip_from;
    result.learned_clip = training.learned_clip && is_large ? *training.learned_clip : 0;
    result.beta1 = settings.beta1;
    result.beta2 = settings.beta2;
    result.epsilon = settings.epsilon;
    result.unit_vectors = training.unit_vectors;
    return result;
}

}  // namespace flyball::train
