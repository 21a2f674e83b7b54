// The language: what it means, how it prints, and that wrong text gets a caret and a useful sentence.
#include <algorithm>

#include "core/error.hpp"
#include "scheme/typing.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

struct Wrong {
    const char* text;
    std::size_t caret;  // column of the first caret
    std::size_t width;
    const char* says;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.text;
}

class WrongEquation : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongEquation, GetsACaretUnderThePlaceAndAUsefulSentence) {
    const Wrong& wrong = GetParam();
    try {
        Program::parse(wrong.text);
        FAIL() << "accepted " << wrong.text;
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos) << error.what();
        const std::string& detail = error.detail();
        const std::size_t line = detail.find('\n');
        ASSERT_NE(line, std::string::npos);
        const std::string carets = detail.substr(line + 1 + 4);  // both lines are indented by four
        EXPECT_EQ(carets, std::string(wrong.caret, ' ') + std::string(wrong.width, '^')) << wrong.text << "\n"
                                                                                         << detail;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Language, WrongEquation,
    ::testing::Values(
        Wrong{"", 0, 1, "expected an equation"}, Wrong{"   ", 3, 1, "expected an equation"},
        Wrong{"x + dt*f(norm(x)", 16, 1, "')' to close 'f('"}, Wrong{"x + dt*f(norm(x)))", 17, 1, "got ')'"},
        Wrong{"x + dt*(f(x)", 12, 1, "to close the '(' at column 8"},
        Wrong{"h = norm(x);\nx = x + dt*(f(h) | x", 17, 1, "to close the '(' at line 2, column 12"},
        Wrong{"x = x +\n  (dt*f(x)\n  | x", 2, 1, "to close the '(' at line 2, column 3"},
        Wrong{"x + ", 4, 1, "a number, a name or '('"}, Wrong{"x + * f(x)", 4, 1, "a number, a name or '('"},
        Wrong{"x ** 2", 3, 1, "powers are written with ^"}, Wrong{"2x + dt*f(x)", 1, 1, "products are written with *"},
        Wrong{"x + 1.2.3*f(x)", 4, 4, "got '1.2.', expected a number with one decimal point"},
        Wrong{"x + 1e999*f(x)", 4, 5, "a number between"}, Wrong{"x + dt·f(x)", 6, 1, "write *"},
        Wrong{"x + α*f(x)", 4, 1, "write alpha"}, Wrong{"x + dt*f{x}", 8, 1, "group with ( )"},
        Wrong{"x + dt f(x)", 7, 1, "expected an operator"}, Wrong{"x + dt*nrom(f(x))", 7, 4, "did you mean norm?"},
        Wrong{"x + dt*f(y)", 9, 1, "the unknown name 'y'"}, Wrong{"x + Dt*f(x)", 4, 2, "did you mean dt?"},
        Wrong{"x + dt*f(x)/sqrt(l)", 17, 1, "use t (0 in the first block) or depth"},
        Wrong{"x + dt*alpha*f(x)", 7, 5, "where alpha = 1"}, Wrong{"x + dt*norm*f(x)", 7, 4, "write norm(...)"},
        Wrong{"x + dt(f(x))", 4, 2, "products are written with *"}, Wrong{"x*f(x)", 0, 6, "a product of the vectors"},
        Wrong{"x/f(x)", 2, 4, "a division by the vector"}, Wrong{"x + dt", 4, 2, "the scalar 'dt' added to a vector"},
        Wrong{"x^2 + f(x)", 0, 1, "in a power"}, Wrong{"x + dt*f(t)", 9, 1, "which is a scalar"},
        Wrong{"x + sqrt(x)*f(x)", 9, 1, "the vector 'x' as the argument of sqrt"},
        Wrong{"x + dt*f(x, x)", 7, 7, "f with 2 arguments"}, Wrong{"x + dt*f()", 7, 3, "f with 0 arguments"},
        Wrong{"x + min(dt)*f(x)", 4, 7, "2 arguments"}, Wrong{"dt", 0, 2, "x is the residual stream"},
        Wrong{"norm(x)", 0, 7, "calls no sub-layer"}, Wrong{"y = f(x)", 0, 1, "never assigns x"},
        Wrong{"x = dt; y = f(x)", 4, 2, "x is the residual stream"},
        Wrong{"f(x); x + dt*f(x)", 0, 4, "without a name before ';'"},
        Wrong{"x = x + dt*f(x); f(x)", 17, 1, "only a single expression may stand without a name"},
        Wrong{"x = y = f(x)", 6, 1, "compare with =="}, Wrong{"dt = 2; x = x + f(x)", 0, 2, "an assignment to 'dt'"},
        Wrong{"b = f(x); x = b", 0, 1, "an assignment to 'b'"},
        Wrong{"a = 1; x = x + f(x) where a = 2", 0, 1, "parameters are fixed by 'where'"},
        Wrong{"t < 1 ? f(x)", 12, 1, "':' and the value"}, Wrong{"t < 1 < 2 ? x : f(x)", 6, 1, "one comparison"},
        Wrong{"t ? x : f(x)", 0, 1, "a comparison such as"},
        Wrong{"t < 1 ? x : dt", 12, 2, "two vectors or two scalars"},
        Wrong{"x + (t < 1)*f(x)", 5, 5, "a comparison where a number is needed"},
        Wrong{"x < 1 ? x : f(x)", 0, 1, "in a comparison"}, Wrong{"x + dt*f(x)/0", 12, 1, "a division by zero"},
        Wrong{"x + log(0)*f(x)", 4, 6, "which is -inf"}, Wrong{"x + sqrt(-1)*f(x)", 4, 8, "which is"},
        Wrong{"x + f(x) | f(x)", 11, 4, "f( ) in the readout"},
        Wrong{"x + f(x) | dt", 11, 2, "a scalar as the readout"},
        Wrong{"m = f(x); x = x + m | m", 22, 1, "locals and b end with their block"},
        Wrong{"x + f(x) | b", 11, 1, "'b' in the readout"}, Wrong{"x + f(x) | x | x", 13, 1, "one readout"},
        Wrong{"x + f(x) where", 14, 1, "a parameter's name"},
        Wrong{"x + f(x) where a", 16, 1, "'=' and the value of 'a'"},
        Wrong{"x + f(x) where a = 1", 15, 1, "does not use"},
        Wrong{"x + a*f(x) where a = dt", 21, 2, "multiply with dt"},
        Wrong{"x + a*f(x) where a = x", 21, 1, "an expression in t, T, L, n, d, depth"},
        Wrong{"x + a*f(x) where a = 1, a = 2", 24, 1, "twice"},
        Wrong{"x + a*f(x) where a[3] = 1", 19, 1, "'d' between"},
        Wrong{"x + a*f(x) where a = 1/0", 23, 1, "a division by zero"},
        Wrong{"x + a*f(x) where t = 1, a = 1", 17, 1, "does not use itself"},
        Wrong{"x + f(x) + attn(x)", 11, 7, "either f( )"}, Wrong{"attn: x + dt*f(x)", 0, 5, "a section 'ffn:' too"},
        Wrong{"ffn: x + f(x); attn: x + f(x)", 15, 5, "'attn:' first"},
        Wrong{"attn: x + f(x); attn: x + f(x)", 16, 5, "the same label twice"},
        Wrong{"x = f(x); ffn: x", 10, 3, "start the equation with 'attn:'"},
        Wrong{"attn: x + attn(x); ffn: x + f(x)", 10, 7, "the section's own sub-layer"},
        Wrong{"~a > 0 ? x : f(x) where ~a = 1", 0, 1, "a number, a name or '('"},
        Wrong{"a > 0 ? x : f(x) where ~a = 1", 0, 5, "a condition on a learned parameter"},
        Wrong{"x + dt*f(x) &", 12, 1, "single comparisons"}, Wrong{"x + dt*f(x);;", 12, 1, "got ';'"},
        Wrong{"x + dt*f(where)", 9, 5, "'where' starts the list"},
        Wrong{"s = 1; s = x; x = f(x)", 11, 1, "the same type"}));

