// Safetensors files made by hand, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/safetensors.hpp"

namespace flyball::test {

inline std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

inline std::string with_length(std::uint64_t length, const std::string& rest) {
    std::string file(8, '\0');
    std::memcpy(file.data(), &length, 8);
    return file + rest;
}

inline std::string file_of(const std::string& header, const std::string& data = "") {
    return with_length(header.size(), header + data);
}

inline void parse(const std::string& contents) {
    SafeTensors::parse(bytes_of(contents), "'x'");
}

inline std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace flyball::test
