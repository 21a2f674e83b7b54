// The one place that picks among the variants of a table of kernels, one for each instruction set.
//
// A table is a struct of function pointers, filled by NAME_plain.cpp, NAME_avx2.cpp and, where it pays,
// NAME_avx512.cpp from the same NAME_body.inl. Where a variant's file is compiled without its instructions (other
// architectures than x86-64), its table is the plain one.
#pragma once

#include "core/isa.hpp"
#include "core/unreachable.hpp"

namespace flyball {

template <class Table>
struct IsaVariants {
    const Table& plain;
    const Table& avx2;
    const Table& avx512 = avx2;

    const Table& operator[](Isa isa) const {
        switch (isa) {
            case Isa::plain:
                return plain;
            case Isa::avx2:
                return avx2;
            case Isa::avx512:
                return avx512;
        }
        unreachable();
    }
};

}  // namespace flyball
