// Every row of the table of normalisers against the formula of its paper, on one row whose numbers were computed with
// numpy in double precision from that formula:
//
//     x = [1.2, -0.7, 0.4, 2.5, -1.9]   gain = [1.1, 0.9, -0.5, 2.0, 0.3]   bias = [0.1, -0.2, 0.3, 0.0, 0.5]
//     unit       x/sqrt(sum(x**2))
//     layernorm  gain*(x - x.mean())/sqrt(x.var() + 1e-5) + bias
//     rmsnorm    gain*x/sqrt((x**2).mean() + 1e-6)
//     dyt        gain*tanh(0.5*x) + bias
//     derf       gain*erf(0.5*x + 0.25) + bias
#include "scheme/normaliser.hpp"

#include <map>
#include <string>

#include "scheme/row_kernels.hpp"
#include "support.hpp"

namespace flyball::scheme::test {
namespace {

const std::map<std::string, std::vector<double>>& typed_rows() {
    static const std::map<std::string, std::vector<double>> rows = {
        {"unit",
         {0.347134112484223, -0.2024948989491301, 0.11571137082807435, 0.7231960676754646, -0.5496290114333531}},
        {"layernorm",
         {0.7527852495650029, -0.7934411359681846, 0.2670310480017675, 2.901267775844458, 0.06480983362333137}},
        {"rmsnorm",
         {0.8538368414792237, -0.40751303797872035, -0.12936921840594298, 3.234230460148574, -0.36870227245693743}},
        {"dyt", {0.6907545236978387, -0.502737989902699, 0.201312339887548, 1.6965672799150258, 0.2780650846177988}},
        {"derf",
         {0.9477348633691879, -0.3012166244164564, 0.06225914010653816, 1.9322102929506215, 0.29665964184877447}},
    };
    return rows;
}

TEST(Normalisers, EachIsTheFormulaOfItsPaper) {
    const std::vector<double> x = {1.2, -0.7, 0.4, 2.5, -1.9};
    const std::vector<double> gain = {1.1, 0.9, -0.5, 2.0, 0.3};
    const std::vector<double> bias = {0.1, -0.2, 0.3, 0.0, 0.5};
    for (const Normaliser& row : normalisers()) {
        const auto expected = typed_rows().find(std::string(row.name));
        ASSERT_NE(expected, typed_rows().end()) << row.name << " has no typed row: compute one from its paper";
        RowMap<double> map;
        map.function = row.function;
        map.eps = row.eps;
        map.alpha = row.alpha;
        map.shift = row.shift ? 0.25 : 0;
        map.gain = row.gain ? gain.data() : nullptr;
        map.bias = row.bias ? bias.data() : nullptr;
        std::vector<double> out(x.size());
        row_kernels<double>().apply(map, 1, x.size(), x.data(), out.data());
        EXPECT_LT(largest_difference(out, expected->second), 1e-14) << row.name;
    }
    EXPECT_EQ(typed_rows().size(), normalisers().size());
}

// Typed once more: what each function sees of a row. No default, so that a new one is decided here too.
enum class Sees { length, coordinates, numbers };
Sees seen_by(RowFunction function) {
    switch (function) {
        case RowFunction::sphere:
        case RowFunction::rms:
            return Sees::length;
        case RowFunction::centred:
            return Sees::coordinates;
        case RowFunction::tanh:
        case RowFunction::erf:
            return Sees::numbers;
    }
    return Sees::numbers;
}

TEST(Normalisers, KeepThePlaneWhereTheySeeTheLengthAloneAndAreSmoothWhereTheySeeNumbersAlone) {
    for (const Normaliser& row : normalisers()) {
        EXPECT_EQ(keeps_plane(row.function), seen_by(row.function) == Sees::length) << row.name;
        EXPECT_EQ(smooth_at_zero(row.function), seen_by(row.function) == Sees::numbers) << row.name;
    }
}

}  // namespace
}  // namespace flyball::scheme::test
