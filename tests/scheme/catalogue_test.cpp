// The catalogue keeps its promises to everything that walks it.
#include <algorithm>
#include <set>

#include "scheme/document.hpp"
#include "scheme/limit.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/own_equation.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

class EntryOf : public EveryScheme {};

TEST_P(EntryOf, IsComplete) {
    const CatalogueEntry& entry = GetParam();
    EXPECT_FALSE(entry.title.empty());
    EXPECT_FALSE(entry.reference.empty());
    EXPECT_FALSE(entry.remark.empty());

    EXPECT_EQ(entry.colour.size(), 7U) << "a colour such as #4269d0";
    const Program program = Program::parse(entry.equation);
    EXPECT_EQ(program.text(), entry.equation) << "the catalogue holds canonical text";
    ASSERT_EQ(program.parameters().size(), entry.parameters.size()) << "every parameter needs its help";
    for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
        EXPECT_EQ(program.parameters()[i].name, entry.parameters[i].name);
        EXPECT_FALSE(entry.parameters[i].help.empty());
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EntryOf, ::testing::ValuesIn(catalogue()), test_name);

TEST(Catalogue, HasTheSchemesThatThePapersCompare) {
    for (const char* name : {"post-ln", "pre-ln",       "peri-ln",     "output-ln",         "mix-ln",
                             "ngpt",    "sqrt-scaling", "ln-scaling",  "ln-scaling-output", "deepnorm",
                             "keel",    "admin",        "rezero",      "layerscale",        "sandwich",
                             "b2t",     "residual",     "siamesenorm", "spannorm",          "hybridnorm",
                             "gpas",    "dyt",          "derf"}) {
        EXPECT_NE(find_entry(name), nullptr) << name;
    }
    EXPECT_EQ(find_entry("sandwich"), find_entry("peri-ln"));
    EXPECT_EQ(find_normaliser("dyt").function, RowFunction::tanh);
    EXPECT_EQ(find_normaliser("derf").function, RowFunction::erf);
    EXPECT_THROW(find_normaliser("layrnorm"), std::exception);
}

TEST(Catalogue, NamesAndLooksAreUnique) {
    std::set<std::string_view> names;
    std::set<std::pair<std::string_view, std::string_view>> looks;
    for (const CatalogueEntry& entry : catalogue()) {
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        for (const std::string_view alias : entry.aliases) {
            EXPECT_TRUE(names.insert(alias).second) << alias;
        }
        EXPECT_TRUE(looks.insert({entry.colour, entry.dash}).second) << entry.name << " looks like another scheme";
    }
}

TEST(Catalogue, LimitsAndLawsAreTheKnownOnes) {
    // Typed by hand: the paper's six have both, and so have the streams of two; coordinate-wise schemes have no law.
    for (const char* name : {"post-ln", "pre-ln", "mix-ln", "peri-ln", "ngpt", "sqrt-scaling", "residual", "b2t"}) {
        const Program program = find_scheme(name).program;
        EXPECT_EQ(limit_problem(program, SubLayers::attention_only), std::nullopt) << name;
        EXPECT_EQ(limit_problem(program, SubLayers::attention_and_ffn), std::nullopt) << name;
        EXPECT_EQ(reduced_law_problem(program), std::nullopt) << name;
    }
    for (const char* name : {"dyt", "derf"}) {
        const Program program = find_scheme(name).program;
        EXPECT_EQ(limit_problem(program, SubLayers::attention_only), std::nullopt) << name;
        EXPECT_TRUE(reduced_law_problem(program).has_value()) << name;
    }
}

TEST(Catalogue, TheDocumentSaysWhatHasALimitAndWhatHasALaw) {
    const Json list = document({find_scheme("peri-ln"), find_scheme("dyt"), scheme_of_equation("x + f(norm(x))")});
    EXPECT_TRUE(list.at(0).at("ode").get<bool>() && list.at(0).at("plane").get<bool>());
    EXPECT_TRUE(list.at(1).at("ode").get<bool>() && !list.at(1).at("plane").get<bool>());
    EXPECT_TRUE(!list.at(2).at("ode").get<bool>() && !list.at(2).at("plane").get<bool>());
}

TEST(Catalogue, TheDocumentSaysWhichModelsHaveAScheme) {
    const Json list = document({find_scheme("post-ln"), scheme_of_equation("x + f(norm(x))")});
    EXPECT_EQ(list.at(0).at("models"), (std::vector<std::string>{"Transformer", "BERT", "RoBERTa", "GPT-1"}));
    EXPECT_TRUE(list.at(1).at("models").empty());
}

TEST(Catalogue, TheDocumentSaysWhatEachParameterIsUnlessSet) {
    const Json list = document({find_scheme("ngpt:alpha=1/(1+t)"), find_scheme("dyt"), find_scheme("post-ln"),
                                scheme_of_equation("x + dt*a*f(x) where ~a = 2")});
    const auto row = [](const char* name, const char* value, bool learned, const char* help) {
        return Json{{"name", name}, {"default", value}, {"learned", learned}, {"help", help}};
    };
    EXPECT_EQ(list.at(0).at("parameters"),
              Json::array({row("alpha", "1/(1+t)", false, "how far a step moves towards the branch")}));
    EXPECT_EQ(list.at(1).at("parameters"), Json::array({row("alpha", "0.5", true, "steepness of the curve"),
                                                        row("gain", "1", true, "gain per channel")}));
    EXPECT_EQ(list.at(2).at("parameters"), Json::array());
    EXPECT_EQ(list.at(3).at("parameters"), Json::array({row("a", "2", true, "")}));
}

