// The row kernels against their definition in plain double precision, and AVX2 against the baseline.
#include "scheme/row_kernels.hpp"

#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "support.hpp"

namespace flyball::scheme::test {
namespace {

// One row of a map from its definition (normaliser.hpp), with its derivative along v.
struct Reference {
    std::vector<double> value;
    std::vector<double> slope;
};

// c/sqrt(m(c^2) + eps) and its derivative along v, with c = x or x - mean(x), and m the sum or the mean.
Reference direction(const std::vector<double>& x, const std::vector<double>& v, double eps, bool centred, bool mean) {
    const std::size_t dim = x.size();
    const auto count = static_cast<double>(dim);
    const double shift = centred ? std::accumulate(x.begin(), x.end(), 0.0) / count : 0;
    const double shift_v = centred ? std::accumulate(v.begin(), v.end(), 0.0) / count : 0;
    double squares = 0;
    double along = 0;
    for (std::size_t k = 0; k < dim; ++k) {
        squares += (x[k] - shift) * (x[k] - shift) / (mean ? count : 1);
        along += (x[k] - shift) * (v[k] - shift_v) / (mean ? count : 1);
    }
    const double root = std::sqrt(squares + eps);
    Reference result{std::vector<double>(dim, 0.0), std::vector<double>(dim, 0.0)};
    for (std::size_t k = 0; k < dim && root > 0; ++k) {
        result.value[k] = (x[k] - shift) / root;
        result.slope[k] = (v[k] - shift_v) / root - (x[k] - shift) * along / (root * root * root);
    }
    return result;
}

// A curve of each number, from its value and slope at z = alpha x + shift.
template <class Curve, class Slope>
Reference curve(const std::vector<double>& x, const std::vector<double>& v, double alpha, double shift, Curve value,
                Slope slope) {
    Reference result;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double z = alpha * x[k] + shift;
        result.value.push_back(value(z));
        result.slope.push_back(slope(z) * alpha * v[k]);
    }
    return result;
}

// No default: a function of a row without its definition here does not compile.
Reference bare_reference(RowFunction function, const std::vector<double>& x, const std::vector<double>& v, double eps,
                         double alpha, double shift) {
    switch (function) {
        case RowFunction::sphere:
            return direction(x, v, eps, false, false);
        case RowFunction::rms:
            return direction(x, v, eps, false, true);
        case RowFunction::centred:
            return direction(x, v, eps, true, true);
        case RowFunction::tanh:
            return curve(
                x, v, alpha, shift, [](double z) { return std::tanh(z); },
                [](double z) { return 1 / (std::cosh(z) * std::cosh(z)); });
        case RowFunction::erf:
            return curve(
                x, v, alpha, shift, [](double z) { return std::erf(z); },
                [](double z) { return 2 / std::sqrt(M_PI) * std::exp(-z * z); });
    }
    return {};
}

template <class Real>
Reference reference(const RowMap<Real>& map, const std::vector<double>& x, const std::vector<double>& v) {
    Reference result = bare_reference(map.function, x, v, static_cast<double>(map.eps), static_cast<double>(map.alpha),
                                      static_cast<double>(map.shift));
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double gain = map.gain == nullptr ? 1 : static_cast<double>(map.gain[k]);
        const double bias = map.bias == nullptr ? 0 : static_cast<double>(map.bias[k]);
        result.value[k] = gain * result.value[k] + bias;
        result.slope[k] = gain * result.slope[k];
    }
    return result;
}

// What the table of normalisers uses, each once: a function that is in no row of it is out of everybody's reach.
std::vector<RowFunction> every_function() {
    std::vector<RowFunction> functions;
    for (const Normaliser& normaliser : normalisers()) {
        if (std::find(functions.begin(), functions.end(), normaliser.function) == functions.end()) {
            functions.push_back(normaliser.function);
        }
    }
    return functions;
}

// Those that divide a row by its length, of whatever kind; the others are curves of each number.
std::vector<RowFunction> every_norm() {
    std::vector<RowFunction> norms;
    for (const RowFunction function : every_function()) {
        if (!smooth_at_zero(function)) {
            norms.push_back(function);
        }
    }
    return norms;
}

std::vector<Isa> isas() {
    std::vector<Isa> all = {Isa::plain, Isa::avx2, Isa::avx512};
    all.resize(static_cast<std::size_t>(detect_isa()) + 1);  // each has what those before it have
    return all;
}

template <class Real>
class RowKernelsOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernelsOf, Reals);

