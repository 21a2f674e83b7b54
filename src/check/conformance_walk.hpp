// A block's code on saved rows, in double, together with how far rounding may have moved each number.
//
// Calls are not computed: they return what was saved of the sub-layer, and what the equation feeds into them is kept
// for comparison. Every number carries an error estimate e, the root of the summed squares of what each rounding on the
// way to it can do, u the unit roundoff of the arithmetic:
//
//     saved x           e = u*|x|
//     sum_k c_k x_k     e^2 = sum_k c_k^2 e_k^2 + u^2 (2 sum_k (c_k x_k)^2 + out^2)
//     g*(x - m)*s + b   e^2 = g^2 s^2 (e_x^2 + what mean and scale pass on) + u^2 (x^2 + m^2 + ..), see norm_error
//
// So a small branch in a large stream is judged by the digits that the stream leaves it, channel by channel.
#pragma once

#include <vector>

#include "check/run_file.hpp"
#include "scheme/code.hpp"
#include "scheme/coefficients.hpp"

namespace flyball::check {

struct Estimate {
    std::vector<double> value;  // [rows, dim]
    std::vector<double> error;  // the same shape; empty: not wanted
    bool empty() const { return value.empty(); }
};

Estimate estimate_of(const SavedRows& saved, bool with_error);

// To the nearest number of a type with this unit roundoff, a power of two; 0 leaves it alone.
double rounded_to(double value, double roundoff);

// What a block is given. `attention` and `ffn` are what the calls return; null returns zero.
struct BlockGiven {
    std::vector<const Estimate*> streams;
    const Estimate* embedding = nullptr;
    const Estimate* attention = nullptr;
    const Estimate* ffn = nullptr;
};

struct BlockNumbers {
    const scheme::Environment& env;
    scheme::LearnedValues learned;              // by instance
    std::vector<scheme::RowMap<double>> norms;  // by instance
    double roundoff = 0;                        // 0: errors are not wanted
    double round_to = 0;  // every result is rounded to a type of this unit roundoff, as a model's are; 0: to none
};

struct BlockResult {
    Estimate attention_in;  // empty where the equation does not call it
    Estimate ffn_in;
    std::vector<Estimate> streams;  // as Code::streams_out
};

BlockResult walk_block(const scheme::Code& code, const BlockNumbers& numbers, const BlockGiven& given, std::size_t rows,
                       std::size_t dim);

}  // namespace flyball::check
