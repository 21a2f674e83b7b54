// A model may be trained with every norm of the list: its numbers start where its source says, and they learn.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model/initialise.hpp"
#include "model/pass.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/normaliser.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

Architecture with_norm(const scheme::Normaliser& norm, const char* scheme_name) {
    Architecture a = wired(tiny_architecture(""), scheme::find_scheme(scheme_name));
    a.norm = norm.name;
    a.eps = norm.eps;
    a.layers = 2;
    return a;
}

// What every norm's parameters of one kind start at; absent kinds are not listed.
std::map<std::string, float> starts(const Model<float>& model) {
    std::map<std::string, float> found;
    for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = model.layout().parameters[i];
        if (spec.name.find("norm.") == std::string::npos) {
            continue;
        }
        const std::string kind = spec.name.substr(spec.name.rfind('.') + 1);
        for (std::size_t k = 0; k < spec.elements(); ++k) {
            const float value = model.at(static_cast<int>(i))[k];
            EXPECT_EQ(found.emplace(kind, value).first->second, value) << spec.name;
        }
    }
    return found;
}

TEST(Norms, StartWhereTheirSourcesSay) {
    // DyT, arXiv:2503.10622: gain * tanh(alpha x) + bias, alpha 0.5. Derf, arXiv:2512.10938: gain * erf(alpha x + s) +
    // bias, alpha 0.5, s 0.
    const std::map<std::string, std::map<std::string, float>> expected = {
        {"unit", {}},
        {"layernorm", {{"weight", 1.0F}, {"bias", 0.0F}}},
        {"rmsnorm", {{"weight", 1.0F}}},
        {"dyt", {{"weight", 1.0F}, {"bias", 0.0F}, {"alpha", 0.5F}}},
        {"derf", {{"weight", 1.0F}, {"bias", 0.0F}, {"alpha", 0.5F}, {"shift", 0.0F}}},
    };
    for (const scheme::Normaliser& norm : scheme::normalisers()) {
        const auto numbers = expected.find(std::string(norm.name));
        ASSERT_NE(numbers, expected.end()) << "say above where the numbers of " << norm.name << " start";
        EXPECT_EQ(starts(initialised<float>(with_norm(norm, "peri-ln"), scheme::Recipe{}, 3)), numbers->second)
            << norm.name;
    }
}

// The squares of a stream of 2^80 overflow in float. Beside either stream what the blocks add is less than rounding, so
// that the model must say the same: rows that became zero would make it predict every token alike.
TEST(Norms, OfAStreamWhoseSquaresOverflowAreThoseOfALargeStream) {
    for (const char* const name : {"layernorm", "rmsnorm", "unit"}) {
        const Architecture a = with_norm(scheme::find_normaliser(name), "pre-ln");
        std::vector<std::vector<double>> said;
        for (const int power : {40, 80}) {
            Model<float> model = initialised<float>(a, {.initialisation = {.draw = {.deviation = "0.2"}}}, 3);
            for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
                const ParameterSpec& spec = model.layout().parameters[i];
                for (std::size_t k = 0; spec.role == Role::embedding && k < spec.elements(); ++k) {
                    model.parameters()->at(static_cast<int>(i))[k] *= std::ldexp(1.0F, power);
                }
            }
            Pass<float> pass(model, tiny_ids.size(), Keep::nothing);
            pass.forward(tiny_ids);
            said.emplace_back(pass.readout().begin(), pass.readout().end());
        }
        double largest = 0;
        for (std::size_t k = 0; k < said[0].size(); ++k) {
            ASSERT_NEAR(said[1][k], said[0][k], 1e-5) << name;
            largest = std::max(largest, std::fabs(said[0][k]));
        }
        EXPECT_GT(largest, 0.1) << name;
    }
}

TEST(Norms, OfEveryKindAModelLearnsAndSoDoTheirNumbers) {
    for (const scheme::Normaliser& norm : scheme::normalisers()) {
        for (const char* const scheme_name : {"pre-ln", "peri-ln", "post-ln"}) {
            const std::string what = std::string(norm.name) + " " + scheme_name;
            const Architecture a = with_norm(norm, scheme_name);
            Model<float> model = initialised<float>(a, {.initialisation = {.draw = {.deviation = "0.2"}}}, 3);
            const Parameters<float> before = *model.parameters();
            Pass<float> pass(model, tiny_ids.size(), Keep::everything);
            double first = 0;
            double last = 0;
            for (int step = 0; step < 200; ++step) {
                Parameters<float> gradients(model.layout());
                pass.forward(tiny_ids);
                last = pass.loss_and_backward(next_tokens(tiny_ids), gradients);
                first = step == 0 ? last : first;
                for (std::size_t k = 0; k < gradients.all().size(); ++k) {
                    model.parameters()->all()[k] -= 0.1F * gradients.all()[k];
                }
            }
            EXPECT_LT(last, 0.7 * first) << what;
            for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
                const ParameterSpec& spec = model.layout().parameters[i];
                const int p = static_cast<int>(i);
                EXPECT_NE(model.at(p)[0], before.at(p)[0]) << what << ": " << spec.name << " did not move";
            }
        }
    }
}

}  // namespace
}  // namespace flyball::model::test
