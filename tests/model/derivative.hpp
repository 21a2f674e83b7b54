// Reverse mode against finite differences of the loss, for any tiny model.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "model/pass.hpp"
#include "tiny.hpp"

namespace flyball::model::test {

// A loss to differentiate. Two sequences where a batch is asked for: of other tokens, and the second with fewer
// targets.
struct Problem {
    Batch batch = tiny_ids.size();
    std::vector<std::int32_t> ids = tiny_ids;
    std::vector<std::int32_t> targets = next_tokens(tiny_ids);
    Dropout dropout;

    static Problem of_two() {
        Problem two;
        two.batch = {2, 5};
        two.ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
        two.targets = next_tokens(two.ids, 2);
        two.targets[6] = no_target;
        return two;
    }
    double loss(const Model<double>& model) const {
        Pass<double> pass(model, batch);
        pass.dropout(dropout);
        pass.forward(ids);
        return pass.loss(targets);
    }
};

// One random direction for each parameter tensor.
inline void expect_derivative(Model<double> model, Keep keep, const std::string& what, const Problem& problem = {}) {
    Parameters<double> gradients(model.layout());
    Pass<double> pass(model, problem.batch, keep);
    pass.dropout(problem.dropout);
    pass.forward(problem.ids);
    const double loss = pass.loss_and_backward(problem.targets, gradients);
    EXPECT_NEAR(loss, problem.loss(model), 1e-12) << what;
    ASSERT_TRUE(std::isfinite(loss)) << what;
    double largest = 0;
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        const int parameter = static_cast<int>(i);
        double* const values = model.parameters()->at(parameter);
        const std::vector<double> before(values, values + spec.elements());
        const Random direction(77, i);
        double predicted = 0;
        for (std::size_t k = 0; k < before.size(); ++k) {
            predicted += gradients.at(parameter)[k] * direction.normal(k);
        }
        const double step = 1e-5;
        const auto moved = [&](double by) {
            for (std::size_t k = 0; k < before.size(); ++k) {
                values[k] = before[k] + by * direction.normal(k);
            }
            return problem.loss(model);
        };
        // Fourth order: norms of short vectors are strongly curved.
        const double measured = (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
        std::copy(before.begin(), before.end(), values);
        EXPECT_NEAR(predicted, measured, 2e-8 + 2e-6 * std::fabs(measured)) << what << ": " << spec.name;
        largest = std::max(largest, std::fabs(measured));
    }
    EXPECT_GT(largest, 1e-3) << what << ": nothing depends on anything";
}

}  // namespace flyball::model::test
