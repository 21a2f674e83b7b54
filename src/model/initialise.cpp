// Drawing matrices as a recipe says, and keeping vectors at unit length where it says so.
#include "model/initialise.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/unreachable.hpp"
#include "model/longest.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::model {

namespace {

using scheme::Draw;
using scheme::Initialisation;
using scheme::Matrix;
using scheme::UnitVectors;

// Outputs of a matrix that are drawn alike.
struct Band {
    std::size_t outputs;
    double deviation;
};

template <class Real>
class Drawing {
  public:
    Drawing(const Model<Real>& model, Parameters<Real>& parameters, const Initialisation& start, std::uint64_t seed)
        : a_(model.architecture()), layout_(model.layout()), parameters_(parameters), start_(start), seed_(seed) {}

    void draw() {
        const scheme::Environment first = block_of_the_longest(a_, 0);
        for (const int table : {layout_.tokens, layout_.positions, layout_.types}) {
            draw_table(table, deviation_of(start_, Matrix::embedding, a_.dim, a_.dim, first));
            ++matrix_;
        }
        if (layout_.head != layout_.tokens) {
            draw_table(layout_.head, deviation_of(start_, Matrix::head, a_.dim, a_.dim, first));
        }
        for (std::size_t l = 0; l < a_.layers; ++l) {
            matrix_ = matrices_of_a_block * (l + 1);
            draw_block(layout_.blocks[l], block_of_the_longest(a_, l));
        }
    }

  private:
    void draw_block(const BlockLayout& block, const scheme::Environment& env) {
        const auto band = [&](Matrix matrix, std::size_t in, std::size_t out) {
            return Band{out, deviation_of(start_, matrix, in, out, env)};
        };
        draw_parts(block.qkv, {band(Matrix::query, a_.dim, a_.query_width()), band(Matrix::key, a_.dim, a_.key_width()),
                               band(Matrix::value, a_.dim, a_.key_width())});
        draw_parts({block.output}, {band(Matrix::output, a_.query_width(), a_.dim)});
        draw_parts(block.ffn_in, std::vector<Band>(a_.gated ? 2 : 1, band(Matrix::ffn_in, a_.dim, a_.ffn_dim)));
        draw_parts({block.ffn_out}, {band(Matrix::ffn_out, a_.ffn_dim, a_.dim)});
    }

    // The parts, one after another, have the outputs of the bands, one after another: a part is one band or all.
    void draw_parts(const std::vector<Linear>& parts, const std::vector<Band>& bands) {
        for (const Linear& part : parts) {
            fill(part.weight, [&](std::size_t k) {
                std::size_t output = part.offset + (part.in_out ? k % part.out : k / part.in);
                auto band = bands.begin();
                while (output >= band->outputs) {
                    output -= band->outputs;
                    ++band;
                }
                return band->deviation;
            });
            ++matrix_;
        }
    }

    void draw_table(int table, double deviation) {
        if (table != absent) {
            fill(table, [deviation](std::size_t) { return deviation; });
        }
    }

    template <class Deviation>
    void fill(int parameter, const Deviation& deviation) {
        const std::size_t count = layout_.parameters[static_cast<std::size_t>(parameter)].elements();
        const Random stream(seed_, matrix_);
        Real* const out = parameters_.at(parameter);
        constexpr std::size_t piece = 4096;
        parallel_slots((count + piece - 1) / piece, 64, [&](std::size_t, std::size_t begin, std::size_t end) {
            std::vector<double> normals(piece);
            for (std::size_t p = begin; p < end; ++p) {
                const std::size_t numbers = std::min(piece, count - p * piece);
                stream.fill_normal({normals.data(), numbers}, p * piece);
                for (std::size_t k = 0; k < numbers; ++k) {
                    out[p * piece + k] = static_cast<Real>(deviation(p * piece + k) * normals[k]);
                }
            }
        });
    }

    const Architecture& a_;
    const Layout& layout_;
    Parameters<Real>& parameters_;
    const Initialisation& start_;
    std::uint64_t seed_;
    // The matrix being drawn, counted alike whatever norms and learned scalars stand between: the tables and the head,
    // then for each block as many numbers as it can have matrices (q, k, v, output, gate, up, down).
    static constexpr std::uint64_t matrices_of_a_block = 8;
    std::uint64_t matrix_ = 0;
};

// A matrix as it is stored, and whether the vectors to be scaled are its rows or its columns.
struct Vectors {
    int parameter;
    std::size_t rows;
    std::size_t columns;
    bool are_rows;
};

template <class Real>
void scale(const Vectors& vectors, Real* numbers) {
    std::vector<double> squares(vectors.are_rows ? vectors.rows : vectors.columns);
    for (const bool measuring : {true, false}) {
        for (std::size_t i = 0; i < vectors.rows; ++i) {
            for (std::size_t k = 0; k < vectors.columns; ++k) {
                Real& number = numbers[i * vectors.columns + k];
                double& square = squares[vectors.are_rows ? i : k];
                if (measuring) {
                    square += static_cast<double>(number) * static_cast<double>(number);
                } else if (square > 0) {
                    number = static_cast<Real>(static_cast<double>(number) / std::sqrt(square));
                }
            }
        }
    }
}

Role role_of(scheme::Learned of) {
    switch (of) {
        case scheme::Learned::equation:
            return Role::learned;
        case scheme::Learned::attention_gain:
            return Role::attention_gain;
        case scheme::Learned::ffn_gain:
            return Role::ffn_gain;
        case scheme::Learned::logit_gain:
            return Role::logit_gain;
    }
    unreachable();
}

}  // namespace

