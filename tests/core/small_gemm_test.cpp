// Small products beside their definition in double: every transposition, start and awkward size.
#include "core/small_gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/random.hpp"

namespace flyball {
namespace {

std::vector<Isa> isas() {
    std::vector<Isa> found;
    for (const Isa isa : {Isa::avx2, Isa::avx512}) {
        if (detect_isa() >= isa) {
            found.push_back(isa);
        }
    }
    return found;
}

std::vector<float> random(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(2 * Random(seed).uniform(i) - 1);
    }
    return values;
}

enum class Begin { zero, row, add };

void expect_product(Isa isa, bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, Begin begin,
                    std::size_t more) {
    const std::size_t lda = (ta ? m : k) + more;
    const std::size_t ldb = (tb ? k : n) + more;
    const std::size_t ldc = n + more;
    const std::vector<float> a = random((ta ? k : m) * lda + 1, 1);
    const std::vector<float> b = random((tb ? n : k) * ldb + 1, 2);
    const std::vector<float> row = random(n + 1, 3);
    const std::vector<float> before = random(m * ldc + 1, 4);
    std::vector<float> c = before;
    const auto transposed = [](bool t) { return t ? Transpose::yes : Transpose::no; };
    small_gemm(isa)->multiply({transposed(ta), transposed(tb), m, n, k, 0.75F, a.data(), lda, b.data(), ldb,
                               begin == Begin::row ? row.data() : nullptr, begin == Begin::add, c.data(), ldc});
    const double bound = 4e-7 * (2 + std::sqrt(static_cast<double>(k)) * 4);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < ldc; ++j) {
            const std::size_t at = i * ldc + j;
            if (j >= n) {
                ASSERT_EQ(c[at], before[at]) << "beside the result";
                continue;
            }
            double sum = 0;
            for (std::size_t p = 0; p < k; ++p) {
                sum += static_cast<double>(ta ? a[p * lda + i] : a[i * lda + p]) *
                       static_cast<double>(tb ? b[j * ldb + p] : b[p * ldb + j]);
            }
            const double start = begin == Begin::zero  ? 0.0
                                 : begin == Begin::row ? static_cast<double>(row[j])
                                                       : static_cast<double>(before[at]);
            ASSERT_NEAR(static_cast<double>(c[at]), start + 0.75 * sum, bound)
                << name(isa) << ' ' << ta << tb << ' ' << m << 'x' << n << 'x' << k << " at " << i << ' ' << j;
        }
    }
}

TEST(SmallGemm, FollowsTheDefinitionAtAwkwardSizes) {
    const std::size_t sizes[][3] = {{1, 1, 1},     {7, 31, 5},   {8, 32, 16},   {9, 33, 17},
                                    {64, 32, 128}, {65, 96, 40}, {130, 64, 70}, {140, 400, 30},
                                    {33, 48, 300}, {6, 16, 513}, {553, 40, 19}, {530, 33, 6}};
    for (const Isa isa : isas()) {
        for (const auto& [m, n, k] : sizes) {
            for (const bool ta : {false, true}) {
                for (const bool tb : {false, true}) {
                    for (const Begin begin : {Begin::zero, Begin::row, Begin::add}) {
                        expect_product(isa, ta, tb, m, n, k, begin, 0);
                    }
                    expect_product(isa, ta, tb, m, n, k, Begin::add, 3);
                    expect_product(isa, ta, tb, m, n, k, Begin::row, 600);  // rows far apart: A is packed
                }
            }
        }
    }
}

