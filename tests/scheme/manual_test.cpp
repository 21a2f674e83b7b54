// Every example of docs/equation.md does what the page says.
#include <sstream>

#include "core/error.hpp"
#include "core/file.hpp"
#include "places.hpp"
#include "scheme/limit.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

struct Example {
    std::string tag;  // what stands behind the opening fence
    std::vector<std::string> lines;
};

std::vector<Example> examples() {
    std::istringstream page(read_text_file(std::string(flyball::test::source_folder) + "/docs/equation.md", 1 << 20));
    std::vector<Example> result;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = !inside;
            if (inside) {
                result.push_back({line.substr(3), {}});
            }
        } else if (inside) {
            result.back().lines.push_back(line);
        }
    }
    return result;
}

TEST(Manual, HasAtLeastFifteenExamples) {
    const auto all = examples();
    EXPECT_GE(std::count_if(all.begin(), all.end(), [](const Example& e) { return e.tag.rfind("equation", 0) == 0; }),
              15);
}

TEST(Manual, ExamplesRun) {
    for (const Example& example : examples()) {
        if (example.tag != "equation" && example.tag != "equation layers-only") {
            continue;
        }
        ASSERT_EQ(example.lines.size(), 1U);
        SCOPED_TRACE(example.lines[0]);
        const Program program = Program::parse(example.lines[0]);
        EXPECT_EQ(program.text(), example.lines[0]) << "the manual shows canonical text";
        for (const SubLayers sub_layers : {SubLayers::attention_only, SubLayers::attention_and_ffn}) {
            const auto problem = limit_problem(program, sub_layers);
            EXPECT_EQ(problem.has_value(), example.tag == "equation layers-only") << problem.value_or("has a limit");
            const std::size_t n = 4;
            RowStep<double> step(program, sub_layers, n, n);
            State<double> state = State<double>::start(program, n, n, random_rows(n, n, 2));
            for (std::size_t l = 1; l <= 3; ++l) {
                step.layer(Environment::layer(l, 3, 0.5, n, n), state, plain_sub_layers<double>(n, n, 1.0));
            }
            std::vector<double> out;
            step.readout(Environment::layer(3, 3, 0.5, n, n), state, out);
            for (const double value : out) {
                EXPECT_TRUE(std::isfinite(value));
            }
        }
    }
}

TEST(Manual, ErrorsAreWhatThePageShows) {
    for (const Example& example : examples()) {
        if (example.tag != "equation-error") {
            continue;
        }
        ASSERT_EQ(example.lines.size(), 3U);
        SCOPED_TRACE(example.lines[0]);
        try {
            Program::parse(example.lines[0]);
            ADD_FAILURE() << "accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.detail(), "    " + example.lines[0] + "\n    " + example.lines[1]);
            EXPECT_NE(std::string(error.what()).find(example.lines[2]), std::string::npos) << error.what();
        }
    }
}

TEST(Manual, NamesEveryFunctionAndQuantity) {
    const std::string page = read_text_file(std::string(flyball::test::source_folder) + "/docs/equation.md", 1 << 20);
    for (const FunctionName& row : function_names()) {
        EXPECT_NE(page.find("`" + std::string(row.name) + "`"), std::string::npos) << row.name;
    }
    for (const QuantityName& row : quantity_names()) {
        EXPECT_NE(page.find("`" + std::string(row.name) + "`"), std::string::npos) << row.name;
    }
}

}  // namespace
}  // namespace flyball::scheme::test
