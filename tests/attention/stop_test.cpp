// Tiles of many tokens take seconds: the inner loops look at the flag that stops them, not only whoever calls them.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "attention/tile_kernels.hpp"
#include "core/parallel.hpp"

namespace flyball::attention::stop_test {
namespace {

template <class Real>
class StoppedTiles : public ::testing::Test {};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(StoppedTiles, Precisions);

// All three pairs of two blocks of tokens that are 0: every weight is 2^0.
template <class Real>
struct TwoBlocks {
    static constexpr std::size_t block = token_padding<Real>;
    static constexpr std::size_t padded = 2 * block;
    static constexpr std::size_t columns = micro_columns<Real>;  // and as many dimensions: one panel

    std::vector<Real> rows = std::vector<Real>(padded * columns);
    std::vector<Real> strips = rows;
    std::vector<Real> panels = rows;
    std::vector<Real> offsets = std::vector<Real>(padded);
    std::vector<Real> sums = rows;
    std::vector<Real> row_weights = std::vector<Real>(padded * (columns / 2));
    std::vector<Real> column_weights = std::vector<Real>(padded);
    std::vector<Real> weights = std::vector<Real>(block * (block + columns));

    FusedTiles<Real> job() {
        return {{rows.data(), strips.data(), panels.data()},
                offsets.data(),
                sums.data(),
                row_weights.data(),
                column_weights.data(),
                weights.data(),
                padded,
                padded,
                columns,
                block,
                0,
                3};
    }
    Real weighed() const {  // pairs i, j that a row or a column has been told of
        Real sum = 0;
        for (const Real weight : row_weights) {
            sum += weight;
        }
        for (const Real weight : column_weights) {
            sum += weight;
        }
        return sum;
    }
};

TYPED_TEST(StoppedTiles, OfAFlagThatIsSetWeighNoPairOfBlocks) {
    for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
        if (isa > detect_isa()) {
            continue;
        }
        std::atomic<bool> flag{true};
        const StopOn stop(&flag);
        TwoBlocks<TypeParam> blocks;
        EXPECT_THROW(tile_kernels<TypeParam>(isa).fused_tiles(blocks.job()), Stopped) << name(isa);
        EXPECT_EQ(blocks.weighed(), 0) << name(isa);
        flag = false;
        EXPECT_NO_THROW(tile_kernels<TypeParam>(isa).fused_tiles(blocks.job())) << name(isa);
        const auto tokens = static_cast<TypeParam>(blocks.padded);
        EXPECT_EQ(blocks.weighed(), tokens * tokens) << name(isa) << ": every token weighs every other";
    }
}

}  // namespace
}  // namespace flyball::attention::stop_test