TYPED_TEST(RowKernelsOf, ManyNarrowRowsAreUnitAlsoBesideZeroHugeAndTinyOnes) {
    using Real = TypeParam;
    const double tolerance = 8 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    const Real huge = sizeof(Real) == 8 ? static_cast<Real>(1e200) : static_cast<Real>(1e25F);
    for (const Isa isa : isas()) {
        for (std::size_t dim = 1; dim <= 9; ++dim) {
            const std::size_t rows = 200;
            std::vector<Real> in(rows * dim);
            for (std::size_t i = 0; i < in.size(); ++i) {
                const std::size_t row = i / dim;
                const auto value = static_cast<Real>(Random(dim, 3).normal(i));
                in[i] = row == 70 ? Real{0} : row == 71 ? value * huge : row == 199 ? value / huge : value;
            }
            std::vector<Real> out(in.size());
            row_kernels<Real>(isa).apply({}, rows, dim, in.data(), out.data());
            for (std::size_t row = 0; row < rows; ++row) {
                double squares = 0;
                double along = 0;
                for (std::size_t k = row * dim; k < (row + 1) * dim; ++k) {
                    squares += static_cast<double>(out[k]) * static_cast<double>(out[k]);
                    const double factor = row == 71 ? 1 / static_cast<double>(huge) : 1;
                    along += static_cast<double>(out[k]) * static_cast<double>(in[k]) * factor;
                }
                EXPECT_NEAR(squares, row == 70 ? 0 : 1, tolerance) << dim << " row " << row;
                EXPECT_TRUE(row == 70 || along > 0);
            }
        }
    }
}

TYPED_TEST(RowKernelsOf, ApplyEqualsTheDefinitionAtAwkwardSizes) {
    using Real = TypeParam;
    const double tolerance = 60 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    for (const Isa isa : isas()) {
        const RowKernels<Real>& kernels = row_kernels<Real>(isa);
        for (const RowFunction function : every_function()) {
            for (std::size_t dim = 1; dim <= 40; dim += dim < 20 ? 1 : 5) {
                const std::size_t rows = 1 + dim % 4;
                const std::size_t offset = dim % 3;  // misaligned on purpose
                std::vector<Real> in(rows * dim + offset);
                std::vector<Real> slope(in.size());
                std::vector<Real> gain(dim);
                std::vector<Real> bias(dim);
                const Random random(dim, 5);
                for (std::size_t i = 0; i < in.size(); ++i) {
                    in[i] = static_cast<Real>(random.normal(i));
                    slope[i] = static_cast<Real>(random.normal(5000 + i));
                }
                for (std::size_t k = 0; k < dim; ++k) {
                    gain[k] = static_cast<Real>(1 + 0.3 * random.normal(9000 + k));
                    bias[k] = static_cast<Real>(random.normal(9500 + k));
                }
                for (const bool affine : {false, true}) {
                    RowMap<Real> map;
                    map.function = function;
                    map.eps = affine ? Real(1e-3) : Real(0);
                    map.alpha = Real(0.7);
                    map.shift = affine ? Real(0.2) : Real(0);
                    map.gain = affine ? gain.data() : nullptr;
                    map.bias = affine ? bias.data() : nullptr;
                    if (dim == 1 && function == RowFunction::centred) {
                        continue;  // constant by definition: a test of its own
                    }
                    std::vector<Real> out(in.size());
                    std::vector<Real> dual(in.size());
                    std::vector<Real> dual_slope(in.size());
                    kernels.apply(map, rows, dim, &in[offset], &out[offset]);
                    kernels.apply_dual(map, rows, dim, &in[offset], &slope[offset], &dual[offset], &dual_slope[offset]);
                    for (std::size_t row = 0; row < rows; ++row) {
                        const auto at = [&](const std::vector<Real>& from) {
                            const auto begin = from.begin() + static_cast<std::ptrdiff_t>(offset + row * dim);
                            return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(dim));
                        };
                        const Reference expected = reference(map, at(in), at(slope));
                        double scale = 1;
                        for (const double s : expected.slope) {
                            scale = std::max(scale, std::abs(s));
                        }
                        EXPECT_LT(largest_difference(at(out), expected.value), tolerance) << dim << name(isa);
                        EXPECT_LT(largest_difference(at(dual), expected.value), tolerance) << dim << name(isa);
                        // A direction in few dimensions can be nearly singular; the budget grows with its derivative.
                        EXPECT_LT(largest_difference(at(dual_slope), expected.slope), tolerance * 20 * scale * scale)
                            << dim << name(isa);
                    }
                }
            }
        }
    }
}

