#include "core/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/half.hpp"
#include "core/safetensors_header.hpp"
#include "core/suggest.hpp"

namespace flyball {

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read without swapping bytes");

constexpr std::string_view where_read = "core.safetensors";
constexpr std::uint64_t largest_header = 100'000'000;  // the cap of the reference implementation

struct DtypeRow {
    const char* name;
    std::size_t size;
};

constexpr std::array<DtypeRow, 13> dtypes = {{{"F64", 8},
                                              {"F32", 4},
                                              {"F16", 2},
                                              {"BF16", 2},
                                              {"I64", 8},
                                              {"I32", 4},
                                              {"I16", 2},
                                              {"I8", 1},
                                              {"U64", 8},
                                              {"U32", 4},
                                              {"U16", 2},
                                              {"U8", 1},
                                              {"BOOL", 1}}};

template <class Stored, class Real, class Convert>
void convert(std::span<const std::byte> bytes, std::span<Real> out, Convert value_of) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        Stored stored;
        std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
        out[i] = static_cast<Real>(value_of(stored));
    }
}

template <class Stored, class Real>
void convert(std::span<const std::byte> bytes, std::span<Real> out) {
    if constexpr (std::is_same_v<Stored, Real>) {
        if (!bytes.empty()) {
            std::memcpy(out.data(), bytes.data(), bytes.size());
        }
    } else {
        convert<Stored>(bytes, out, [](Stored stored) { return stored; });
    }
}

template <class Real>
void convert(const TensorInfo& tensor, std::span<Real> out) {
    switch (tensor.dtype) {
        case Dtype::f64:
            return convert<double>(tensor.bytes, out);
        case Dtype::f32:
            return convert<float>(tensor.bytes, out);
        case Dtype::f16:
            return convert<std::uint16_t>(tensor.bytes, out, f16_to_float);
        case Dtype::bf16:
            return convert<std::uint16_t>(tensor.bytes, out, bf16_to_float);
        case Dtype::i64:
            return convert<std::int64_t>(tensor.bytes, out);
        case Dtype::i32:
            return convert<std::int32_t>(tensor.bytes, out);
        case Dtype::i16:
            return convert<std::int16_t>(tensor.bytes, out);
        case Dtype::i8:
            return convert<std::int8_t>(tensor.bytes, out);
        case Dtype::u64:
            return convert<std::uint64_t>(tensor.bytes, out);
        case Dtype::u32:
            return convert<std::uint32_t>(tensor.bytes, out);
        case Dtype::u16:
            return convert<std::uint16_t>(tensor.bytes, out);
        case Dtype::u8:
            return convert<std::uint8_t>(tensor.bytes, out);
        case Dtype::boolean:
            return convert<std::uint8_t>(tensor.bytes, out, [](std::uint8_t stored) { return stored != 0 ? 1 : 0; });
    }
}

void check_size(const TensorInfo& tensor, std::string_view name, const std::string& what, std::size_t expected) {
    if (tensor.elements() != expected) {
        throw Error(ErrorKind::input, where_read,
                    fmt::format("{} elements of tensor {} in {}", tensor.elements(), flyball::quoted(name), what),
                    fmt::format("{}", expected));
    }
}

}  // namespace

const char* name(Dtype dtype) noexcept {
    return dtypes[static_cast<std::size_t>(dtype)].name;
}

std::size_t size_of(Dtype dtype) noexcept {
    return dtypes[static_cast<std::size_t>(dtype)].size;
}

bool is_floating(Dtype dtype) noexcept {
    return dtype == Dtype::f64 || dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

std::optional<Dtype> parse_dtype(std::string_view text) {
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
        if (text == dtypes[i].name) {
            return static_cast<Dtype>(i);
        }
    }
    return std::nullopt;
}

