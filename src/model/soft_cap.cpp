#include "model/soft_cap.hpp"

#include <algorithm>

#include "scheme/row_kernels.hpp"

namespace flyball::model {

template <class Real>
void soft_cap(std::size_t count, Real cap, Real* row) {
    constexpr std::size_t strip = 256;  // numbers on the stack: the kernel does not work in place
    const scheme::RowKernels<Real>& kernels = scheme::row_kernels<Real>();
    scheme::RowMap<Real> map;
    map.function = scheme::RowFunction::tanh;
    Real before[strip];
    for (std::size_t first = 0; first < count; first += strip) {
        const std::size_t size = std::min(strip, count - first);
        Real* const part = row + first;
        std::copy_n(part, size, before);
        kernels.apply(map, 1, size, before, part);
        for (std::size_t k = 0; k < size; ++k) {
            part[k] *= cap;
        }
    }
}

template <class Real>
void soft_cap_slope(std::size_t count, Real cap, const Real* capped, Real* out) {
    for (std::size_t k = 0; k < count; ++k) {
        const Real t = capped[k] / cap;
        out[k] = 1 - t * t;
    }
}

template void soft_cap(std::size_t, float, float*);
template void soft_cap(std::size_t, double, double*);
template void soft_cap_slope(std::size_t, float, const float*, float*);
template void soft_cap_slope(std::size_t, double, const double*, double*);

}  // namespace flyball::model
