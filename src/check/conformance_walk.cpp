#include "check/conformance_walk.hpp"

#include <algorithm>
#include <cmath>

#include "scheme/evaluate.hpp"
#include "scheme/row_kernels.hpp"

namespace flyball::check {

namespace {

using scheme::Expression;
using scheme::Instruction;
using scheme::RowFunction;
using scheme::RowMap;

double squared(double x) {
    return x * x;
}

double at_channel(const std::vector<double>& values, std::size_t channel) {
    return values.size() == 1 ? values[0] : values[channel];
}

// What a coefficient's parts come to without their signs: `x + a*(u - x)` is one sum with (1 - a)*x here, and was x -
// a*x in the code that ran, whose rounding is that of the parts.
double magnitude_of(const Expression& e, const scheme::Scope<double>& scope) {
    if (e.kind == Expression::Kind::negate) {
        return magnitude_of(*e.arguments[0], scope);
    }
    if (e.kind == Expression::Kind::binary) {
        const Expression& a = *e.arguments[0];
        const Expression& b = *e.arguments[1];
        if (e.op == scheme::Operator::plus || e.op == scheme::Operator::minus) {
            return magnitude_of(a, scope) + magnitude_of(b, scope);
        }
        if (e.op == scheme::Operator::times) {
            return magnitude_of(a, scope) * magnitude_of(b, scope);
        }
        if (e.op == scheme::Operator::divide) {
            return magnitude_of(a, scope) / std::fabs(evaluate(b, scope));
        }
    }
    return std::fabs(evaluate(e, scope));
}

// The slope of a curve y = g*curve(alpha*x + shift) + b, without g.
double slope_of_curve(const RowMap<double>& map, double x) {
    const double at = map.alpha * x + map.shift;
    constexpr double two_over_root_pi = 1.1283791670955126;
    return map.function == RowFunction::tanh ? map.alpha * (1 - squared(std::tanh(at)))
                                             : map.alpha * two_over_root_pi * std::exp(-at * at);
}

void curve_error(const RowMap<double>& map, std::size_t dim, double u, const double* x, const double* e,
                 const double* y, double* out) {
    for (std::size_t i = 0; i < dim; ++i) {
        const double g = map.gain == nullptr ? 1 : map.gain[i];
        const double slope = g * slope_of_curve(map, x[i]);
        out[i] = std::sqrt(squared(slope) * (squared(e[i]) + squared(u * x[i])) +
                           squared(u) * (2 * squared(g) + squared(y[i])));
    }
}

// One row of y = g*v + b, v = (x - m)*s. With M = d for means and 1 for the sphere, and c = 1 where the mean is taken
// off,
//
//     dv_i = s sum_j (delta_ij - a_ij) dx_j,    a_ij = c/d + v_i v_j/M
//
// so that independent errors e_j give  s^2 (e_i^2 (1 - 2 a_ii) + sum_j a_ij^2 e_j^2).  The scale takes off what lies
// along the row itself: a channel that is much larger than the others has almost no error after the norm.
void norm_error(const RowMap<double>& map, std::size_t dim, double u, const double* x, const double* e, const double* y,
                double* out) {
    const auto d = static_cast<double>(dim);
    const bool centred = map.function == RowFunction::centred;
    const double of = map.function == RowFunction::sphere ? 1 : d;
    double mean = 0;
    double squares = 0;
    double errors = 0;
    for (std::size_t i = 0; i < dim; ++i) {
        mean += centred ? x[i] / d : 0;
        squares += squared(x[i]);
        errors += squared(e[i]);
    }
    double centred_squares = 0;
    for (std::size_t i = 0; i < dim; ++i) {
        centred_squares += squared(x[i] - mean);
    }
    const double root = std::sqrt(centred_squares / of + map.eps);
    if (root == 0) {
        std::fill_n(out, dim, 0.0);
        return;
    }
    const double s = 1 / root;
    double along = 0;         // sum_j v_j e_j^2
    double along_square = 0;  // sum_j v_j^2 e_j^2
    for (std::size_t i = 0; i < dim; ++i) {
        const double v = (x[i] - mean) * s;
        along += v * squared(e[i]);
        along_square += squared(v * e[i]);
    }
    const double c = centred ? 1 / d : 0;
    // The mean is itself a rounded sum.
    const double mean_error = centred ? squared(u) * (squared(mean) + squares / d / d) : 0;
    for (std::size_t i = 0; i < dim; ++i) {
        const double g = map.gain == nullptr ? 1 : map.gain[i];
        const double v = (x[i] - mean) * s;
        const double others = squared(c) * errors + 2 * c * v / of * along + squared(v / of) * along_square;
        const double passed = squared(e[i]) * (1 - 2 * (c + v * v / of)) + others;
        out[i] = std::sqrt(squared(g) * (squared(s) * (std::max(0.0, passed) + mean_error) + 4 * squared(u * v)) +
                           squared(u * y[i]));
    }
}

class CodeWalk {
  public:
    CodeWalk(const scheme::Code& code, const BlockNumbers& numbers, const BlockGiven& given, std::size_t rows,
             std::size_t dim)
        : code_(code), numbers_(numbers), given_(given), rows_(rows), dim_(dim), size_(rows * dim) {
        evaluate_coefficients(code, numbers.env, scheme::Run::record, numbers.learned, dim, coefficients_, facts_);
        std::vector<double> channel(numbers.learned.size());
        const scheme::Scope<double> scope{numbers.env.values(), channel};
        for (std::size_t c = 0; c < coefficients_.size(); ++c) {
            magnitudes_.emplace_back();
            for (std::size_t i = 0; i < coefficients_[c].value.size(); ++i) {
                for (std::size_t p = 0; p < channel.size(); ++p) {
                    channel[p] = at_channel(numbers.learned[p], i);
                }
                magnitudes_.back().push_back(magnitude_of(*code.coefficients[c], scope));
            }
        }
    }

