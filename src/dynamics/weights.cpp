#include "dynamics/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/blas.hpp"
#include "core/error.hpp"
#include "core/lapack.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/safetensors.hpp"
#include "dynamics/trained_weights.hpp"

namespace flyball::dynamics {

namespace {

constexpr std::uint64_t weight_stream = 2;  // beside start.cpp's stream 1
constexpr std::uint64_t ffn_stream = 3;

// One matrix of the run: a function of seed, system, draw, head and role alone.
std::vector<double> normals(const Settings& s, std::uint64_t stream, std::size_t system, std::size_t matrix,
                            std::size_t count) {
    std::vector<double> values(count);
    // An index has room for 2^24 matrices of 2^40 numbers; the streams of more stand above those of all systems.
    const std::uint64_t number = matrix;
    const std::uint64_t beyond = number >> 24U << 44U;
    Random(s.seed, stream + 16 * system + beyond).fill_normal(values, number << 40U);
    return values;
}

// A [d, d] matrix of the role (query, key, value, output: 0 to 3), with its gain. Another matrix's gain, or its being
// the identity, does not change this one's draw.
std::vector<double> random_matrix(const Settings& s, std::size_t role, std::size_t system, std::size_t draw) {
    const std::size_t d = s.dim;
    const Gain& gain = s.gains[role];
    if (gain.kind == Gain::Kind::identity) {
        std::vector<double> identity(d * d, 0.0);
        for (std::size_t c = 0; c < d; ++c) {
            identity[c * d + c] = 1;
        }
        return identity;
    }
    double factor = gain.kind == Gain::Kind::number    ? gain.number
                    : s.weights == WeightKind::kaiming ? 1.4142135623730951
                                                       : 1;
    std::vector<double> matrix = normals(s, weight_stream, system, draw * 4 + role, d * d);
    if (s.weights == WeightKind::orthogonal) {
        matrix = orthogonal_factor(std::move(matrix), d);
    } else {
        factor /= std::sqrt(static_cast<double>(d));
    }
    for (double& value : matrix) {
        value *= factor;
    }
    return matrix;
}

// The four matrices of one head: rows [h*width, (h+1)*width) of d x d draws; the output is transposed.
attention::Weights<double> random_weights(const Settings& s, std::size_t system, std::size_t draw) {
    const std::size_t d = s.dim;
    attention::Weights<double> weights;
    weights.heads = s.heads;
    weights.width = d / s.heads;
    weights.head.resize(s.heads);
    for (std::size_t role = 0; role < 4; ++role) {
        check_stop();
        const std::vector<double> matrix = random_matrix(s, role, system, draw);
        for (std::size_t h = 0; h < s.heads; ++h) {
            const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(h * weights.width * d);
            std::vector<double> rows(begin, begin + static_cast<std::ptrdiff_t>(weights.width * d));
            if (role == 3) {  // [width, d] -> [d, width]
                std::vector<double> columns(rows.size());
                for (std::size_t i = 0; i < weights.width; ++i) {
                    for (std::size_t c = 0; c < d; ++c) {
                        columns[c * weights.width + i] = rows[i * d + c];
                    }
                }
                rows = std::move(columns);
            }
            auto& head = weights.head[h];
            (role == 0 ? head.query : role == 1 ? head.key : role == 2 ? head.value : head.output) = std::move(rows);
        }
    }
    return weights;
}

// Tensors query, key, value of [heads*width, d] and output of [d, heads*width]; output is the identity when it is
// absent.
attention::Weights<double> file_weights(const Settings& s) {
    const SafeTensors file = SafeTensors::open(s.weight_file);
    const std::size_t d = s.dim;
    const auto shape_of = [&](const char* name) { return file.info(name).shape; };
    const auto wrong = [&](const char* name) {
        throw Error(ErrorKind::input, "dynamics.weights",
                    fmt::format("{} of shape [{}] in {}", name, fmt::join(shape_of(name), ", "),
                                flyball::quoted(s.weight_file)),
                    fmt::format("query, key, value of [heads*width, {}] and output of [{}, heads*width]", d, d));
    };
    for (const char* name : {"query", "key", "value"}) {
        const auto shape = shape_of(name);
        if (shape.size() != 2 || shape[1] != d || shape[0] == 0 || shape[0] % s.heads != 0 ||
            shape != shape_of("query")) {
            wrong(name);
        }
    }
    const std::size_t rows = static_cast<std::size_t>(shape_of("query")[0]);
    attention::Weights<double> weights;
    weights.heads = s.heads;
    weights.width = rows / s.heads;
    weights.head.resize(s.heads);
    std::vector<double> output(d * rows, 0.0);
    if (file.contains("output")) {
        const auto shape = shape_of("output");
        if (shape.size() != 2 || shape[0] != d || shape[1] != rows) {
            wrong("output");
        }
        output = file.read<double>("output");
    } else if (rows == d) {
        for (std::size_t c = 0; c < d; ++c) {
            output[c * rows + c] = 1;
        }
    } else {
        throw Error(ErrorKind::input, "dynamics.weights",
                    fmt::format("no tensor output in {}", flyball::quoted(s.weight_file)),
                    fmt::format("one, since value does not have {} rows", setting("dim")));
    }
    const auto query = file.read<double>("query");
    const auto key = file.read<double>("key");
    const auto value = file.read<double>("value");
    for (std::size_t h = 0; h < s.heads; ++h) {
        const auto cut = [&](const std::vector<double>& from) {
            const auto begin = from.begin() + static_cast<std::ptrdiff_t>(h * weights.width * d);
            return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(weights.width * d));
        };
        weights.head[h] = {cut(query), cut(key), cut(value), std::vector<double>(d * weights.width)};
        for (std::size_t c = 0; c < d; ++c) {
            for (std::size_t i = 0; i < weights.width; ++i) {
                weights.head[h].output[c * weights.width + i] = output[c * rows + h * weights.width + i];
            }
        }
    }
    return weights;
}

}  // namespace