TEST(Language, LimitsTheSizeOfHostileText) {
    const auto refused = [](const std::string& text, const char* says) {
        try {
            Program::parse(text);
            ADD_FAILURE() << "accepted " << text.size() << " bytes";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    refused(std::string(100000, ' '), "at most 16384");
    refused(std::string(5000, '('), "more than");
    refused("x + f(x) + " + std::string(300, '(') + "x", "levels of nesting");
    std::string many = "x";
    for (int i = 0; i < 3000; ++i) {
        many += "+x";
    }
    refused(many, "symbols");
    std::string doubling = "a = t+t;";  // 2^60 additions once written out
    for (int i = 0; i < 60; ++i) {
        doubling += "a = a+a;";
    }
    refused(doubling + "x = x + a*f(x)", "very large");
}

TEST(Language, CountsCaretsInCharactersNotBytes) {
    try {
        Program::parse("x + dt*f(x) § 1");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.detail(), "    x + dt*f(x) § 1\n                ^");
    }
}

TEST(Language, ShowsTheLineOfAnErrorInTextOfManyLines) {
    try {
        Program::parse("m = norm(x);\nx = x + dt*q(m)\n| norm(x)");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.detail(), "    x = x + dt*q(m)\n               ^");
    }
}

// ---- printing ------------------------------------------------------------------------------------------------------

