// Memory in large pages. A pass through a hundred megabytes of weights looks up an address for every 4 kB of them, and
// in a virtual machine each look-up is a walk through two tables; with pages of 2 MB there are 512 times fewer. Linux
// gives them to who asks, at the first touch (docs/decisions/0026-small-products.md has the measurement).
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace flyball {

// Room for `count` numbers in an empty vector, untouched so far, in large pages where the system has them. It is a
// wish: nothing depends on it but time.
template <class T, class Allocator>
void reserve_in_huge_pages(std::vector<T, Allocator>& vector, std::size_t count) {
    constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
    vector.reserve(count);
    const auto begin = reinterpret_cast<std::uintptr_t>(vector.data());
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = (begin + count * sizeof(T)) / page * page;
    if (first < last) {
        madvise(reinterpret_cast<char*>(vector.data()) + (first - begin), last - first, MADV_HUGEPAGE);
    }
}

}  // namespace flyball