attention::Weights<double> draw_weights(const Settings& s, std::size_t system, std::size_t draw) {
    switch (s.weights) {
        case WeightKind::identity: {
            attention::Weights<double> weights;
            weights.heads = s.heads;
            return weights;
        }
        case WeightKind::file:
            return file_weights(s);
        case WeightKind::model:
            return s.trained->at(draw);
        case WeightKind::gaussian:
        case WeightKind::kaiming:
        case WeightKind::orthogonal:
            break;
    }
    return random_weights(s, system, draw);
}

FeedForward draw_feed_forward(const Settings& s, std::size_t system, std::size_t draw) {
    FeedForward ffn{s.dim, s.ffn_width, {}, {}};
    ffn.first = normals(s, ffn_stream, system, 2 * draw, s.ffn_width * s.dim);
    ffn.second = normals(s, ffn_stream, system, 2 * draw + 1, s.ffn_width * s.dim);
    check_stop();
    for (double& value : ffn.first) {
        value /= std::sqrt(static_cast<double>(s.dim));
    }
    check_stop();
    for (double& value : ffn.second) {
        value /= std::sqrt(static_cast<double>(s.ffn_width));
    }
    if (s.trained && s.trained->centred) {
        // Particles of a model with LayerNorm live where channels add up to 0, and so does what is added to them.
        for (std::size_t h = 0; h < s.ffn_width; ++h) {
            double sum = 0;
            for (std::size_t c = 0; c < s.dim; ++c) {
                sum += ffn.second[c * s.ffn_width + h];
            }
            for (std::size_t c = 0; c < s.dim; ++c) {
                ffn.second[c * s.ffn_width + h] -= sum / static_cast<double>(s.dim);
            }
        }
    }
    return ffn;
}

// in, out: [rows, dim]; the hidden layer exists for 128 rows at a time.
void FeedForward::operator()(std::size_t rows, const double* in, double* out) const {
    // By blocks of rows that depend on their number alone.
    constexpr std::size_t block = 128;
    const std::size_t blocks = (rows + block - 1) / block;
    parallel_slots(blocks, std::min<std::size_t>(blocks, 32), [&](std::size_t, std::size_t from, std::size_t to) {
        const BlasThreads one(1);
        std::vector<double> hidden(std::min(block, rows) * width);
        for (std::size_t b = from; b < to; ++b) {
            check_stop();
            const std::size_t begin = b * block;
            const std::size_t count = std::min(block, rows - begin);
            gemm(Transpose::no, Transpose::yes, count, width, dim, 1.0, in + begin * dim, dim, first.data(), dim, 0.0,
                 hidden.data(), width);
            for (std::size_t row = 0; row < count; ++row) {  // long ones: an erf takes as long as many products
                check_stop();
                for (double& h : std::span(hidden).subspan(row * width, width)) {
                    h *= 0.5 * (1 + std::erf(h * 0.70710678118654752440));
                }
            }
            check_stop();
            gemm(Transpose::no, Transpose::yes, count, dim, width, 1.0, hidden.data(), width, second.data(), width, 0.0,
                 out + begin * dim, dim);
        }
    });
}

}  // namespace flyball::dynamics
