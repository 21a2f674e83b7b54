// Memory of the kernels, aligned to cache lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace flyball::attention {

template <class Value>
struct CacheLineAllocator {
    using value_type = Value;
    static constexpr std::align_val_t alignment{64};

    CacheLineAllocator() = default;
    template <class Other>
    CacheLineAllocator(const CacheLineAllocator<Other>&) noexcept {}  // NOLINT: implicit, as allocators are

    Value* allocate(std::size_t count) { return static_cast<Value*>(::operator new(count * sizeof(Value), alignment)); }
    void deallocate(Value* memory, std::size_t) noexcept { ::operator delete(memory, alignment); }

    template <class Other>
    bool operator==(const CacheLineAllocator<Other>&) const noexcept {
        return true;
    }
};

template <class Real>
using Buffer = std::vector<Real, CacheLineAllocator<Real>>;

template <class... Buffers>
std::size_t bytes_of(const Buffers&... buffers) {
    return (std::size_t{0} + ... + (buffers.size() * sizeof(typename Buffers::value_type)));
}

inline std::size_t round_up(std::size_t size, std::size_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

}  // namespace flyball::attention
