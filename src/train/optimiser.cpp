#include "train/optimiser.hpp"

#include <cmath>
#include <utility>

#include "core/unreachable.hpp"
#include "measure/moments.hpp"
#include "model/initialise.hpp"
#include "train/adamw_kernels.hpp"

namespace flyball::train {

bool is_decayed(model::Role role) {
    switch (role) {
        case model::Role::embedding:
        case model::Role::head:
        case model::Role::weight:
        case model::Role::residual_weight:
            return true;
        case model::Role::bias:
        case model::Role::gain:
        case model::Role::norm_bias:
        case model::Role::curve:
        case model::Role::learned:
        case model::Role::attention_gain:
        case model::Role::ffn_gain:
        case model::Role::logit_gain:
            return false;
    }
    unreachable();
}

Optimiser::Optimiser(model::Model<float>& model, const Optimisation& how, std::vector<double> rate_factors)
    : model_(model),
      how_(how),
      rate_factors_(std::move(rate_factors)),
      first_(model.layout()),
      second_(model.layout()) {
    rate_factors_.resize(model.layout().parameters.size(), 1.0);
}

// GPAS: the gradients of the equation's own parameters have a limit of their own.
void Optimiser::clip_learned(model::Parameters<float>& gradients) const {
    if (how_.learned_clip <= 0) {
        return;
    }
    const std::vector<model::ParameterSpec>& specs = model_.layout().parameters;
    double squares = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].role == model::Role::learned) {
            squares += squared_norm(specs[i].elements(), gradients.at(static_cast<int>(i)));
        }
    }
    const double norm = std::sqrt(squares);
    if (!(norm > how_.learned_clip)) {
        return;
    }
    const auto factor = static_cast<float>(how_.learned_clip / norm);
    for (std::size_t i = 0; i < specs.size(); ++i) {
        float* const values = gradients.at(static_cast<int>(i));
        for (std::size_t k = 0; specs[i].role == model::Role::learned && k < specs[i].elements(); ++k) {
            values[k] *= factor;
        }
    }
}

// The order matters: gradients are measured as they came; learned_clip acts before their common length is taken;
// clipping is a factor on the way into AdamW, which saves a pass over memory; unit vectors are scaled last, so that a
// watched update is the whole change of a weight. A gradient that is not finite leaves weights and moments as they
// were.
Optimiser::Result Optimiser::step(std::size_t step, model::Parameters<float>& gradients,
                                  std::vector<ParameterStep>* watched) {
    model::Parameters<float>& weights = *model_.parameters();
    const std::vector<model::ParameterSpec>& specs = model_.layout().parameters;
    if (watched != nullptr) {
        watched->assign(specs.size(), {});
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const int p = static_cast<int>(i);
            (*watched)[i].gradient = measure::frobenius(gradients.at(p), specs[i].elements());
            (*watched)[i].weight = measure::frobenius(weights.at(p), specs[i].elements());
        }
        before_ = weights.all();
    }
    clip_learned(gradients);
    Result result;
    result.gradient_norm = std::sqrt(squared_norm(gradients.all().size(), gradients.all().data()));
    if (!std::isfinite(result.gradient_norm)) {
        result.finite = false;
        return result;
    }
    const auto number = static_cast<double>(step + 1);
    AdamwStep adamw;
    const double rate = how_.schedule.rate(step);
    adamw.beta1 = how_.beta1;
    adamw.beta2 = how_.beta2;
    adamw.eps = how_.epsilon;
    adamw.bias1 = 1 - std::pow(how_.beta1, number);
    adamw.bias2 = 1 - std::pow(how_.beta2, number);
    adamw.gradient_scale = how_.clip > 0 && result.gradient_norm > how_.clip ? how_.clip / result.gradient_norm : 1.0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const int p = static_cast<int>(i);
        adamw.rate = rate * rate_factors_[i];
        adamw.decay = is_decayed(specs[i].role) ? how_.weight_decay : 0;
        adamw_update(specs[i].elements(), weights.at(p), first_.at(p), second_.at(p), gradients.at(p), adamw);
    }
    model::scale_to_unit(model_.layout(), how_.unit_vectors, weights);
    if (watched != nullptr) {
        for (std::size_t k = 0; k < before_.size(); ++k) {
            before_[k] = weights.all()[k] - before_[k];
        }
        for (std::size_t i = 0; i < specs.size(); ++i) {
            (*watched)[i].update = measure::frobenius(before_.data() + specs[i].offset, specs[i].elements());
        }
    }
    return result;
}

}  // namespace flyball::train
