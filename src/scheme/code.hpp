// A block as straight-line code: the one form that rows, plane and reverse evaluation run.
//
// Legend: a register is one vector per token ([rows, d] or a point of the plane). Every register is written once.
//
//     combine   out = sum_i c_i * source_i        c_i scalar or per channel; source -1 is the all-ones vector (a bias)
//     apply     out = norm | unit | rms | ln | tanh | erf of in, row by row
//     call      out = sub-layer(in), which mixes rows
//
// Sums, differences and products with scalars of any depth become one combine, so `x + dt*alpha*(unit(o) - x)` is one
// pass over memory: (1 - dt*alpha)*x + (dt*alpha)*u. Conditions are decided before lowering, so there are no branches,
// and a norm exists only in the branch that a block takes.
//
// Both sub-layers of a block are one code: the end of attention and the start of the FFN fuse. Calls cut the code into
// stages; all instructions of a stage work on one block of rows while it is in cache.
#pragma once

#include <cstddef>
#include <vector>

#include "scheme/program.hpp"

namespace flyball::scheme {

inline constexpr int ones_register = -1;

// A register, an instruction or a coefficient as the place in its vector.
inline std::size_t index(int number) {
    return static_cast<std::size_t>(number);
}

struct Term {
    int source = ones_register;
    int coefficient = 0;    // index into Code::coefficients
    bool detached = false;  // reverse mode treats the source as a constant
};

struct Instruction {
    enum class Kind { combine, apply, call };
    Kind kind = Kind::combine;
    int out = 0;
    int in = 0;                                // apply, call
    std::vector<Term> terms;                   // combine
    Function function = Function::unit;        // apply
    int norm = -1;                             // apply of norm: its instance in this block
    SubLayer sub_layer = SubLayer::attention;  // call
    ExpressionPtr origin;                      // for messages
};

struct Stage {
    std::size_t begin = 0;  // row-wise instructions [begin, end)
    std::size_t end = 0;
    int call = -1;  // the call that follows, or -1
};

struct Code {
    int registers = 0;
    int embedding = -1;            // register of x0, or -1 when unused
    std::vector<int> streams_in;   // register of each stream on entry
    std::vector<int> streams_out;  // and on exit
    std::vector<Instruction> instructions;
    std::vector<ExpressionPtr> coefficients;
    std::vector<Stage> stages;

    // Learned parameters and norms have an instance each per run of the statements. Instance i of a parameter with
    // index p is learned[i*program.learned().size() + p]; norms likewise with norm_count().
    std::size_t learned_count = 0;
    std::size_t norm_count = 0;
};

// Sub-layers that a run has. Particles have no FFN unless asked; a model has both.
enum class SubLayers { attention_only, attention_and_ffn };

// One whole block. `decisions` as Program::decide gives them.
Code lower_block(const Program& program, SubLayers sub_layers, const std::vector<bool>& decisions);

// The readout: streams in, one register out (streams_out[0]).
Code lower_readout(const Program& program, const std::vector<bool>& decisions);

}  // namespace flyball::scheme