TEST(Printing, IsCanonical) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"x+dt*f(norm(x))|norm(x)", "x + dt*f(norm(x)) | norm(x)"},
        {"x = (x + (dt*(f(x))))", "x + dt*f(x)"},
        {"norm( x+dt*f(x)/sqrt( t + 1 ) )", "norm(x + dt*f(x)/sqrt(t+1))"},
        {"x + dt*f(x)*(2*L)^-0.25", "x + dt*f(x)*(2*L)^-0.25"},
        {"x - (x - f(x))", "x - (x - f(x))"},
        {"(x - x) - f(x)", "x - x - f(x)"},
        {"x + f(x)/(2*dt)", "x + f(x)/(2*dt)"},
        {"x + f(x)/2*dt", "x + f(x)/2*dt"},
        {"x + (-2)^2*f(x)", "x + (-2)^2*f(x)"},
        {"x + -2^2*f(x)", "x + -2^2*f(x)"},
        {"x + 2^(3^2)*f(x)", "x + 2^3^2*f(x)"},
        {"x + (2^3)^2*f(x)", "x + (2^3)^2*f(x)"},
        {"x + 1.0e-4*f(x)", "x + 1e-4*f(x)"},
        {"(t<1) ? x : (t<2 ? f(x) : x)", "t < 1 ? x : t < 2 ? f(x) : x"},
        {"x + ((t<1 ? 2 : 3))*f(x)", "x + (t < 1 ? 2 : 3)*f(x)"},
        {"attn:x+f(x)ffn:x+f(x)", "attn: x + f(x); ffn: x + f(x)"},
        {"m=f(x);x=x+m;", "m = f(x); x = x + m"},
        {"x+a*f(x)where~a[d]=.5", "x + a*f(x) where ~a[d] = 0.5"},
        {"+x + f(x)", "x + f(x)"},
    };
    for (const auto& [text, canonical] : cases) {
        EXPECT_EQ(Program::parse(text).text(), canonical);
    }
}

TEST(Printing, NamesALoneStatementThatIsNotOfX) {
    EXPECT_EQ(Program::parse("attn: o = f(x); ffn: x = x + dt*f(o)").body_text(), "attn: o = f(x); ffn: x + dt*f(o)");
}

TEST(Printing, ReadsBackAsTheSameEquation) {
    std::vector<std::string> texts = {"x - (x - (f(x) - x))/(2/(3/dt))", "x + f(x)*-(-t)^-2",
                                      "x + min(t, max(1, 2))*f(x)"};
    for (const CatalogueEntry& entry : catalogue()) {
        texts.emplace_back(entry.equation);
    }
    for (const std::string& text : texts) {
        const Program once = Program::parse(text);
        const Program twice = Program::parse(once.text());
        EXPECT_TRUE(equal(once.syntax(), twice.syntax())) << text << " printed as " << once.text();
        EXPECT_EQ(once.text(), twice.text());
    }
}

// Random trees: a generator that knows nothing of precedence, so that a missing parenthesis cannot hide.
class Generator {
  public:
    explicit Generator(std::uint64_t seed) : random_(seed, 3) {}
    std::string scalar(int depth) {
        switch (depth == 0 ? pick(3) : pick(9)) {
            case 0:
                return "t";
            case 1:
                return "dt";
            case 2:
                return "2.5";
            case 3:
                return "(" + scalar(depth - 1) + ")^(" + scalar(depth - 1) + ")";
            case 4:
                return "(-(" + scalar(depth - 1) + "))";
            case 5:
                return "(t < 1 ? " + scalar(depth - 1) + " : " + scalar(depth - 1) + ")";
            default:
                return "(" + scalar(depth - 1) + ")" + std::string(1, "+-*/"[pick(4)]) + "(" + scalar(depth - 1) +
                       "+L)";
        }
    }
    std::string vector(int depth) {
        switch (depth == 0 ? pick(2) : pick(8)) {
            case 0:
                return "x";
            case 1:
                return "x0";
            case 2:
                return "f(" + vector(depth - 1) + ")";
            case 3:
                return "norm(" + vector(depth - 1) + ")";
            case 4:
                return "(" + vector(depth - 1) + ")*(" + scalar(depth - 1) + ")";
            case 5:
                return "(-(" + vector(depth - 1) + "))";
            default:
                return "((" + vector(depth - 1) + ")" + std::string(1, "+-"[pick(2)]) + "(" + vector(depth - 1) + "))";
        }
    }

