// A transformer written as plain loops, its wiring typed from the papers, against the engine that reads an equation.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model/pass.hpp"
#include "tiny.hpp"

namespace flyball::model::test {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Row layer_norm(const Row& x, const double* gain, const double* bias, double eps) {
    double mean = 0;
    double square = 0;
    for (const double v : x) {
        mean += v / static_cast<double>(x.size());
    }
    for (const double v : x) {
        square += (v - mean) * (v - mean) / static_cast<double>(x.size());
    }
    Row out(x.size());
    for (std::size_t k = 0; k < x.size(); ++k) {
        out[k] = gain[k] * (x[k] - mean) / std::sqrt(square + eps) + bias[k];
    }
    return out;
}

// The parts of the tiny GPT-like model as the definition says.
struct Plain {
    const Model<double>& model;

    const double* tensor(const std::string& name) const {
        for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
            if (model.layout().parameters[i].name == name) {
                return model.at(static_cast<int>(i));
            }
        }
        ADD_FAILURE() << "no parameter " << name;
        return nullptr;
    }

    Row affine(const Row& x, const std::string& name, std::size_t out) const {
        const double* w = tensor(name + ".weight");
        const double* b = tensor(name + ".bias");
        Row y(out);
        for (std::size_t i = 0; i < out; ++i) {
            y[i] = b[i];
            for (std::size_t k = 0; k < x.size(); ++k) {
                y[i] += w[i * x.size() + k] * x[k];
            }
        }
        return y;
    }

    Rows attention(const Rows& x, std::size_t block) const {
        const Architecture& a = model.architecture();
        const std::string name = "blocks." + std::to_string(block) + ".attn.";
        Rows qkv;
        for (const Row& row : x) {
            qkv.push_back(affine(row, name + "qkv", 3 * a.dim));
        }
        Rows out;
        for (std::size_t i = 0; i < x.size(); ++i) {
            Row mixed(a.dim, 0.0);
            for (std::size_t h = 0; h < a.heads; ++h) {
                Row weight(i + 1);
                double total = 0;
                for (std::size_t j = 0; j <= i; ++j) {
                    double score = 0;
                    for (std::size_t k = 0; k < a.head_dim; ++k) {
                        score += qkv[i][h * a.head_dim + k] * qkv[j][a.dim + h * a.head_dim + k];
                    }
                    weight[j] = std::exp(score / std::sqrt(static_cast<double>(a.head_dim)));
                    total += weight[j];
                }
                for (std::size_t j = 0; j <= i; ++j) {
                    for (std::size_t k = 0; k < a.head_dim; ++k) {
                        mixed[h * a.head_dim + k] += weight[j] / total * qkv[j][2 * a.dim + h * a.head_dim + k];
                    }
                }
            }
            out.push_back(affine(mixed, name + "out", a.dim));
        }
        return out;
    }

    Rows ffn(const Rows& x, std::size_t block) const {
        const Architecture& a = model.architecture();
        const std::string name = "blocks." + std::to_string(block) + ".ffn.";
        Rows out;
        for (const Row& row : x) {
            Row hidden = affine(row, name + "in", a.ffn_dim);
            for (double& v : hidden) {
                v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
            }
            out.push_back(affine(hidden, name + "out", a.dim));
        }
        return out;
    }

    // The i-th norm of a block in the order of evaluation.
    Rows norm(const Rows& x, const std::string& name) const {
        Rows out;
        for (const Row& row : x) {
            out.push_back(layer_norm(row, tensor(name + ".weight"), tensor(name + ".bias"), model.architecture().eps));
        }
        return out;
    }
    Rows norm(const Rows& x, std::size_t block, int i) const {
        return norm(x, "blocks." + std::to_string(block) + ".norm." + std::to_string(i));
    }
    Rows start() const {
        Rows x;
        const std::size_t dim = model.architecture().dim;
        for (std::size_t i = 0; i < tiny_ids.size(); ++i) {
            const double* token = tensor("embed.tokens.weight") + static_cast<std::size_t>(tiny_ids[i]) * dim;
            const double* position = tensor("embed.positions.weight") + i * dim;
            Row row;
            for (std::size_t k = 0; k < dim; ++k) {
                row.push_back(token[k] + position[k]);
            }
            x.push_back(row);
        }
        return x;
    }
};

Rows sum(const Rows& a, double scale_a, const Rows& b, double scale_b = 1) {
    Rows out = a;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t k = 0; k < a[i].size(); ++k) {
            out[i][k] = scale_a * a[i][k] + scale_b * b[i][k];
        }
    }
    return out;
}

using Wiring = std::function<Rows(const Plain&)>;

