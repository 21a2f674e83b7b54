// The header of a safetensors file: text to checked entries. Used by core's own sources only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/safetensors.hpp"

namespace flyball {

struct HeaderEntry {
    Dtype dtype = Dtype::f32;
    std::vector<std::size_t> shape;
    std::uint64_t begin = 0;  // in the data part
    std::uint64_t end = 0;
};

struct Header {
    std::map<std::string, HeaderEntry> entries;
    TensorMetadata metadata;
};

std::optional<Dtype> parse_dtype(std::string_view text);

// The bytes of a tensor of this shape; nullopt when the number does not fit.
std::optional<std::uint64_t> byte_count(Dtype dtype, const std::vector<std::size_t>& shape);

// Everything that can be said without the data is checked: fields, sizes, and that the entries fill [0, data_size)
// without overlap and hole.
Header parse_header(std::string_view text, std::string_view what, std::uint64_t data_size);

}  // namespace flyball
