// Normalisers on logits: their names, their weights by hand, and how far they can move.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/random.hpp"
#include "limits/normaliser.hpp"

namespace flyball::limits {
namespace {

std::vector<double> weights_of(const Normaliser& normaliser, std::vector<double> z) {
    std::vector<double> room;
    const std::size_t count = z.size();
    z.resize((count + 31) / 32 * 32);
    normaliser.weigh(count, z.data(), room);
    z.resize(count);
    return z;
}

TEST(Normaliser, NamesAreReadBack) {
    for (const std::string& name : Normaliser::names()) {
        EXPECT_EQ(Normaliser::parse(name).name(), name);
    }
    EXPECT_EQ(Normaliser::parse("softmax:0.5").name(), "softmax:0.5");
    EXPECT_EQ(Normaliser::parse("softmax:0.5").temperature(8), 0.5);
    EXPECT_EQ(Normaliser::parse("softmax").temperature(8), 8);
    for (const char* wrong : {"softmx", "softmax:", "softmax:0", "softmax:-1", "ssmax:2", ""}) {
        EXPECT_THROW(Normaliser::parse(wrong), Error) << wrong;
    }
}

TEST(Normaliser, OfAModelIsTheKindOfItsAttention) {
    using attention::Kind;
    for (const auto& [kind, name] : std::vector<std::pair<Kind, std::string>>{{Kind::softmax, "softmax"},
                                                                              {Kind::sparsemax, "sparsemax"},
                                                                              {Kind::entmax15, "entmax15"},
                                                                              {Kind::ssmax, "ssmax"},
                                                                              {Kind::sigmoid, "sigmoid"}}) {
        EXPECT_EQ(Normaliser::of(kind).name(), name);
        EXPECT_EQ(Normaliser::of(kind).temperature(8), 8) << "the model's own";
    }
}

TEST(Normaliser, RefusalsSayWhatIsRead) {
    const auto refusal = [](const auto& ask) -> std::string {
        try {
            ask();
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const std::string unbounded = refusal([] { Normaliser::of(attention::Kind::unnormalized); });
    EXPECT_NE(unbounded.find("got a model with unnormalized attention, expected attention whose weights are bounded"),
              std::string::npos)
        << unbounded;
    EXPECT_NE(unbounded.find("attention = softmax"), std::string::npos) << unbounded;
    for (const std::string text : {"softmax:0", "softmax:x", "ssmax:2"}) {
        const std::string said = refusal([&] { Normaliser::parse(text); });
        EXPECT_NE(said.find("got attention = '" + text + "', expected softmax:T with a temperature T above 0"),
                  std::string::npos)
            << said;
    }
    EXPECT_NE(refusal([] { Normaliser::parse("softmx"); }).find("did you mean softmax?"), std::string::npos);
}

TEST(Normaliser, WeightsByHand) {
    const std::vector<double> z = {std::log(1.0), std::log(2.0), std::log(5.0)};
    const double L = std::log(3.0);
    const std::vector<std::pair<const char*, std::vector<double>>> wanted = {
        {"softmax", {1 / 8.0, 2 / 8.0, 5 / 8.0}},
        // support {2, 3}: tau = (log 10 - 1)/2
        {"sparsemax", {0, 0.5 + (std::log(2.0) - std::log(5.0)) / 2, 0.5 + (std::log(5.0) - std::log(2.0)) / 2}},
        {"ssmax",
         {1 / (1 + std::pow(2, L) + std::pow(5, L)), std::pow(2, L) / (1 + std::pow(2, L) + std::pow(5, L)),
          std::pow(5, L) / (1 + std::pow(2, L) + std::pow(5, L))}},
        {"sigmoid", {1 / 4.0, 2 / 5.0, 5 / 8.0}},
        {"sa-softmax", {0, std::log(2.0) / 4, std::log(5.0) * 5 / 8}},
        {"sa-range", {0, std::log(2.0) / std::log(5.0) / 4, 5 / 8.0}},
    };
    for (const auto& [name, numbers] : wanted) {
        const std::vector<double> found = weights_of(Normaliser::parse(name), z);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_NEAR(found[i], numbers[i], 1e-14) << name << " " << i;
        }
    }
    EXPECT_NEAR(weights_of(Normaliser::parse("sa-range"), {0, 0})[1], 0.5, 1e-15);  // no range: softmax
    // All above 0: the range begins at 0. All below: it ends there.
    EXPECT_NEAR(weights_of(Normaliser::parse("sa-range"), {1, 2})[0], 0.5 / (1 + std::exp(1.0)), 1e-15);
    EXPECT_NEAR(weights_of(Normaliser::parse("sa-range"), {-2, -1})[1], 0.5 / (1 + std::exp(-1.0)), 1e-15);
    const std::vector<double> entmax = weights_of(Normaliser::parse("entmax15"), z);
    EXPECT_NEAR(std::accumulate(entmax.begin(), entmax.end(), 0.0), 1, 1e-14);
    EXPECT_NEAR(2 * (std::sqrt(entmax[2]) - std::sqrt(entmax[1])), z[2] - z[1], 1e-14);
}

// Small steps in many directions at many temperatures; two tied logits attain the bound of softmax.
TEST(Normaliser, MovesNoFasterThanItsBound) {
    const Random numbers(5, 1);
    for (const char* name : {"softmax", "sparsemax", "entmax15", "ssmax", "sigmoid"}) {
        const Normaliser normaliser = Normaliser::parse(name);
        std::uint64_t at = 0;
        for (const double T : {0.1, 1.0, 8.0}) {
            for (const double eps : {1e-3, 0.1, 10.0}) {
                for (int trial = 0; trial < 20; ++trial) {
                    std::vector<double> l(6);
                    std::vector<double> v(6);
                    double squares = 0;
                    for (std::size_t i = 0; i < 6; ++i) {
                        l[i] = numbers.normal(at++);
                        v[i] = numbers.normal(at++);
                        squares += v[i] * v[i];
                    }
                    std::vector<double> moved(6);
                    for (std::size_t i = 0; i < 6; ++i) {
                        moved[i] = (l[i] + eps * v[i] / std::sqrt(squares)) / T;
                        l[i] /= T;
                    }
                    const std::vector<double> a = weights_of(normaliser, l);
                    const std::vector<double> b = weights_of(normaliser, moved);
                    double change = 0;
                    for (std::size_t i = 0; i < 6; ++i) {
                        change += (a[i] - b[i]) * (a[i] - b[i]);
                    }
                    EXPECT_LE(std::sqrt(change) / eps, normaliser.sensitivity_bound(T, eps, 6) * (1 + 1e-9)) << name;
                }
            }
        }
    }
    // Along (1, -1)/sqrt 2 two tied logits move the weights by eps/(2T).
    const double eps = 1e-6;
    const std::vector<double> moved =
        weights_of(Normaliser::parse("softmax"), {eps / std::sqrt(2.0), -eps / std::sqrt(2.0)});
    const double change = std::sqrt(2.0) * (moved[0] - 0.5) / eps;
    EXPECT_NEAR(change, Normaliser().sensitivity_bound(1, eps, 2), 1e-6);
    EXPECT_TRUE(std::isnan(Normaliser::parse("sa-softmax").sensitivity_bound(1, 1, 4)));
    // The steepest slope of a sigmoid is 1/4; for large steps m weights move by sqrt m at most.
    EXPECT_DOUBLE_EQ(Normaliser::parse("sigmoid").sensitivity_bound(2, 1e-3, 9), 0.125);
    EXPECT_DOUBLE_EQ(Normaliser::parse("sigmoid").sensitivity_bound(2, 30, 9), 0.1);
    EXPECT_DOUBLE_EQ(Normaliser::parse("ssmax").sensitivity_bound(2, 1e-3, 9), std::log(9.0) / 4);
    EXPECT_DOUBLE_EQ(Normaliser::parse("sparsemax").sensitivity_bound(2, 1e-3, 9), 0.5);
    EXPECT_DOUBLE_EQ(Normaliser::parse("entmax15").sensitivity_bound(2, 1e-3, 9), 0.5);
    EXPECT_DOUBLE_EQ(Normaliser::parse("softmax").sensitivity_bound(2, 1e-3, 9), 0.25);
    for (const char* name : {"softmax", "ssmax", "sparsemax", "entmax15"}) {  // two points of the simplex
        EXPECT_DOUBLE_EQ(Normaliser::parse(name).sensitivity_bound(2, 30, 9), std::sqrt(2.0) / 30) << name;
    }
    EXPECT_TRUE(std::isnan(Normaliser::parse("sa-range").sensitivity_bound(1, 1, 4)));
    EXPECT_DOUBLE_EQ(paper_sensitivity_bound(2), 0.125);
    EXPECT_DOUBLE_EQ(paper_sensitivity_bound(0.1), std::sqrt(2.0));
}

}  // namespace
}  // namespace flyball::limits
