// A picture of Cairo as the bytes of a PNG. Cairo writes PNG too, and tries five filters on every row; figures are flat
// colours, which pack better and five times as fast without any (decision 44).
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace flyball::report {

// Rows of 32-bit pixels, alpha in the highest byte, then red, green and blue, premultiplied (CAIRO_FORMAT_ARGB32).
struct Pixels {
    const unsigned char* data = nullptr;
    std::size_t width = 0, height = 0;
    std::size_t stride = 0;  // bytes from one row to the next
};

// zlib, which the caller has opened.
struct Zlib {
    decltype(&compress2) pack = nullptr;
    decltype(&compressBound) bound = nullptr;
    decltype(&crc32) check = nullptr;
};

// On white paper, three bytes a pixel. Empty where zlib fails for want of memory.
std::string png_bytes(const Pixels& pixels, const Zlib& zlib);

}  // namespace flyball::report
