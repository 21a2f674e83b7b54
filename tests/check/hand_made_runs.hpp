// Runs of blocks written out by hand, in the arithmetic of a narrow type, of any size: right ones, or with a factor.
#pragma once

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "check/run_file.hpp"
#include "core/half.hpp"

namespace flyball::check::against_test {

struct HandMade {
    std::string scheme = "pre-ln";  // or peri-ln, post-ln
    Dtype type = Dtype::bf16;
    std::size_t rows = 64;
    std::size_t dim = 64;
    std::size_t layers = 2;
    double embedding = 1;  // root mean square of the first stream
    double attention = 1;  // the mistakes: factors on what the sub-layers add
    double ffn = 1;
    bool one_norm = false;       // the norm of attention serves the feed-forward too
    bool computed_wide = false;  // the model ran in double, and only the file is in the type
    std::optional<std::size_t> without_last_norm =
        {};  // a block of peri-ln that adds what its feed-forward gave as it is
    std::optional<std::size_t> skip_after_norm = {};  // a block whose residual connection starts behind the norm
    std::uint64_t seed = 1;

    static double unit(Dtype type) { return type == Dtype::bf16 ? 0x1p-8 : type == Dtype::f16 ? 0x1p-11 : 0x1p-24; }
    static double nearest(Dtype type, double x) {
        const auto narrow = static_cast<float>(x);
        return type == Dtype::bf16  ? static_cast<double>(bf16_to_float(float_to_bf16(narrow)))
               : type == Dtype::f16 ? static_cast<double>(f16_to_float(float_to_f16(narrow)))
                                    : static_cast<double>(narrow);
    }
};

class HandMadeRun {
  public:
    explicit HandMadeRun(const HandMade& how) : how_(how), random_(how.seed) {
        run_.rows = run_.file_rows = run_.tokens = how.rows;
        run_.dim = how.dim;
        run_.norm = "layernorm";
        run_.function = scheme::RowFunction::centred;
        run_.eps = 1e-5;
        run_.stored = how.type;
        Rows x = drawn(how.embedding);
        run_.embed = saved(x);
        for (std::size_t l = 0; l < how.layers; ++l) {
            SavedBlock block;
            for (const bool attention : {true, false}) {
                const Rows in = how.scheme == "post-ln" ? x : norm(x, attention, block);
                const Rows out = sub_layer(in);
                (attention ? block.attention_in : block.ffn_in) = saved(in);
                (attention ? block.attention_out : block.ffn_out) = saved(out);
                Rows branch = how.scheme == "peri-ln" ? norm(out, true, block) : out;
                branch = how.without_last_norm == l && !attention ? out : branch;
                x = sum(how.skip_after_norm == l ? in : x, attention ? how.attention : how.ffn, branch);
                x = how.scheme == "post-ln" ? norm(x, true, block) : x;
            }
            block.resid = saved(x);
            run_.blocks.push_back(std::move(block));
        }
        SavedBlock last;
        run_.readout = saved(how.scheme == "post-ln" ? x : norm(x, true, last));
        run_.readout_norms = last.norms;
    }

    const RunFile& file() const { return run_; }
    RunFile& file() { return run_; }

  private:
    using Rows = std::vector<double>;

    double rounded(double x) const { return how_.computed_wide ? x : HandMade::nearest(how_.type, x); }

    SavedRows saved(Rows x) const {
        for (double& value : x) {
            value = HandMade::nearest(how_.type, value);
        }
        const double u = HandMade::unit(how_.type);
        return {std::move(x), u, u};
    }

    Rows drawn(double size) {
        Rows x(how_.rows * how_.dim);
        for (double& value : x) {
            value = rounded(size * normal_(random_));
        }
        return x;
    }

    // y = g*(x - mean)/sqrt(var + eps) + b, rounded once, as kernels do it.
    Rows norm(const Rows& x, bool own, SavedBlock& block) {
        if (own || !how_.one_norm) {
            SavedNorm one;
            for (std::size_t i = 0; i < how_.dim; ++i) {
                one.gain.push_back(HandMade::nearest(how_.type, 1 + 0.3 * normal_(random_)));
                one.bias.push_back(HandMade::nearest(how_.type, 0.2 * normal_(random_)));
            }
            block.norms.push_back(std::move(one));
        }
        const SavedNorm& used = block.norms.back();
        Rows y(x.size());
        for (std::size_t row = 0; row < x.size(); row += how_.dim) {
            const auto d = static_cast<double>(how_.dim);
            double mean = 0;
            double variance = 0;
            for (std::size_t i = row; i < row + how_.dim; ++i) {
                mean += x[i] / d;
            }
            for (std::size_t i = row; i < row + how_.dim; ++i) {
                variance += (x[i] - mean) * (x[i] - mean) / d;
            }
            for (std::size_t i = 0; i < how_.dim; ++i) {
                const double v = (x[row + i] - mean) / std::sqrt(variance + 1e-5);
                y[row + i] = rounded(used.gain[i] * v + used.bias[i]);
            }
        }
        return y;
    }

    // Some function of the input that is not along it.
    Rows sub_layer(const Rows& in) {
        Rows out = drawn(0.5);
        for (std::size_t i = 0; i < in.size(); ++i) {
            out[i] = rounded(out[i] * (1 + 0.3 * std::tanh(in[i])));
        }
        return out;
    }

    Rows sum(const Rows& x, double factor, const Rows& branch) const {
        Rows y(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            y[i] = rounded(x[i] + (factor == 1 ? branch[i] : rounded(factor * branch[i])));
        }
        return y;
    }

    HandMade how_;
    std::mt19937_64 random_;
    std::normal_distribution<double> normal_;
    RunFile run_;
};

}  // namespace flyball::check::against_test