// Typed from the catalogue: every other field under its own name, and of an equation of one's own what there is.
TEST(Catalogue, TheDocumentHasEveryFieldUnderItsName) {
    const Json list = document({find_scheme("peri-ln"), find_scheme("deepnorm"), find_scheme("ngpt"),
                                find_scheme("mix-ln:tau=0.5"), scheme_of_equation("mine=x + f(norm(x)) | norm(x)")});
    EXPECT_EQ(list.at(0).at("name"), "peri-ln");
    EXPECT_EQ(list.at(0).at("title"), "Peri-LN");
    EXPECT_EQ(list.at(0).at("aliases"), std::vector<std::string>({"sandwich", "sandwich-ln"}));
    const Json& deep = list.at(1);
    EXPECT_EQ(deep.at("equation"), "norm(a*x + dt*f(x)) where a = (2*L)^0.25");
    EXPECT_EQ(deep.at("readout"), "x");
    EXPECT_EQ(deep.at("reference"), "Wang et al. 2022, arXiv:2203.00555");
    EXPECT_EQ(deep.at("remark"), "Post-LN with a stronger skip; trained at 1000 layers");
    EXPECT_NE(deep.at("initialisation").get<std::string>().find(" times (8*L)^-0.25"), std::string::npos);
    EXPECT_EQ(deep.at("attributes"), "");
    EXPECT_EQ(deep.at("colour"), "#4269d0");
    EXPECT_EQ(deep.at("dash"), "6 2");
    EXPECT_NE(list.at(2).at("attributes").get<std::string>().find("a learned scale for each token's logit"),
              std::string::npos);
    EXPECT_EQ(list.at(3).at("name"), "mix-ln:tau=0.5");
    const Json& own = list.at(4);
    EXPECT_EQ(own.at("name"), "mine");
    EXPECT_EQ(own.at("equation"), "x + f(norm(x)) | norm(x)");
    EXPECT_EQ(own.at("readout"), "norm(x)");
    for (const char* const key : {"title", "reference", "remark", "initialisation", "attributes", "dash"}) {
        EXPECT_EQ(own.at(key), "") << key;
    }
    EXPECT_EQ(own.at("colour"), "#e10f96") << "the first of those that no scheme has";
    EXPECT_TRUE(own.at("aliases").empty());
}

TEST(Catalogue, EquationsWithoutALimitAreFound) {
    EXPECT_TRUE(limit_problem(Program::parse("tanh(x + dt*f(x))"), SubLayers::attention_only).has_value());
    EXPECT_TRUE(limit_problem(Program::parse("0.9*x + dt*f(x)"), SubLayers::attention_only).has_value());
    EXPECT_TRUE(limit_problem(Program::parse("x = y + dt*f(x); y = x/2"), SubLayers::attention_only).has_value());
    EXPECT_TRUE(
        limit_problem(Program::parse("x = x + dt*f(x); y = y/2 | x + y"), SubLayers::attention_only).has_value());
    EXPECT_TRUE(
        limit_problem(Program::parse("depth < 0.95 ? x + dt*f(x) : x + f(x)"), SubLayers::attention_only).has_value());
    // Only in the second half of the run, or only beside an FFN.
    EXPECT_TRUE(
        limit_problem(Program::parse("depth < 0.5 ? x + dt*f(x) : x + f(x)"), SubLayers::attention_only).has_value());
    const Program with_ffn = Program::parse("attn: x + dt*f(x); ffn: x + f(x)");
    EXPECT_FALSE(limit_problem(with_ffn, SubLayers::attention_only).has_value());
    EXPECT_TRUE(limit_problem(with_ffn, SubLayers::attention_and_ffn).has_value());
}

// With dt = 0 the stream is multiplied by 1 - s^60. That is 1 to all digits up to s = 1/2 (2^-60 = 1e-18, and a double
// has 2^-53), and 0.998 at s = 0.9: no flip tells where it begins to matter.
constexpr const char* shrinks_late = "(1 - depth^60)*x + dt*f(x)";

TEST(Limit, IsAskedForInTheLastTenthOfARunToo) {
    EXPECT_TRUE(limit_problem(Program::parse(shrinks_late), SubLayers::attention_only).has_value());
    EXPECT_TRUE(reduced_law_problem(Program::parse(shrinks_late)).has_value());
}

TEST(Limit, IsThatOfTheTimesOfTheRun) {
    const Program late = Program::parse("(1 - t^60)*x + dt*f(x)");
    EXPECT_EQ(limit_problem(late, SubLayers::attention_only, Environment::ode(0, 0.5, 5, 7)), std::nullopt);
    EXPECT_TRUE(limit_problem(late, SubLayers::attention_only, Environment::ode(0, 1, 5, 7)).has_value());
}

}  // namespace
}  // namespace flyball::scheme::test
