// Uses the installed library the way a stranger's program does; run.sh builds and runs it.
#include <cstdio>
#include <flyball/core/error.hpp>
#include <flyball/core/version.hpp>
#include <flyball/scheme/catalogue.hpp>
#include <flyball/scheme/rows.hpp>
#include <string>

int main() {
    const flyball::Error error(flyball::ErrorKind::usage, "consumer.main", flyball::quoted("a\tb"), "no tab");
    const std::string expected = "[consumer.main] got 'a\\x09b', expected no tab.";
    if (error.what() != expected) {
        std::printf("got: %s\nexpected: %s\n", error.what(), expected.c_str());
        return 1;
    }
    // One layer of Post-LN on a single token whose sub-layer returns its input: norm(x + x) has length 1.
    const flyball::scheme::Program program = flyball::scheme::find_scheme("post-ln").program;
    flyball::scheme::RowStep<double> step(program, flyball::scheme::SubLayers::attention_only, 1, 2);
    auto state = flyball::scheme::State<double>::start(program, 1, 2, {3.0, 4.0});
    step.layer(flyball::scheme::Environment::layer(1, 1, 1.0, 1, 2), state,
               [](flyball::scheme::SubLayer, const double* in, double* out) {
                   out[0] = in[0];
                   out[1] = in[1];
               });
    if (state.streams[0][0] < 0.6 - 1e-12 || state.streams[0][0] > 0.6 + 1e-12) {
        std::printf("got %g, expected 0.6\n", state.streams[0][0]);
        return 1;
    }
    std::printf("flyball %s: the installed library works\n", flyball::version);
    return 0;
}