TEST(SmallGemm, APackedOperandGivesTheSameBitsFromAnyPanelOn) {
    const std::size_t sizes[][3] = {{1, 1, 1}, {9, 33, 17}, {65, 96, 40}, {33, 200, 700}, {300, 64, 64}};
    for (const Isa isa : isas()) {
        const SmallGemm& kernels = *small_gemm(isa);
        for (const auto& [m, n, k] : sizes) {
            for (const bool tb : {false, true}) {
                const std::size_t ldb = (tb ? k : n) + 2;
                const std::vector<float> a = random(m * k, 1);
                const std::vector<float> b = random((tb ? n : k) * ldb, 2);
                const std::vector<float> row = random(n, 3);
                std::vector<float> whole(m * n);
                const Transpose transposed = tb ? Transpose::yes : Transpose::no;
                kernels.multiply({Transpose::no, transposed, m, n, k, 1.0F, a.data(), k, b.data(), ldb, row.data(),
                                  false, whole.data(), n});
                std::vector<float> panels(kernels.packed_size(n, k), std::numeric_limits<float>::quiet_NaN());
                kernels.pack(transposed, n, k, b.data(), ldb, panels.data());
                for (std::size_t first = 0; first < n; first += kernels.panel_columns) {
                    std::vector<float> part(m * n, 7.0F);
                    SmallProduct x;
                    x.m = m;
                    x.n = n - first;
                    x.k = k;
                    x.a = a.data();
                    x.lda = k;
                    x.start = row.data() + first;
                    x.c = part.data() + first;
                    x.ldc = n;
                    kernels.multiply_packed(x, {panels.data(), n, first});
                    for (std::size_t i = 0; i < m * n; ++i) {
                        ASSERT_EQ(part[i], i % n < first ? 7.0F : whole[i])
                            << name(isa) << ' ' << m << 'x' << n << 'x' << k << " from " << first << " at " << i;
                    }
                }
            }
        }
    }
}

TEST(SmallGemm, WhatIsWantedSoonChangesNothing) {
    for (const Isa isa : isas()) {
        const std::size_t m = 40;
        const std::size_t n = 64;
        const std::size_t k = 130;
        const std::vector<float> a = random(m * k, 1);
        const std::vector<float> b = random(k * n, 2);
        const std::vector<float> other = random(m * n, 3);
        std::vector<float> panels(small_gemm(isa)->packed_size(n, k));
        small_gemm(isa)->pack(Transpose::no, n, k, b.data(), n, panels.data());
        std::vector<float> results[2] = {std::vector<float>(m * n), std::vector<float>(m * n)};
        for (const bool soon : {false, true}) {
            SmallProduct x;
            x.m = m;
            x.n = n;
            x.k = k;
            x.a = a.data();
            x.lda = k;
            x.c = results[soon ? 1 : 0].data();
            x.ldc = n;
            x.soon[0] = soon ? other.data() : nullptr;
            x.soon[1] = soon ? a.data() : nullptr;
            small_gemm(isa)->multiply_packed(x, {panels.data(), n, 0});
        }
        EXPECT_EQ(results[0], results[1]);
        EXPECT_EQ(other, random(m * n, 3));
    }
}

TEST(SmallGemm, AnInnerLengthOfZeroLeavesTheStart) {
    for (const Isa isa : isas()) {
        std::vector<float> c(6, 5.0F);
        const std::vector<float> row = {1, 2, 3};
        small_gemm(isa)->multiply({Transpose::no, Transpose::no, 2, 3, 0, 1.0F, row.data(), 0, row.data(), 3,
                                   row.data(), false, c.data(), 3});
        EXPECT_EQ(c, (std::vector<float>{1, 2, 3, 1, 2, 3}));
        small_gemm(isa)->multiply(
            {Transpose::no, Transpose::no, 0, 3, 1, 1.0F, row.data(), 1, row.data(), 3, nullptr, false, c.data(), 3});
        EXPECT_EQ(c, (std::vector<float>{1, 2, 3, 1, 2, 3}));
    }
}

TEST(SmallGemm, NotANumberReachesItsRowAndNoOther) {
    for (const Isa isa : isas()) {
        std::vector<float> a(4 * 3, 1.0F);
        a[1 * 3 + 2] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> b(3 * 5, 0.0F);
        std::vector<float> c(4 * 5, 9.0F);
        small_gemm(isa)->multiply(
            {Transpose::no, Transpose::no, 4, 5, 3, 1.0F, a.data(), 3, b.data(), 5, nullptr, false, c.data(), 5});
        for (std::size_t i = 0; i < c.size(); ++i) {
            EXPECT_EQ(std::isnan(c[i]), i / 5 == 1) << i;
        }
    }
}

TEST(SmallGemm, PlainCpusHaveNone) {
    EXPECT_EQ(small_gemm(Isa::plain), nullptr);
}

}  // namespace
}  // namespace flyball