  private:
    std::size_t pick(std::size_t n) {
        return static_cast<std::size_t>(random_.uniform(index_++) * static_cast<double>(n));
    }
    Random random_;
    std::uint64_t index_ = 0;
};

TEST(Printing, ReadsBackForRandomTrees) {
    Generator generator(11);
    int tried = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::string text = "x + f(x) + " + generator.vector(4);
        Program once = Program::parse("x + f(x)");
        try {
            once = Program::parse(text);
        } catch (const Error&) {
            continue;  // a constant part that is not finite
        }
        ++tried;
        const Program twice = Program::parse(once.text());
        ASSERT_TRUE(equal(once.syntax(), twice.syntax())) << text << "\nprinted as " << once.text();
    }
    EXPECT_GT(tried, 1000);
}

// ---- names --------------------------------------------------------------------------------------------------------

TEST(Names, ReadBeforeAssignedAreStreams) {
    const Program program = Program::parse("o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)");
    ASSERT_EQ(program.stream_count(), 2U);
    EXPECT_EQ(program.stream_name(0), "x");
    EXPECT_EQ(program.stream_name(1), "y");
}

TEST(Names, AssignedBeforeReadAreLocals) {
    EXPECT_EQ(Program::parse("h = x + dt*f(x); h = h + x; x = norm(h)").stream_count(), 1U);
}

TEST(Names, SettingsChangeParametersOfTheCanonicalText) {
    const Scheme scheme = find_scheme("ngpt:alpha=1/(1+t)");
    EXPECT_EQ(scheme.program.text(), "unit(x + dt*alpha*(unit(f(x)) - x)) where alpha = 1/(1+t)");
    EXPECT_THROW(find_scheme("ngpt:beta=1"), Error);
    EXPECT_THROW(find_scheme("ngpt:alpha=dt"), Error);
    EXPECT_THROW(find_scheme("ngpt:alpha="), Error);
    EXPECT_THROW(find_scheme("ngpt:alpha=1,alpha=2"), Error);
    EXPECT_THROW(find_scheme("post-ln:a=1"), Error);
    EXPECT_THROW(find_scheme("no-such"), Error);
}

