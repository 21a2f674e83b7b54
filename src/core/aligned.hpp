// Vectors of numbers that begin at a line of the cache. std::vector alone begins 16 bytes into one where it is large:
// then every other 32-byte access, and every 64-byte access, touches two lines, which a product whose operands are in
// the first-level cache feels as a sixth of its time (docs/decisions/0026-small-products.md).
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace flyball {

template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    LineAllocator() = default;
    template <class Other>
    LineAllocator(const LineAllocator<Other>&) {}

    T* allocate(std::size_t count) {
        if (count > static_cast<std::size_t>(-1) / sizeof(T)) {
            throw std::bad_array_new_length();
        }
        return static_cast<T*>(::operator new(count * sizeof(T), alignment));
    }
    void deallocate(T* values, std::size_t) { ::operator delete(values, alignment); }

    template <class Other>
    bool operator==(const LineAllocator<Other>&) const {
        return true;
    }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace flyball
