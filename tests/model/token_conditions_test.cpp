// Equations that look at n, the number of tokens: every text decides them anew, with the same tensors.
#include <map>

#include "core/error.hpp"
#include "model/native.hpp"
#include "model/save.hpp"
#include "support.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

// A model of one side of the condition, with the numbers of `both`: its norms are those from `first` on there.
Model<double> one_side(const Model<double>& both, std::string_view equation, std::size_t first) {
    Model<double> side(tiny_architecture(equation), native_names());
    std::map<std::string, int> named;
    for (std::size_t i = 0; i < both.layout().parameters.size(); ++i) {
        named[both.layout().parameters[i].name] = static_cast<int>(i);
    }
    for (std::size_t i = 0; i < side.layout().parameters.size(); ++i) {
        const ParameterSpec& spec = side.layout().parameters[i];
        std::string name = spec.name;
        if (const std::size_t at = name.find(".norm."); at != std::string::npos && name.starts_with("blocks.")) {
            const std::size_t number = static_cast<std::size_t>(name[at + 6] - '0');
            name.replace(at + 6, 1, std::to_string(number + first));
        }
        EXPECT_EQ(named.count(name), 1U) << name;
        const double* const from = both.at(named[name]);
        std::copy(from, from + spec.elements(), side.parameters()->at(static_cast<int>(i)));
    }
    return side;
}

std::vector<double> readout_of(const Model<double>& model, std::size_t tokens) {
    std::vector<std::int32_t> ids;
    for (std::size_t j = 0; j < tokens; ++j) {
        ids.push_back(static_cast<std::int32_t>((3 * j + 1) % 11));
    }
    Pass<double> pass(model, tokens);
    pass.forward(ids);
    return {pass.readout().begin(), pass.readout().end()};
}

// Both sides have gains, biases and a learned number, in texts of either length.
TEST(TokenConditions, FindTheTensorsOfEitherSide) {
    const std::string few = "norm(x + dt*c*f(x))";
    const std::string many = "x + dt*a*f(norm(x))";
    const std::string rest = " | norm(x) where ~a = 0.5, ~c = 0.7";
    for (const std::string& text : {"n > 4 ? " + many + " : " + few + rest, "n <= 4 ? " + few + " : " + many + rest}) {
        const Model<double> both = tiny_model<double>(tiny_architecture(text), 5);
        for (const BlockLayout& block : both.layout().blocks) {
            // Two sides, each once for attention and once for the FFN; the norm of the readout is not a block's.
            EXPECT_EQ(std::count_if(block.norms.begin(), block.norms.end(),
                                    [](const NormPlace& p) { return p.gain != absent && p.bias != absent; }),
                      4)
                << text;
            EXPECT_EQ(std::count(block.learned.begin(), block.learned.end(), absent), 0) << text;
        }
        // A model is trained on its longest sequence, nine tokens: those norms come first.
        EXPECT_LT(distance(readout_of(both, 7), readout_of(one_side(both, many + " | norm(x) where ~a = 0.5", 0), 7)),
                  1e-14)
            << text;
        EXPECT_LT(distance(readout_of(both, 3), readout_of(one_side(both, few + " | norm(x) where ~c = 0.7", 2), 3)),
                  1e-14)
            << text;
    }
}

// Other conditions are decided once and for all, as before.
TEST(TokenConditions, LeaveOthersAlone) {
    const Model<double> model =
        tiny_model<double>(tiny_architecture("depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*f(x) | norm(x)"), 5);
    EXPECT_NE(model.layout().blocks[1].norms[0].gain, absent);
    EXPECT_EQ(model.layout().blocks[2].norms[0].gain, absent);
}

TEST(TokenConditions, StartsAreThoseOfTheLongestSequence) {
    const Model<double> model =
        tiny_model<double>(tiny_architecture("x + dt*a*f(norm(x)) | norm(x) where ~a = 18/n"), 5, false);
    const int place = model.layout().blocks[0].learned[0];
    ASSERT_NE(place, absent);
    EXPECT_EQ(*model.at(place), 2);  // nine tokens
}

TEST(TokenConditions, AreNoPublishedFamily) {
    for (const char* text : {"x + dt*f(norm(x))/n | norm(x)", "n > 4 ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x)",
                             "x + dt*f(norm(x)) | n > 4 ? x : norm(x)"}) {
        EXPECT_EQ(published_family(tiny_architecture(text)), std::nullopt) << text;
    }
    EXPECT_EQ(published_family(tiny_architecture("x + dt*f(norm(x)) | norm(x)")), "gpt2");
}

TEST(TokenConditions, AreBoundedInNumber) {
    std::string text = "x + dt*f(norm(x))";
    for (int i = 1; i <= 9; ++i) {
        text = "n == " + std::to_string(i) + " ? norm(x + dt*f(x)) : " + text;
    }
    EXPECT_THROW(Model<double>(tiny_architecture(text), native_names()), Error);
}

}  // namespace
}  // namespace flyball::model::test
