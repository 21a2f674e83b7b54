// Small transformers in double, made to measure: every number of them is set by hand or drawn, and everything that
// flows through them is kept.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "claims/stability_paper.hpp"
#include "model/model.hpp"

namespace flyball::claims {

struct SmallSizes {
    std::size_t layers = 1;
    std::size_t dim = 8;
    std::size_t heads = 2;
    std::size_t ffn = 16;
    std::size_t tokens = 3;
    double dt = 1;
    double eps = 1e-5;
};

// Gains are 1, all other numbers 0. GELU, causal attention, biases everywhere.
model::Model<double> blank_model(const std::string& equation, const SmallSizes& sizes);

// Matrices of this deviation, biases likewise, gains 1 + spread * normal; the same numbers for the same seed whatever
// the equation.
struct Draws {
    double weights = 0.3;
    double biases = 0.1;
    double spread = 0.3;
};
void draw(model::Model<double>& model, std::uint64_t seed, const Draws& draws);

// Parameters of the same name and shape.
void copy_parameters(const model::Model<double>& from, model::Model<double>& to);

// As the model has them, [out, in].
Table table_of(const model::Model<double>& model, const model::Linear& linear);
void set_table(model::Model<double>& model, const model::Linear& linear, const Table& table);
std::vector<double> numbers_of(const model::Model<double>& model, int parameter);  // empty for one that is absent
void set_numbers(model::Model<double>& model, int parameter, const std::vector<double>& numbers);
void scale_numbers(model::Model<double>& model, int parameter, double factor);

// The norms of a block in the order in which they are evaluated: of Pre-LN before attention and before the FFN; of
// Peri-LN before and behind attention, before and behind the FFN. (A layout also has places for the norms of the
// readout.)
std::vector<model::NormPlace> norms_of(const model::Model<double>& model, std::size_t block);

// The rows of queries (0), keys (1) or values (2) of the joint matrix, or of all of them, as [out, in] with bias.
struct Affine {
    Table matrix;
    std::vector<double> bias;
};
Affine qkv_part(const model::Model<double>& model, std::size_t block, std::size_t part);
Table head_rows(const model::Model<double>& model, const Affine& part, std::size_t head);  // of one head

// What flows: [rows, dim] each.
struct Flow {
    std::vector<std::vector<double>> streams;  // x_0 and after every block
    struct Branch {
        std::vector<double> in, out, added;
    };
    std::vector<Branch> attention, ffn;  // by block; empty where the block has no such branch
    std::vector<double> readout;
};
Flow flow_of(const model::Model<double>& model, const std::vector<double>& x0);

// The way back from `grad`, the gradient of the readout.
struct Backward {
    std::vector<std::vector<double>> streams;  // gradients, as Flow::streams
    model::Parameters<double> gradients;
};
Backward backward_of(const model::Model<double>& model, const std::vector<double>& x0, const std::vector<double>& grad);

// Of the map from x_0 to the readout: [rows * dim, rows * dim].
Table jacobian_of(const model::Model<double>& model, const std::vector<double>& x0);

std::vector<double> normal_rows(std::size_t rows, std::size_t dim, double deviation, std::uint64_t seed);
std::span<const double> row_of(const std::vector<double>& rows, std::size_t i, std::size_t dim);

}  // namespace flyball::claims
