#include "train/adamw_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "core/isa_variants.hpp"
#include "core/parallel.hpp"

namespace flyball::train {

namespace {

constexpr std::size_t numbers_per_slot = std::size_t{1} << 15;  // 512 kB of the four arrays: a second-level cache
constexpr std::size_t most_slots = 64;

std::size_t slots_of(std::size_t count) {
    return std::clamp<std::size_t>(count / numbers_per_slot, 1, most_slots);
}

AdamwKernels::Factors factors_of(const AdamwStep& step) {
    const auto narrow = [](double x) { return static_cast<float>(x); };
    AdamwKernels::Factors factors{};
    factors.scale = narrow(step.gradient_scale);
    factors.keep1 = narrow(step.beta1);
    factors.add1 = narrow(1 - step.beta1);
    factors.keep2 = narrow(step.beta2);
    factors.add2 = narrow(1 - step.beta2);
    factors.keep_weight = narrow(1 - step.rate * step.decay);
    factors.rate = narrow(step.rate / step.bias1);
    factors.root = narrow(1 / std::sqrt(step.bias2));
    factors.eps = narrow(step.eps);
    return factors;
}

}  // namespace

const AdamwKernels& adamw_kernels(Isa isa) {
    return IsaVariants<AdamwKernels>{adamw_kernels_plain, adamw_kernels_avx2}[isa];
}

void adamw_update(std::size_t count, float* weights, float* first, float* second, const float* gradients,
                  const AdamwStep& step) {
    const AdamwKernels& kernels = adamw_kernels(active_isa());
    const AdamwKernels::Factors factors = factors_of(step);
    parallel_slots(count, slots_of(count), [&](std::size_t, std::size_t begin, std::size_t end) {
        kernels.update(end - begin, weights + begin, first + begin, second + begin, gradients + begin, factors);
    });
}

double squared_norm(std::size_t count, const float* values) {
    const AdamwKernels& kernels = adamw_kernels(active_isa());
    return parallel_sum(count, slots_of(count), [&](std::size_t, std::size_t begin, std::size_t end) {
        return kernels.squares(end - begin, values + begin);
    });
}

}  // namespace flyball::train
