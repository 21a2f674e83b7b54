#include "model/dropout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"

namespace flyball::model {

namespace {

constexpr std::size_t lanes = 4;  // numbers that one block of Philox serves

}  // namespace

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
    const Random random(seed_, stream_);
    const auto dropped = static_cast<std::uint64_t>(share_ * 0x1p32);  // patterns of 32 bits that mean 0
    const auto kept = static_cast<Real>(1 / (1 - share_));
    for (std::size_t k = 0; k < count;) {
        const std::size_t lane = (first + k) % lanes;
        const auto block = random.block((first + k) / lanes);
        const std::size_t end = std::min(count, k + lanes - lane);
        for (std::size_t j = lane; k < end; ++j, ++k) {
            out[k] = block[j] < dropped ? Real{0} : in[k] * kept;
        }
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