void expect_wiring(const char* equation, const Wiring& wiring) {
    const Model<double> model = tiny_model<double>(tiny_architecture(equation), 21);
    const Rows expected = wiring(Plain{model});
    Pass<double> pass(model, tiny_ids.size());
    pass.forward(tiny_ids);
    const std::size_t dim = model.architecture().dim;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        for (std::size_t k = 0; k < dim; ++k) {
            EXPECT_NEAR(pass.readout()[i * dim + k], expected[i][k], 1e-11) << equation;
        }
    }
}

TEST(Wiring, PreLn) {
    expect_wiring("x + dt*f(norm(x)) | norm(x)", [](const Plain& p) {
        Rows x = p.start();
        for (std::size_t l = 0; l < 4; ++l) {
            x = sum(x, 1, p.attention(p.norm(x, l, 0), l));
            x = sum(x, 1, p.ffn(p.norm(x, l, 1), l));
        }
        return p.norm(x, "readout.norm.0");
    });
}

TEST(Wiring, PostLn) {
    expect_wiring("norm(x + dt*f(x))", [](const Plain& p) {
        Rows x = p.start();
        for (std::size_t l = 0; l < 4; ++l) {
            x = p.norm(sum(x, 1, p.attention(x, l)), l, 0);
            x = p.norm(sum(x, 1, p.ffn(x, l)), l, 1);
        }
        return x;
    });
}

TEST(Wiring, PeriLnHasFourNormsABlock) {
    expect_wiring("x + dt*norm(f(norm(x))) | norm(x)", [](const Plain& p) {
        Rows x = p.start();
        for (std::size_t l = 0; l < 4; ++l) {
            x = sum(x, 1, p.norm(p.attention(p.norm(x, l, 0), l), l, 1));
            x = sum(x, 1, p.norm(p.ffn(p.norm(x, l, 2), l), l, 3));
        }
        return p.norm(x, "readout.norm.0");
    });
}

TEST(Wiring, MixLnIsPostLnInTheFirstQuarter) {
    expect_wiring("depth <= tau ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x) where tau = 0.25",
                  [](const Plain& p) {
                      Rows x = p.start();
                      x = p.norm(sum(x, 1, p.attention(x, 0)), 0, 0);
                      x = p.norm(sum(x, 1, p.ffn(x, 0)), 0, 1);
                      for (std::size_t l = 1; l < 4; ++l) {
                          x = sum(x, 1, p.attention(p.norm(x, l, 0), l));
                          x = sum(x, 1, p.ffn(p.norm(x, l, 1), l));
                      }
                      return p.norm(x, "readout.norm.0");
                  });
}

TEST(Wiring, DeepNormWeighsTheSkipByTheFourthRootOfTwiceTheBlocks) {
    expect_wiring("norm(a*x + dt*f(x)) where a = (2*L)^0.25", [](const Plain& p) {
        Rows x = p.start();
        for (std::size_t l = 0; l < 4; ++l) {
            x = p.norm(sum(x, std::pow(8.0, 0.25), p.attention(x, l)), l, 0);
            x = p.norm(sum(x, std::pow(8.0, 0.25), p.ffn(x, l)), l, 1);
        }
        return x;
    });
}

TEST(Wiring, LnScalingDividesByTheRootOfTheBlockNumber) {
    expect_wiring("x + dt*f(norm(x)/sqrt(t+1)) | norm(x)", [](const Plain& p) {
        Rows x = p.start();
        for (std::size_t l = 0; l < 4; ++l) {
            const double s = 1 / std::sqrt(static_cast<double>(l + 1));
            const Rows zero = sum(x, 0, x, 0);
            x = sum(x, 1, p.attention(sum(p.norm(x, l, 0), s, zero), l));
            x = sum(x, 1, p.ffn(sum(p.norm(x, l, 1), s, zero), l));
        }
        return p.norm(x, "readout.norm.0");
    });
}

TEST(Wiring, ResiDualCarriesTwoStreams) {
    expect_wiring("o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)", [](const Plain& p) {
        Rows x = p.start();
        Rows y = x;
        for (std::size_t l = 0; l < 4; ++l) {
            const Rows a = p.attention(x, l);
            x = p.norm(sum(x, 1, a), l, 0);
            y = sum(y, 1, a);
            const Rows f = p.ffn(x, l);
            x = p.norm(sum(x, 1, f), l, 1);
            y = sum(y, 1, f);
        }
        return sum(x, 1, p.norm(y, "readout.norm.0"));
    });
}

TEST(Wiring, BottomToTopSkipsTheWholeBlock) {
    expect_wiring("m = norm(x + dt*attn(x)); x = norm(x + m + dt*ffn(m))", [](const Plain& p) {
        Rows x = p.start();
        for (std::size_t l = 0; l < 4; ++l) {
            const Rows m = p.norm(sum(x, 1, p.attention(x, l)), l, 0);
            x = p.norm(sum(sum(x, 1, m), 1, p.ffn(m, l)), l, 1);
        }
        return x;
    });
}

}  // namespace
}  // namespace flyball::model::test
