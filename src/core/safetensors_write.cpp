#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "core/safetensors_header.hpp"

namespace flyball {

namespace {

constexpr std::string_view where_written = "core.write_safetensors";

template <class Value>
TensorToWrite make(Dtype dtype, std::string name, std::vector<std::size_t> shape, std::span<const Value> values) {
    return {std::move(name), dtype, std::move(shape), std::as_bytes(values)};
}

std::string json_text(const std::string& text) {
    try {
        return Json(text).dump();
    } catch (const Json::exception&) {
        throw Error(ErrorKind::input, where_written, "a name or a metadata text that is not UTF-8", "UTF-8");
    }
}

void check(const TensorToWrite& tensor) {
    const auto bytes = byte_count(tensor.dtype, tensor.shape);
    if (!bytes || *bytes != tensor.bytes.size()) {
        throw Error(ErrorKind::input, where_written,
                    fmt::format("{} bytes for tensor {}", tensor.bytes.size(), flyball::quoted(tensor.name)),
                    bytes ? fmt::format("{} for its shape and dtype", *bytes) : "a shape whose size fits");
    }
    if (tensor.name == "__metadata__") {
        throw Error(ErrorKind::input, where_written, "a tensor named __metadata__", "another name");
    }
}

std::string header_of(std::span<const TensorToWrite* const> tensors, const TensorMetadata& metadata) {
    std::string text = "{";
    if (!metadata.empty()) {
        std::string pairs;
        for (const auto& [key, value] : metadata) {
            pairs += fmt::format("{}{}:{}", pairs.empty() ? "" : ",", json_text(key), json_text(value));
        }
        text += fmt::format("\"__metadata__\":{{{}}}", pairs);
    }
    std::uint64_t offset = 0;
    for (const TensorToWrite* const tensor : tensors) {
        text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                            text.size() == 1 ? "" : ",", json_text(tensor->name), name(tensor->dtype),
                            fmt::join(tensor->shape, ","), offset, offset + tensor->bytes.size());
        offset += tensor->bytes.size();
    }
    text += "}";
    text.append((8 - text.size() % 8) % 8, ' ');  // the data start aligned
    return text;
}

}  // namespace

TensorToWrite tensor(std::string name, std::vector<std::size_t> shape, std::span<const float> values) {
    return make(Dtype::f32, std::move(name), std::move(shape), values);
}

TensorToWrite tensor(std::string name, std::vector<std::size_t> shape, std::span<const double> values) {
    return make(Dtype::f64, std::move(name), std::move(shape), values);
}

TensorToWrite tensor(std::string name, std::vector<std::size_t> shape, std::span<const std::int64_t> values) {
    return make(Dtype::i64, std::move(name), std::move(shape), values);
}

void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const TensorMetadata& metadata) {
    std::vector<const TensorToWrite*> order;
    order.reserve(tensors.size());
    for (const TensorToWrite& tensor : tensors) {
        check(tensor);
        order.push_back(&tensor);
    }
    const auto by_name = [](const auto* a, const auto* b) { return a->name < b->name; };
    std::sort(order.begin(), order.end(), by_name);
    const auto twice =
        std::adjacent_find(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->name == b->name; });
    if (twice != order.end()) {
        throw Error(ErrorKind::input, where_written,
                    fmt::format("the tensor {} twice", flyball::quoted((*twice)->name)), "every name once");
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return size_of(a->dtype) > size_of(b->dtype); });
    const std::string header = header_of(order, metadata);
    const std::uint64_t length = header.size();
    std::array<std::byte, sizeof length> prefix{};
    std::memcpy(prefix.data(), &length, sizeof length);
    AtomicFile file(path);
    file.write(prefix);
    file.write(header);
    for (const TensorToWrite* const tensor : order) {
        file.write(tensor->bytes);
    }
    file.commit();
}

}  // namespace flyball
