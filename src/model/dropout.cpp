#include "model/dropout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/error.hpp"
#include "core/isa_variants.hpp"
#include "core/parallel.hpp"
#include "model/dropout_kernels.hpp"

namespace flyball::model {

namespace {

constexpr std::size_t lanes = 4;  // numbers that one block of Philox serves

}  // namespace

const DropoutKernels& dropout_kernels(Isa isa) {
    return IsaVariants<DropoutKernels>{dropout_kernels_plain, dropout_kernels_avx2}[isa];
}

void check(const Dropout& dropout) {
    if (!(dropout.share >= 0 && dropout.share < 1)) {
        throw Error(ErrorKind::usage, "model.dropout", setting("dropout", fmt::format("{}", dropout.share)),
                    "a share from 0 to below 1");
    }
}

DropoutMask::DropoutMask(const Dropout& dropout, Place place, std::size_t layer, std::size_t call)
    : share_(dropout.share),
      seed_(dropout.seed),
      stream_((std::uint64_t{layer} << 32) | (std::uint64_t{call} << 8) | static_cast<std::uint64_t>(place)) {}

template <class Real>
void DropoutMask::apply(std::uint64_t first, std::size_t count, const Real* in, Real* out) const {
    if (!any()) {
        if (out != in) {
            std::copy_n(in, count, out);
        }
        return;
    }
    first += first_;
    const DropoutKernels& kernels = dropout_kernels(active_isa());
    const auto dropped = static_cast<std::uint32_t>(share_ * 0x1p32);  // patterns of 32 bits that mean 0
    const auto kept = static_cast<Real>(1 / (1 - share_));
    constexpr std::size_t most_blocks = 4 * dropout_blocks;
    std::array<std::uint32_t, lanes * most_blocks> bits;
    for (std::size_t k = 0; k < count;) {
        const std::size_t lane = (first + k) % lanes;
        const std::size_t numbers = std::min(count - k, bits.size() - lane);
        const std::size_t groups = (lane + numbers + lanes * dropout_blocks - 1) / (lanes * dropout_blocks);
        kernels.bits(seed_, stream_, (first + k) / lanes, groups * dropout_blocks, bits.data());
        const std::uint32_t* const own = bits.data() + lane;
        if constexpr (std::is_same_v<Real, float>) {
            kernels.keep_float(numbers, own, dropped, kept, in + k, out + k);
        } else {
            kernels.keep_double(numbers, own, dropped, kept, in + k, out + k);
        }
        k += numbers;
    }
}

template <class Real>
void DropoutMask::apply_all(std::size_t count, const Real* in, Real* out) const {
    constexpr std::size_t piece = 4096;
    const std::size_t pieces = (count + piece - 1) / piece;
    parallel_slots(pieces, pieces, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            const std::size_t at = p * piece;
            apply(at, std::min(piece, count - at), in + at, out + at);
        }
    });
}

template void DropoutMask::apply(std::uint64_t, std::size_t, const float*, float*) const;
template void DropoutMask::apply(std::uint64_t, std::size_t, const double*, double*) const;
template void DropoutMask::apply_all(std::size_t, const float*, float*) const;
template void DropoutMask::apply_all(std::size_t, const double*, double*) const;

}  // namespace flyball::model