TYPED_TEST(RowKernelsOf, CombineEqualsTheDefinition) {
    using Real = TypeParam;
    const std::size_t rows = 3;
    for (std::size_t dim = 1; dim <= 21; ++dim) {
        for (std::size_t count = 0; count <= 6; ++count) {
            std::vector<std::vector<Real>> sources(count, std::vector<Real>(rows * dim));
            std::vector<Real> channel(dim);
            const Random random(dim, count);
            for (std::size_t k = 0; k < dim; ++k) {
                channel[k] = static_cast<Real>(random.normal(7000 + k));
            }
            std::vector<RowTerm<Real>> terms(count);
            for (std::size_t t = 0; t < count; ++t) {
                for (std::size_t i = 0; i < rows * dim; ++i) {
                    sources[t][i] = static_cast<Real>(random.normal(1000 * t + i));
                }
                // The last two are added to every row: one number, and one for each channel.
                terms[t] = {t >= 4 ? nullptr : sources[t].data(), static_cast<Real>(random.normal(6000 + t)),
                            t == 1 || t == 5 ? channel.data() : nullptr};
            }
            std::vector<double> expected(rows * dim, 0.0);
            for (const RowTerm<Real>& term : terms) {
                for (std::size_t i = 0; i < rows * dim; ++i) {
                    const double c = static_cast<double>(term.channel == nullptr ? term.scale : term.channel[i % dim]);
                    expected[i] += c * (term.source == nullptr ? 1.0 : static_cast<double>(term.source[i]));
                }
            }
            for (const Isa isa : isas()) {
                std::vector<Real> out(rows * dim, Real(7));
                row_kernels<Real>(isa).combine(rows, dim, terms.data(), count, out.data());
                const double tolerance = 20 * static_cast<double>(std::numeric_limits<Real>::epsilon());
                EXPECT_LT(largest_difference({out.begin(), out.end()}, expected), tolerance) << dim << " " << count;
            }
        }
    }
}

TYPED_TEST(RowKernelsOf, AllInstructionSetsGiveTheSameBitsExceptInCurves) {
    using Real = TypeParam;
    constexpr std::size_t rows = 21;  // more than gradients of gains are added up for at a time
    for (const RowFunction function : every_function()) {
        const bool curve = smooth_at_zero(function);
        for (const std::size_t dim : {1U, 3U, 16U, 37U, 48U, 64U, 300U, 1100U}) {
            std::vector<Real> in(rows * dim);
            std::vector<Real> grad(in.size());
            for (std::size_t i = 0; i < in.size(); ++i) {
                in[i] = static_cast<Real>(3 * Random(dim, 8).normal(i));
                grad[i] = static_cast<Real>(Random(dim, 9).normal(i));
            }
            RowMap<Real> map;
            map.function = function;
            map.gain = in.data();
            map.bias = grad.data();
            std::vector<std::vector<double>> results;
            for (const Isa isa : isas()) {
                std::vector<Real> out(in.size());
                std::vector<Real> grad_in(in.size(), Real{1});
                std::vector<double> gain(dim, 0.0);
                std::vector<double> bias(dim, 0.0);
                double alpha = 0;
                double shift = 0;
                row_kernels<Real>(isa).apply(map, rows, dim, in.data(), out.data());
                row_kernels<Real>(isa).apply_reverse(map, rows, dim, in.data(), grad.data(), grad_in.data(),
                                                     {gain.data(), bias.data(), &alpha, &shift});
                std::vector<double>& result = results.emplace_back(out.begin(), out.end());
                result.insert(result.end(), grad_in.begin(), grad_in.end());
                result.insert(result.end(), gain.begin(), gain.end());
                result.insert(result.end(), bias.begin(), bias.end());
            }
            for (std::size_t k = 1; k < results.size(); ++k) {
                for (std::size_t i = 0; i < results[0].size(); ++i) {
                    const double slack = curve ? 200 * static_cast<double>(std::numeric_limits<Real>::epsilon()) : 0;
                    ASSERT_NEAR(results[k][i], results[0][i], slack * (1 + std::fabs(results[0][i])))
                        << dim << " " << i;
                }
            }
        }
    }
}

