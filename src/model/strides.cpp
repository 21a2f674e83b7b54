#include "model/strides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "model/pass.hpp"

namespace flyball::model {

namespace {

void check_strides(const Architecture& a, const Strides& strides) {
    const auto fail = [](const std::string& got, const std::string& expected) {
        throw Error(ErrorKind::usage, "model.strides", got, expected);
    };
    if (!a.has_head || !a.causal) {
        fail(fmt::format("{} for a {} model", setting("stride", std::to_string(strides.stride)), a.family),
             "a model that predicts the next token");
    }
    if (strides.length < 2) {
        fail(fmt::format("windows of {} tokens", strides.length), "at least 2, so that a token has one before it");
    }
    if (strides.stride < 1 || strides.stride > strides.length) {
        fail(setting("stride", std::to_string(strides.stride)),
             fmt::format("from 1 to {}, the length of a window", strides.length));
    }
}

}  // namespace

MeanLoss mean_loss(std::span<const double> losses) {
    MeanLoss result;
    double sum = 0;
    for (const double loss : losses) {
        if (!std::isnan(loss)) {
            sum += loss;
            ++result.scored;
        }
    }
    const auto count = static_cast<double>(result.scored);
    result.loss = result.scored == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count;
    double squares = 0;
    for (const double loss : losses) {
        squares += std::isnan(loss) ? 0 : (loss - result.loss) * (loss - result.loss);
    }
    result.standard_error =
        result.scored < 2 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(squares / (count - 1) / count);
    result.perplexity = std::exp(result.loss);
    return result;
}

// Windows overlap by length - stride tokens, which are context alone: each token is scored once, in the first window
// that reaches it, and from the second window on with at least that much text before it.
TextScore score_by_strides(const Model<float>& model, std::span<const std::int32_t> ids, const Strides& strides,
                           const std::function<void(std::size_t)>& told) {
    check_strides(model.architecture(), strides);
    TextScore result;
    result.losses.assign(ids.size(), std::numeric_limits<double>::quiet_NaN());
    std::unique_ptr<Pass<float>> pass;
    std::size_t length = 0;  // of the windows that `pass` is for
    std::vector<std::int32_t> targets;
    for (std::size_t begin = 0, seen = 0; seen < ids.size(); begin += strides.stride) {
        check_stop();
        const std::size_t end = std::min(begin + strides.length, ids.size());
        if (end - begin != length) {
            length = end - begin;
            Batch batch(length);
            batch.allow_long = strides.allow_long;
            pass.reset();  // before the next one takes its room
            pass = std::make_unique<Pass<float>>(model, batch);
        }
        targets.assign(length, no_target);
        for (std::size_t i = std::max(seen, begin + 1); i < end; ++i) {
            targets[i - 1 - begin] = ids[i];
        }
        pass->forward(ids.subspan(begin, length));
        const std::vector<double> losses = pass->losses(targets);
        for (std::size_t i = std::max(seen, begin + 1); i < end; ++i) {
            result.losses[i] = losses[i - 1 - begin];
            result.finite = result.finite && std::isfinite(result.losses[i]);
        }
        ++result.windows;
        seen = end;
        if (told) {
            told(seen);
        }
    }
    result.mean = mean_loss(result.losses);
    if (!result.finite) {
        result.mean.loss = result.mean.standard_error = result.mean.perplexity = std::nan("");
    }
    return result;
}

}  // namespace flyball::model
