// What a user's own code saved of one forward pass: the streams, what went into each sub-layer and what came out.
//
//     embed                    [rows, dim]   the stream before the first block
//     blocks.L.attn.in, .out   [rows, dim]   of the attention of block L, counted from 0
//     blocks.L.ffn.in, .out    [rows, dim]   of its feed-forward; in no block: a model of attention alone
//     blocks.L.resid           [rows, dim]   the stream after the block
//     readout                  [rows, dim]   what the head reads
//     blocks.L.norms.K.gain    [dim]         of the K-th norm that the block evaluates; also .bias, .alpha, .shift
//     readout.norms.K.gain     [dim]         the same for the readout
//     blocks.L.scheme.I.NAME   [1] or [dim]  a learned parameter of the equation in its I-th run (0 attention, 1 FFN)
//     metadata                 norm, and where they differ from the usual: eps, dt, layers, compute
//
// Leading dimensions are one: [batch, tokens, dim] has batch*tokens rows. Whatever the equation does between two calls
// it does row by row, so that rows may be left out: of a large file as many as fit the room are read, evenly spaced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/safetensors.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::check {

struct SavedRows {
    std::vector<double> values;  // [rows, dim]
    // Unit roundoffs, half the distance of neighbouring numbers over the number: of the type they are stored in, and of
    // the narrowest one that holds all of them, in which they were computed (a BF16 model whose tensors were made F32
    // for the file).
    double stored = 0;
    double computed = 0;
};

struct SavedNorm {
    std::vector<double> gain;  // [dim], or empty for 1
    std::vector<double> bias;  // [dim], or empty for 0
    double alpha = 1;
    double shift = 0;
};

using SavedParameters = std::map<std::string, std::vector<double>>;  // "I.NAME"

struct SavedBlock {
    SavedRows attention_in;
    SavedRows attention_out;
    SavedRows ffn_in;  // empty without feed-forward, as ffn_out
    SavedRows ffn_out;
    SavedRows resid;
    std::vector<SavedNorm> norms;
    SavedParameters learned;
};

struct RunFile {
    std::size_t rows = 0;       // that were read
    std::size_t file_rows = 0;  // that there are
    std::size_t tokens = 0;     // the n of the equation
    std::size_t dim = 0;
    bool has_ffn = true;
    std::string norm;
    scheme::RowFunction function = scheme::RowFunction::sphere;
    double alpha = 1;  // where the norm has one and a block does not give it
    double eps = 0;
    double dt = 1;
    double compute = 0;         // unit roundoff of the arithmetic, where the file says it
    Dtype stored = Dtype::f32;  // of the first block's stream
    SavedRows embed;
    std::vector<SavedBlock> blocks;
    SavedRows readout;
    std::vector<SavedNorm> readout_norms;
    SavedParameters readout_learned;

    std::size_t layers() const { return blocks.size(); }
    // The stream that block `l` starts from.
    const SavedRows& before(std::size_t l) const { return l == 0 ? embed : blocks[l - 1].resid; }
};

// `room`: how many numbers may be kept. Throws for a file that is not such a run; nothing in it is trusted.
RunFile read_run(const SafeTensors& file, std::size_t room = std::size_t{40} << 20);

// The same run with at most `most` rows, evenly spaced: for whatever is tried many times.
RunFile fewer_rows(const RunFile& run, std::size_t most);

}  // namespace flyball::check