    BlockResult run() {
        own_.resize(scheme::index(code_.registers));
        at_.assign(own_.size(), nullptr);
        for (std::size_t i = 0; i < given_.streams.size(); ++i) {
            at_[scheme::index(code_.streams_in[i])] = given_.streams[i];
        }
        if (code_.embedding >= 0) {
            at_[scheme::index(code_.embedding)] = given_.embedding;
        }
        BlockResult result;
        for (const Instruction& instruction : code_.instructions) {
            switch (instruction.kind) {
                case Instruction::Kind::combine:
                    combine(instruction);
                    break;
                case Instruction::Kind::apply:
                    apply(instruction);
                    break;
                case Instruction::Kind::call:
                    call(instruction, result);
                    break;
            }
        }
        for (const int out : code_.streams_out) {
            result.streams.push_back(*at_[scheme::index(out)]);
        }
        return result;
    }

  private:
    bool with_error() const { return numbers_.roundoff > 0; }

    Estimate& fresh(int reg) {
        Estimate& out = own_[scheme::index(reg)];
        out.value.assign(size_, 0);
        out.error.assign(with_error() ? size_ : 0, 0);
        at_[scheme::index(reg)] = &out;
        return out;
    }

    void round_off(Estimate& out) const {
        for (double& value : out.value) {
            value = rounded_to(value, numbers_.round_to);
        }
    }

    void combine(const Instruction& instruction) {
        Estimate& out = fresh(instruction.out);
        const double u2 = squared(numbers_.roundoff);
        for (const scheme::Term& term : instruction.terms) {
            const std::vector<double>& c = coefficients_[scheme::index(term.coefficient)].value;
            const std::vector<double>& magnitude = magnitudes_[scheme::index(term.coefficient)];
            const Estimate* source = term.source == scheme::ones_register ? nullptr : at_[scheme::index(term.source)];
            for (std::size_t i = 0; i < size_; ++i) {
                const double factor = at_channel(c, i % dim_);
                const double value = source == nullptr ? 1 : source->value[i];
                out.value[i] += factor * value;
                if (with_error()) {
                    out.error[i] += 2 * u2 * squared(at_channel(magnitude, i % dim_) * value) +
                                    (source == nullptr ? 0 : squared(factor * source->error[i]));
                }
            }
        }
        for (std::size_t i = 0; i < out.error.size(); ++i) {
            out.error[i] = std::sqrt(out.error[i] + u2 * squared(out.value[i]));
        }
        round_off(out);
    }

    RowMap<double> map_of(const Instruction& instruction) const {
        if (instruction.norm >= 0) {
            return numbers_.norms[scheme::index(instruction.norm)];
        }
        RowMap<double> map;
        map.function = scheme::row_function(instruction.function);
        return map;
    }

    void apply(const Instruction& instruction) {
        const RowMap<double> map = map_of(instruction);
        const Estimate& in = *at_[scheme::index(instruction.in)];
        Estimate& out = fresh(instruction.out);
        scheme::row_kernels<double>().apply(map, rows_, dim_, in.value.data(), out.value.data());
        round_off(out);
        if (!with_error()) {
            return;
        }
        const bool curve = map.function == RowFunction::tanh || map.function == RowFunction::erf;
        for (std::size_t row = 0; row < size_; row += dim_) {
            (curve ? curve_error : norm_error)(map, dim_, numbers_.roundoff, in.value.data() + row,
                                               in.error.data() + row, out.value.data() + row, out.error.data() + row);
        }
    }

    void call(const Instruction& instruction, BlockResult& result) {
        const bool attention = instruction.sub_layer == scheme::SubLayer::attention;
        (attention ? result.attention_in : result.ffn_in) = *at_[scheme::index(instruction.in)];
        const Estimate* saved = attention ? given_.attention : given_.ffn;
        if (saved == nullptr) {
            fresh(instruction.out);
        } else {
            at_[scheme::index(instruction.out)] = saved;
        }
    }

    const scheme::Code& code_;
    const BlockNumbers& numbers_;
    const BlockGiven& given_;
    std::size_t rows_;
    std::size_t dim_;
    std::size_t size_;
    std::vector<scheme::Coefficient> coefficients_;
    std::vector<scheme::CoefficientFacts> facts_;
    std::vector<std::vector<double>> magnitudes_;  // as coefficients_
    std::vector<Estimate> own_;
    std::vector<const Estimate*> at_;  // by register
};

}  // namespace

double rounded_to(double value, double roundoff) {
    if (roundoff == 0) {
        return value;
    }
    // value*(1 + 2^k) less value*2^k: what is left are the leading bits (Veltkamp).
    const double large = value * (1 + 0x1p53 * roundoff);
    const double leading = large - (large - value);
    return std::isfinite(leading) ? leading : value;
}

Estimate estimate_of(const SavedRows& saved, bool with_error) {
    Estimate out;
    out.value = saved.values;
    if (with_error) {
        out.error.reserve(saved.values.size());
        for (const double value : saved.values) {
            out.error.push_back(saved.stored * std::fabs(value));
        }
    }
    return out;
}

BlockResult walk_block(const scheme::Code& code, const BlockNumbers& numbers, const BlockGiven& given, std::size_t rows,
                       std::size_t dim) {
    return CodeWalk(code, numbers, given, rows, dim).run();
}

}  // namespace flyball::check