Architecture wired(Architecture sizes, const scheme::Scheme& scheme) {
    const scheme::Recipe& recipe = recipe_of(scheme);
    const bool as_listed = scheme.entry != nullptr && scheme.program.text() == scheme.entry->equation;
    sizes.equation =
        as_listed && !recipe.training.equation.empty() ? std::string(recipe.training.equation) : scheme.program.text();
    if (recipe.attention_norm_user.empty() && recipe.attention_norm.any()) {
        sizes.attention_norm = recipe.attention_norm;
    }
    if (!recipe.ffn_scale.empty()) {
        sizes.ffn_scale = scheme::scalar_value(recipe.ffn_scale, block_of_the_longest(sizes, 0));
        sizes.ffn_gains = true;
    }
    sizes.logit_gains = sizes.logit_gains || (recipe.logit_scale && sizes.has_head);
    return sizes;
}

// Whatever equals what `wired` would have given a plain model of this scheme came from the scheme.
Architecture unwired(Architecture a) {
    const scheme::CatalogueEntry* const entry = scheme::entry_of_equation(a.equation);
    if (entry == nullptr) {
        return a;
    }
    const Architecture nothing;
    Architecture plain = a;
    plain.attention_norm = nothing.attention_norm;
    plain.ffn_scale = nothing.ffn_scale;
    plain.ffn_gains = plain.logit_gains = false;
    const Architecture own = wired(plain, scheme::find_scheme(entry->name));
    if (a.attention_norm == own.attention_norm) {
        a.attention_norm = plain.attention_norm;
    }
    if (a.ffn_scale == own.ffn_scale && a.ffn_gains == own.ffn_gains) {
        a.ffn_scale = plain.ffn_scale;
        a.ffn_gains = false;
    }
    a.logit_gains = a.logit_gains && !own.logit_gains;
    return a;
}

// s of recipe.hpp: the deviation of the draw times every gain that names the matrix.
double deviation_of(const Initialisation& start, Matrix matrix, std::size_t in, std::size_t out,
                    const scheme::Environment& env) {
    const Draw& draw = matrix == Matrix::embedding && start.embedding ? *start.embedding : start.draw;
    double deviation = 0;
    switch (draw.kind) {
        case Draw::Kind::normal:
            deviation = scheme::scalar_value(draw.deviation, env);
            break;
        case Draw::Kind::xavier:
            deviation = std::sqrt(2 / static_cast<double>(in + out));
            break;
    }
    for (const scheme::Gain& gain : start.gains) {
        if (std::find(gain.matrices.begin(), gain.matrices.end(), matrix) != gain.matrices.end()) {
            deviation *= scheme::scalar_value(gain.factor, env);
        }
    }
    return deviation;
}

std::vector<double> rate_factors(const Architecture& a, const Layout& layout, const scheme::Recipe& recipe) {
    const scheme::Environment env = block_of_the_longest(a, 0);
    std::vector<double> factors(layout.parameters.size(), 1.0);
    for (const scheme::Rate& rate : recipe.training.rates) {
        const double factor = scheme::scalar_value(rate.factor, env);
        const Role role = role_of(rate.of);
        for (std::size_t i = 0; i < factors.size(); ++i) {
            factors[i] = layout.parameters[i].role == role ? factor : factors[i];
        }
    }
    return factors;
}

// The embedding axis: rows of a matrix that reads the stream ([out, in]), columns of one that writes to it, each the
// other way round where matrices are stored [in, out].
template <class Real>
void scale_to_unit(const Layout& layout, UnitVectors which, Parameters<Real>& parameters) {
    std::vector<Vectors> all;
    const auto add_table = [&](int parameter) {
        if (parameter != absent) {
            const std::vector<std::size_t>& shape = layout.parameters[static_cast<std::size_t>(parameter)].shape;
            all.push_back({parameter, shape[0], shape[1], true});
        }
    };
    const auto add = [&](const Linear& part, bool reads_stream) {
        const bool rows = part.in_out != reads_stream;  // [out, in]: the stream is along the rows of a reader
        all.push_back({part.weight, part.in_out ? part.in : part.out, part.in_out ? part.out : part.in, rows});
    };
    switch (which) {
        case UnitVectors::none:
            return;
        case UnitVectors::embeddings:
            add_table(layout.tokens);
            break;
        case UnitVectors::all:
            add_table(layout.tokens);
            if (layout.head != layout.tokens) {
                add_table(layout.head);
            }
            for (const BlockLayout& block : layout.blocks) {
                for (const std::vector<Linear>* parts : {&block.qkv, &block.ffn_in}) {
                    for (const Linear& part : *parts) {
                        add(part, true);
                    }
                }
                add(block.output, false);
                add(block.ffn_out, false);
            }
            break;
    }
    parallel_slots(all.size(), all.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            scale(all[i], parameters.at(all[i].parameter));
        }
    });
}

template <class Real>
Model<Real> initialised(Architecture architecture, const scheme::Recipe& recipe, std::uint64_t seed) {
    check(architecture, "the architecture");
    Model<Real> model(std::move(architecture), native_names());
    Drawing<Real>(model, *model.parameters(), recipe.initialisation, seed).draw();
    scale_to_unit(model.layout(), recipe.training.unit_vectors, *model.parameters());
    return model;
}

template Model<float> initialised(Architecture, const scheme::Recipe&, std::uint64_t);
template Model<double> initialised(Architecture, const scheme::Recipe&, std::uint64_t);
template void scale_to_unit(const Layout&, UnitVectors, Parameters<float>&);
template void scale_to_unit(const Layout&, UnitVectors, Parameters<double>&);

}  // namespace flyball::model