SafeTensors SafeTensors::parse(std::span<const std::byte> contents, std::string_view what) {
    if (contents.size() < 8) {
        throw Error(ErrorKind::input, where_read, fmt::format("{} of {} bytes", what, contents.size()),
                    "a safetensors file, which has at least 8", "download the file again");
    }
    std::uint64_t length = 0;
    std::memcpy(&length, contents.data(), sizeof length);
    const std::size_t rest = contents.size() - sizeof length;
    if (length > largest_header || length > rest) {
        throw Error(
            ErrorKind::input, where_read, fmt::format("a header of {} bytes in {}", length, what),
            fmt::format("at most {}", std::min<std::uint64_t>(largest_header, rest)),
            length > largest_header ? "this is not a safetensors file" : "the file is cut short: download it again");
    }
    const std::string_view text(reinterpret_cast<const char*>(contents.data()) + sizeof length, length);
    if (!text.starts_with('{')) {
        throw Error(ErrorKind::input, where_read, fmt::format("a header of {} that starts otherwise", what), "'{'");
    }
    const std::span<const std::byte> data = contents.subspan(sizeof length + length);
    Header header = parse_header(text, what, data.size());
    SafeTensors result;
    result.what_ = what;
    result.metadata_ = std::move(header.metadata);
    while (!header.entries.empty()) {
        auto node = header.entries.extract(header.entries.begin());
        HeaderEntry& entry = node.mapped();
        const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
        result.tensors_.emplace_hint(result.tensors_.end(), std::move(node.key()),
                                     TensorInfo{entry.dtype, std::move(entry.shape), bytes});
    }
    return result;
}

SafeTensors SafeTensors::open(const std::filesystem::path& path) {
    MappedFile file(path);
    SafeTensors result = parse(file.bytes(), flyball::quoted(path.string()));
    result.files_.push_back(std::move(file));
    return result;
}

std::vector<std::string> SafeTensors::names() const {
    std::vector<std::string> all;
    all.reserve(tensors_.size());
    for (const auto& [name, info] : tensors_) {
        all.push_back(name);
    }
    return all;
}

bool SafeTensors::contains(std::string_view name) const {
    return tensors_.contains(name);
}

const TensorInfo& SafeTensors::info(std::string_view name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
        const std::vector<std::string> all = names();
        const std::string close = nearest(name, all);
        throw Error(ErrorKind::input, where_read, fmt::format("no tensor {} in {}", flyball::quoted(name), what_),
                    fmt::format("one of its {} tensors", all.size()),
                    close.empty() ? "" : fmt::format("did you mean {}?", flyball::quoted(close)));
    }
    return found->second;
}

template <class Real>
void SafeTensors::copy_to(std::string_view name, std::span<Real> out) const {
    const TensorInfo& tensor = info(name);
    check_size(tensor, name, what_, out.size());
    convert(tensor, out);
}

template <class Real>
void SafeTensors::take_to(std::string_view name, std::span<Real> out) const {
    const TensorInfo& tensor = info(name);
    check_size(tensor, name, what_, out.size());
    constexpr std::size_t piece = std::size_t{1} << 21U;  // elements
    const std::size_t width = size_of(tensor.dtype);
    for (std::size_t begin = 0; begin < out.size(); begin += piece) {
        const std::size_t count = std::min(piece, out.size() - begin);
        const TensorInfo part{tensor.dtype, {count}, tensor.bytes.subspan(begin * width, count * width)};
        convert(part, out.subspan(begin, count));
        let_go_of(part.bytes);
    }
}

void SafeTensors::let_go(std::string_view name) const {
    let_go_of(info(name).bytes);
}

void SafeTensors::let_go_of(std::span<const std::byte> part) const noexcept {
    for (const MappedFile& file : files_) {
        const std::span<const std::byte> all = file.bytes();
        if (part.data() >= all.data() && part.data() + part.size() <= all.data() + all.size()) {
            file.let_go(part);
        }
    }
}

template <class Real>
std::vector<Real> SafeTensors::read(std::string_view name) const {
    std::vector<Real> values(info(name).elements());
    copy_to(name, std::span<Real>(values));
    return values;
}

template std::vector<float> SafeTensors::read(std::string_view) const;
template std::vector<double> SafeTensors::read(std::string_view) const;
template void SafeTensors::copy_to(std::string_view, std::span<float>) const;
template void SafeTensors::copy_to(std::string_view, std::span<double>) const;
template void SafeTensors::take_to(std::string_view, std::span<float>) const;
template void SafeTensors::take_to(std::string_view, std::span<double>) const;

}  // namespace flyball
