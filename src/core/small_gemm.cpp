#include "core/small_gemm.hpp"

#include "core/unreachable.hpp"

namespace flyball {

const SmallGemm* small_gemm(Isa isa) {
    switch (isa) {
        case Isa::plain:
            return nullptr;
        case Isa::avx2:
            return small_gemm_avx2;
        case Isa::avx512:
            return small_gemm_avx512;
    }
    unreachable();
}

}  // namespace flyball
