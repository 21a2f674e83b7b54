// The vector exponential against the C library's, which is exact to half a unit in the last place.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/tile_kernels.hpp"

namespace flyball::attention {

namespace {

template <class Real>
void check(Isa isa, double from, double to, double tolerance) {
    constexpr int count = 200003;
    std::vector<Real> x;
    for (int i = 0; i < count; ++i) {
        x.push_back(static_cast<Real>(from + (to - from) * i / count));
    }
    std::vector<Real> y = x;
    tile_kernels<Real>(isa).exp_all(y.size(), y.data());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const long double right = std::exp(static_cast<long double>(x[i]));
        worst = std::max(worst, static_cast<double>(std::fabs(y[i] - right) / right));
    }
    EXPECT_LE(worst, tolerance) << from << " .. " << to << " " << name(isa);
}

std::vector<Isa> isas() {
    return detect_isa() != Isa::plain ? std::vector<Isa>{Isa::plain, Isa::avx2} : std::vector<Isa>{Isa::plain};
}

TEST(Exponential, IsExactTo1e15InDouble) {
    for (const Isa isa : isas()) {
        check<double>(isa, -708, 709, 1e-15);
        check<double>(isa, -1, 1, 1e-15);
    }
}

TEST(Exponential, IsExactTo2e7InFloat) {
    for (const Isa isa : isas()) {
        check<float>(isa, -87, 88, 2e-7);
        check<float>(isa, -1, 1, 2e-7);
    }
}

template <class Real>
void check_ends(Isa isa) {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    std::vector<Real> x = {-infinity, -1000, -1e30F, 0, infinity, 1000, -0.0F};
    tile_kernels<Real>(isa).exp_all(x.size(), x.data());
    EXPECT_EQ(x, (std::vector<Real>{0, 0, 0, 1, infinity, infinity, 1}));
    std::vector<Real> nan = {std::numeric_limits<Real>::quiet_NaN()};
    tile_kernels<Real>(isa).exp_all(1, nan.data());
    EXPECT_FALSE(nan[0] > 0 && nan[0] < infinity);
}

TEST(Exponential, IsZeroFarBelowAndInfiniteFarAbove) {
    for (const Isa isa : isas()) {
        check_ends<double>(isa);
        check_ends<float>(isa);
    }
}

}  // namespace

}  // namespace flyball::attention