// The Jacobian of a direction is symmetric, so J' g is its derivative along g, which the definition has.
TYPED_TEST(RowKernelsOf, GradientsOfNormsAreThoseOfTheDefinitionAlsoOfManyAndHugeRows) {
    using Real = TypeParam;
    constexpr std::size_t rows = 40;
    constexpr std::size_t huge_row = 33;
    const double huge = sizeof(Real) == 8 ? 1e200 : 1e25;
    const double tolerance = 300 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    for (const Isa isa : isas()) {
        for (const RowFunction function : every_norm()) {
            for (const std::size_t dim : {3U, 48U, 100U}) {
                std::vector<Real> in(rows * dim);
                std::vector<Real> grad(in.size());
                std::vector<Real> gain(dim);
                for (std::size_t i = 0; i < in.size(); ++i) {
                    in[i] = static_cast<Real>(Random(dim, 3).normal(i) * (i / dim == huge_row ? huge : 1));
                    grad[i] = static_cast<Real>(Random(dim, 4).normal(i));
                    gain[i % dim] = static_cast<Real>(1 + 0.1 * static_cast<double>(i % dim % 7));
                }
                RowMap<Real> map;
                map.function = function;
                map.gain = gain.data();
                std::vector<Real> grad_in(in.size(), Real{2});
                std::vector<double> gains(dim, 5.0);
                std::vector<double> biases(dim, 7.0);
                row_kernels<Real>(isa).apply_reverse(map, rows, dim, in.data(), grad.data(), grad_in.data(),
                                                     {gains.data(), biases.data(), nullptr, nullptr});
                std::vector<double> expected_gains(dim, 5.0);
                std::vector<double> expected_biases(dim, 7.0);
                for (std::size_t row = 0; row < rows; ++row) {
                    const double size = row == huge_row ? huge : 1;
                    std::vector<double> x(dim);
                    std::vector<double> v(dim);
                    for (std::size_t k = 0; k < dim; ++k) {
                        x[k] = static_cast<double>(in[row * dim + k]) / size;
                        v[k] = static_cast<double>(grad[row * dim + k]) * static_cast<double>(gain[k]);
                    }
                    const Reference bare = bare_reference(function, x, v, 0, 1, 0);
                    for (std::size_t k = 0; k < dim; ++k) {
                        const double g = static_cast<double>(grad[row * dim + k]);
                        ASSERT_NEAR(static_cast<double>(grad_in[row * dim + k]), 2 + bare.slope[k] / size,
                                    tolerance * (2 + std::fabs(bare.slope[k])))
                            << dim << " row " << row;
                        expected_gains[k] += g * bare.value[k];
                        expected_biases[k] += g;
                    }
                }
                for (std::size_t k = 0; k < dim; ++k) {
                    EXPECT_NEAR(gains[k], expected_gains[k], 10 * tolerance) << dim;
                    EXPECT_NEAR(biases[k], expected_biases[k], 10 * tolerance) << dim;
                }
            }
        }
    }
}

TYPED_TEST(RowKernelsOf, ExtremeRowsKeepTheirDirection) {
    using Real = TypeParam;
    const double big = sizeof(Real) == 8 ? 1e300 : 1e30;
    for (const Isa isa : isas()) {
        for (const double size : {big, 1 / big, static_cast<double>(std::numeric_limits<Real>::denorm_min()) * 5}) {
            const std::vector<Real> in = {static_cast<Real>(3 * size), static_cast<Real>(-4 * size)};
            std::vector<Real> out(2);
            row_kernels<Real>(isa).apply(RowMap<Real>{}, 1, 2, in.data(), out.data());
            EXPECT_NEAR(static_cast<double>(out[0]), 0.6, 1e-6) << size;
            EXPECT_NEAR(static_cast<double>(out[1]), -0.8, 1e-6) << size;
        }
        for (const RowFunction function : every_norm()) {
            RowMap<Real> map;
            map.function = function;
            const std::vector<Real> zero(9, Real(0));
            std::vector<Real> out(9, Real(5));
            row_kernels<Real>(isa).apply(map, 1, 9, zero.data(), out.data());
            EXPECT_EQ(out, zero) << "norm(0) = 0";
            const std::vector<Real> with_nan = {Real(1), std::numeric_limits<Real>::quiet_NaN()};
            std::vector<Real> spoiled(2);
            row_kernels<Real>(isa).apply(map, 1, 2, with_nan.data(), spoiled.data());
            EXPECT_TRUE(std::isnan(static_cast<double>(spoiled[1]))) << "NaN is a result, not hidden";
        }
        RowMap<Real> centred;
        centred.function = RowFunction::centred;
        const std::vector<Real> constant(7, Real(0.1));
        std::vector<Real> out(7, Real(5));
        row_kernels<Real>(isa).apply(centred, 1, 7, constant.data(), out.data());
        EXPECT_EQ(out, std::vector<Real>(7, Real(0))) << "a constant row has no direction";
    }
}