// The nearest is looked for among all parameters of the scheme, whatever was set before.
TEST(Names, SettingsOfParametersThatAreNoneGetTheNearest) {
    const auto refusal = [](const char* text) -> std::string {
        try {
            find_scheme(text);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    const std::string second = refusal("derf:alpha=1,gian=2");
    EXPECT_NE(second.find("the unknown parameter 'gian'"), std::string::npos) << second;
    EXPECT_NE(second.find("one of alpha, gain, s"), std::string::npos) << second;
    EXPECT_NE(second.find("did you mean gain?"), std::string::npos) << second;
    EXPECT_NE(refusal("ngpt:alpah=1").find("did you mean alpha?"), std::string::npos) << refusal("ngpt:alpah=1");
    const std::string far = refusal("derf:alpha=1,steepness=2");
    EXPECT_NE(far.find("one of alpha, gain, s"), std::string::npos) << far;
    EXPECT_EQ(far.find("did you mean"), std::string::npos) << far;
    const std::string none = refusal("post-ln:a=1");
    EXPECT_NE(none.find("no settings: this scheme has no parameters"), std::string::npos) << none;
    EXPECT_EQ(none.find("did you mean"), std::string::npos) << none;
    const std::string twice = refusal("derf:alpha=1,s=2,alpha=3");
    EXPECT_NE(twice.find("'alpha' twice"), std::string::npos) << twice;
    EXPECT_NE(twice.find("every setting once"), std::string::npos) << twice;
}

// min and max have a side too: whether the first argument is at most the second.
TEST(Names, ComparisonsAreThoseOfConditionsAndOfMinAndMax) {
    const Program program = Program::parse("x + dt*max(t, 3)*f(x) | depth < 0.5 ? x : norm(x)");
    const auto at = [&](double t) { return program.comparisons(Environment::ode(t, 10, 8, 8)); };
    EXPECT_TRUE(at(2).front() && at(2).back());
    EXPECT_TRUE(at(3).front() && at(3).back()) << "equal";
    EXPECT_TRUE(!at(4).front() && at(4).back());
    EXPECT_TRUE(!at(5).front() && !at(5).back());
    const Program gate = Program::parse("x + dt*a*f(x) where ~a = min(t, 2)");
    EXPECT_TRUE(gate.comparisons(Environment::ode(1, 10, 8, 8)).back());
    EXPECT_FALSE(gate.comparisons(Environment::ode(3, 10, 8, 8)).back());
}

TEST(Names, EveryNormIsAnInstanceOfItsOwnInEachSubLayer) {
    const Program peri = find_scheme("peri-ln").program;
    EXPECT_EQ(peri.norm_count(), 3);  // two in the block, one in the readout
    const Code code = lower_block(peri, SubLayers::attention_and_ffn, {});
    std::vector<int> instances;
    for (const Instruction& instruction : code.instructions) {
        if (instruction.norm >= 0) {
            instances.push_back(instruction.norm);
        }
    }
    std::sort(instances.begin(), instances.end());
    EXPECT_EQ(instances.size(), 4U);
    EXPECT_EQ(std::unique(instances.begin(), instances.end()), instances.end());
}

TEST(Names, LearnedParametersHaveAnInstancePerSubLayerOrPerBlock) {
    // alpha = 0 for attention and 1 for the FFN: only the FFN moves x. A block program has one alpha for both.
    const std::size_t n = 3;
    const auto moved = [&](const char* text, LearnedValues learned) {
        const Program program = Program::parse(text);
        RowStep<double> step(program, SubLayers::attention_and_ffn, n, n);
        State<double> state = State<double>::start(program, n, n, random_rows(n, n, 8));
        BlockParameters<double> parameters;
        parameters.learned = std::move(learned);
        step.layer(
            Environment::block(1, 2, 1, n, n), state,
            [&](SubLayer sub_layer, const double*, double* out) {
                std::fill_n(out, n * n, sub_layer == SubLayer::attention ? 100.0 : 1.0);
            },
            parameters);
        return state.streams[0][0] - state.embedding[0];
    };
    EXPECT_NEAR(moved("x + alpha*f(x) where ~alpha = 5", {{0.0}, {1.0}}), 1.0, 1e-12);
    EXPECT_NEAR(moved("x + alpha*f(x) where ~alpha = 5", {{1.0}, {0.0}}), 100.0, 1e-12);
    EXPECT_NEAR(moved("h = x + alpha*attn(x); x = h + alpha*ffn(h) where ~alpha = 5", {{2.0}}), 202.0, 1e-12);
    EXPECT_NEAR(moved("attn: x + alpha*f(x); ffn: x + alpha*f(x) where ~alpha = 5", {{2.0}}), 202.0, 1e-12);
}

TEST(Names, NormsOfABranchNotTakenDoNotExist) {
    const Program mix = find_scheme("mix-ln").program;
    for (const std::size_t l : {std::size_t{1}, std::size_t{4}}) {
        const Environment env = Environment::block(l, 4, 1, 8, 8);
        const Code code = lower_block(mix, SubLayers::attention_only, mix.decide(env));
        const auto norms = std::count_if(code.instructions.begin(), code.instructions.end(),
                                         [](const Instruction& i) { return i.norm >= 0; });
        EXPECT_EQ(norms, 1) << "block " << l;
        // Post-LN ends with the norm, Pre-LN starts with it.
        EXPECT_EQ(code.instructions.front().kind == Instruction::Kind::apply, l == 4);
    }
}

TEST(Names, MixLnIsPostLnUpToTauInBlocksAndInTime) {
    const Program mix = find_scheme("mix-ln").program;
    EXPECT_TRUE(mix.decide(Environment::block(3, 12, 1, 8, 8))[0]);  // floor(0.25*12) = 3 blocks
    EXPECT_FALSE(mix.decide(Environment::block(4, 12, 1, 8, 8))[0]);
    EXPECT_TRUE(mix.decide(Environment::ode(2.5, 10, 8, 8))[0]);
    EXPECT_FALSE(mix.decide(Environment::ode(2.51, 10, 8, 8))[0]);
}

TEST(Names, TimeCountsBlocksInModelsAndStepsForParticles) {
    EXPECT_EQ(Environment::layer(5, 10, 0.25, 1, 1).t, 1.0);
    EXPECT_EQ(Environment::layer(5, 10, 0.25, 1, 1).T, 2.5);
    EXPECT_EQ(Environment::block(5, 10, 0.25, 1, 1).t, 4.0);
    EXPECT_EQ(Environment::block(5, 10, 0.25, 1, 1).depth, 0.5);
    EXPECT_EQ(Environment::ode(3, 12, 1, 1).L, 12.0);
    EXPECT_EQ(Environment::ode(3, 12, 1, 1).depth, 0.25);
}

}  // namespace
}  // namespace flyball::scheme::test
