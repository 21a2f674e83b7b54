#include <algorithm>
#include <cmath>

#include "check/beginning.hpp"
#include "model/stream_bound.hpp"
#include "scheme/coefficients.hpp"

namespace flyball::check {

namespace {

// How a rising sequence doubles: log2 of its last value over that in the middle, and of the middle over the quarter.
struct Doubling {
    double late = 0;
    double early = 0;
};

Doubling doubling(const std::vector<double>& values) {
    const std::size_t end = values.size() - 1;
    const auto over = [](double a, double b) { return a > 0 && b > 0 ? std::log2(a / b) : 0.0; };
    return {over(values[end], values[end / 2]), over(values[end / 2], values[end / 4])};
}

// B_l = M_l B_(l-1) + c_l for the bounds of all streams; that of x after every block.
std::vector<double> bounds_of_x(const std::vector<model::StreamReach>& blocks, double start, bool with_constants) {
    std::vector<double> bound(blocks.front().shares.size(), start);
    std::vector<double> of_x;
    for (const model::StreamReach& block : blocks) {
        std::vector<double> next(bound.size(), 0.0);
        for (std::size_t s = 0; s < next.size(); ++s) {
            for (std::size_t from = 0; from < bound.size(); ++from) {
                if (block.shares[s][from] != 0) {
                    next[s] += block.shares[s][from] * bound[from];
                }
            }
            next[s] += with_constants ? block.constants[s] : 0;
        }
        bound = std::move(next);
        of_x.push_back(bound[0]);
    }
    return of_x;
}

}  // namespace

// The largest |x_l| by the reach of each block (model/stream_bound.hpp), in two parts that superpose since the
// recursion is linear: what becomes of a start of length 1, and what the blocks add from nothing. Each is classed by
// how it doubles, log2 of B(L)/B(L/2): 0 bounded, 1 linear, 2 quadratic, and more late than early exponential.
std::string bound_class(const model::Model<float>& model, std::size_t tokens) {
    std::vector<model::StreamReach> blocks;
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        model::BlockCode block = model::block_code(model, l, tokens);
        for (std::size_t i = 0; i < block.largest.size(); ++i) {
            // A gate that starts at zero opens: its start bounds nothing.
            if (block.largest[i] == 0 && scheme::has_learned(*block.code.coefficients[i])) {
                block.largest[i] = 1;
            }
        }
        blocks.push_back(model::stream_reach(block));
    }
    const std::vector<double> added = bounds_of_x(blocks, 0, true);
    if (!std::isfinite(added.back())) {
        return "none";
    }
    // What is there at the start: kept, forgotten, or multiplied.
    const Doubling kept = doubling(bounds_of_x(blocks, 1, false));
    const Doubling gained = doubling(added);
    for (const Doubling& one : {kept, gained}) {
        if (one.late > 0.03 && one.late > 1.5 * one.early) {
            return "exponential";
        }
    }
    const double power = std::max(gained.late, kept.late);
    return power < 0.1 ? "bounded" : power < 1.5 ? "linear" : "quadratic";
}

}  // namespace flyball::check