// A stream may grow beyond the root of the largest number, 1e19 in float, long before it overflows itself. Norms with
// an eps are then those without: rows that were zero would give a model that predicts every token alike.
TYPED_TEST(RowKernelsOf, RowsWhoseSquaresOrSumsOverflowKeepTheirDirectionBesideAnEps) {
    using Real = TypeParam;
    const double limit = static_cast<double>(std::numeric_limits<Real>::max());
    const double tolerance = 100 * static_cast<double>(std::numeric_limits<Real>::epsilon());
    const std::vector<double> row = {0.9, 0.7, -0.2, 0.8, 0.1, -0.4, 0.9};
    const std::vector<double> slope = {0.3, -1.2, 0.5, 0.1, 0.8, -0.9, 1.4};
    const std::size_t dim = row.size();
    for (const Isa isa : isas()) {
        const RowKernels<Real>& kernels = row_kernels<Real>(isa);
        for (const RowFunction function : every_norm()) {
            for (const double size : {std::sqrt(limit) / 10, 10 * std::sqrt(limit), limit / 100, limit / 2}) {
                std::vector<Real> in(dim);
                std::vector<Real> along(dim);
                for (std::size_t k = 0; k < dim; ++k) {
                    in[k] = static_cast<Real>(row[k] * size);
                    along[k] = static_cast<Real>(slope[k] * size);
                }
                RowMap<Real> map;
                map.function = function;
                map.eps = Real(1e-5);
                const Reference expected = bare_reference(function, row, slope, 0, 1, 0);
                std::vector<Real> out(dim);
                std::vector<Real> dual(dim);
                std::vector<Real> dual_slope(dim);
                std::vector<Real> grad_in(dim, Real{0});
                const std::vector<Real> grad(slope.begin(), slope.end());
                kernels.apply(map, 1, dim, in.data(), out.data());
                EXPECT_LT(largest_difference({out.begin(), out.end()}, expected.value), tolerance) << size << name(isa);
                if (size > limit / 10) {
                    continue;  // the slope itself overflows
                }
                kernels.apply_dual(map, 1, dim, in.data(), along.data(), dual.data(), dual_slope.data());
                kernels.apply_reverse(map, 1, dim, in.data(), grad.data(), grad_in.data(), {});
                EXPECT_LT(largest_difference({dual.begin(), dual.end()}, expected.value), tolerance) << size;
                EXPECT_LT(largest_difference({dual_slope.begin(), dual_slope.end()}, expected.slope), 10 * tolerance)
                    << size << name(isa);
                for (std::size_t k = 0; k < dim; ++k) {  // the Jacobian is symmetric
                    EXPECT_NEAR(static_cast<double>(grad_in[k]) * size, expected.slope[k], 10 * tolerance) << size;
                }
            }
        }
    }
}

// One layer of every built-in in float is the same layer in double, to rounding.
class PrecisionOf : public EveryScheme {};

TEST_P(PrecisionOf, FloatLayersFollowDoubleLayers) {
    const Program program = program_for_test(GetParam());
    const std::size_t n = 9;
    const std::size_t d = 21;
    const std::vector<double> start = random_rows(n, d, 12);
    State<double> wide = State<double>::start(program, n, d, start);
    State<float> narrow = State<float>::start(program, n, d, {start.begin(), start.end()});
    RowStep<double> wide_step(program, SubLayers::attention_and_ffn, n, d);
    RowStep<float> narrow_step(program, SubLayers::attention_and_ffn, n, d);
    for (std::size_t l = 1; l <= 4; ++l) {
        const Environment env = Environment::layer(l, 4, 0.5, n, d);
        wide_step.layer(env, wide, plain_sub_layers<double>(n, d, 1.0));
        narrow_step.layer(env, narrow, plain_sub_layers<float>(n, d, 1.0));
    }
    for (std::size_t s = 0; s < wide.streams.size(); ++s) {
        EXPECT_LT(largest_difference({narrow.streams[s].begin(), narrow.streams[s].end()}, wide.streams[s]), 3e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, PrecisionOf, ::testing::ValuesIn(catalogue()), test_name);

}  // namespace
}  // namespace flyball::scheme::test
