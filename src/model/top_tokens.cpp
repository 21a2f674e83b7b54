#include "model/top_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "model/layer_kernels.hpp"

namespace flyball::model {

TopTokens::TopTokens(const Architecture& architecture, std::size_t rows, std::size_t count) : count_(count) {
    if (!architecture.has_head) {
        throw Error(ErrorKind::usage, "model.top",
                    fmt::format("{} for a {} model without a language-model head",
                                setting("top", std::to_string(count)), architecture.family),
                    "a model with a head");
    }
    if (count < 1 || count > architecture.vocab) {
        throw Error(ErrorKind::usage, "model.top", setting("top", std::to_string(count)),
                    fmt::format("from 1 to {}, the tokens of this model's vocabulary", architecture.vocab));
    }
    ids_.resize(rows * count);
    log_probabilities_.resize(rows * count);
}

void TopTokens::listen(Taps<float>& taps) {
    taps.add("logits", [this](const TapView<float>& view) { take(view); });
}

void TopTokens::take(const TapView<float>& view) {
    const LayerKernels<float>& kernels = layer_kernels<float>();
    parallel_slots(view.rows, view.rows, [&](std::size_t, std::size_t begin, std::size_t end) {
        thread_local std::vector<std::int64_t> order;
        for (std::size_t i = begin; i < end; ++i) {
            const float* const logits = view.row(i);
            const auto before = [&](std::int64_t one, std::int64_t other) {
                const float a = logits[one];
                const float b = logits[other];
                if (a > b || a < b) {
                    return a > b;
                }
                return std::isnan(a) != std::isnan(b) ? std::isnan(b) : one < other;
            };
            order.resize(view.columns);
            std::iota(order.begin(), order.end(), 0);
            std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count_), order.end(), before);
            const double sum = kernels.log_sum_exp(view.columns, logits);
            const std::size_t at = (view.first_row + i) * count_;
            for (std::size_t k = 0; k < count_; ++k) {
                ids_[at + k] = order[k];
                log_probabilities_[at + k] = static_cast<float>(double{logits[order[k]]} - sum);
            }
        }
    });
}

}  // namespace flyball::model
