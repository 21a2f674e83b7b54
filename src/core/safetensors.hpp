// Tensors in files: the safetensors format (github.com/huggingface/safetensors), and checkpoints made of such files.
//
//     8 bytes: length of the header | header: JSON {name: {dtype, shape, data_offsets}} | the data, without holes
//
// Files come from strangers. Promises: nothing is allocated before the header's length has been checked against the
// file and a cap of 100 MB; exactly the documented header is accepted (dtypes, depth, duplicates, products, bounds,
// no overlap, no hole, nothing after the last tensor); memory for a header stays within a small multiple of its size.
// The data stay in the memory map until they are read. Writing the same tensors gives the same bytes.
// Not here: pickled checkpoints, quantised dtypes, big-endian machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file.hpp"

namespace flyball {

enum class Dtype { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

const char* name(Dtype dtype) noexcept;  // as in the file: "F64", "BF16", "BOOL"
std::size_t size_of(Dtype dtype) noexcept;
bool is_floating(Dtype dtype) noexcept;

struct TensorInfo {
    Dtype dtype = Dtype::f32;
    std::vector<std::size_t> shape;
    std::span<const std::byte> bytes;  // little-endian, at any alignment

    std::size_t elements() const { return bytes.size() / size_of(dtype); }
};

using TensorMetadata = std::map<std::string, std::string>;

class SafeTensors {
  public:
    // One file.
    static SafeTensors open(const std::filesystem::path& path);

    // A folder with model.safetensors, or with shards listed in model.safetensors.index.json.
    static SafeTensors open_checkpoint(const std::filesystem::path& folder);

    // A file's contents in memory that outlives the object; `what` names it in messages.
    static SafeTensors parse(std::span<const std::byte> contents, std::string_view what);

    std::vector<std::string> names() const;  // sorted
    bool contains(std::string_view name) const;
    const TensorInfo& info(std::string_view name) const;  // missing: an Error naming the nearest
    const TensorMetadata& metadata() const { return metadata_; }

    // Values as float or double from any dtype; narrowing rounds to nearest.
    template <class Real>
    std::vector<Real> read(std::string_view name) const;

    // The same into the caller's memory, whose size must be the tensor's.
    template <class Real>
    void copy_to(std::string_view name, std::span<Real> out) const;

    // The same for what is not looked at again: piece by piece, and the pages of the memory map behind each piece no
    // longer count as memory of this process (MappedFile::let_go). Memory is that of `out` and a few megabytes.
    template <class Real>
    void take_to(std::string_view name, std::span<Real> out) const;
    void let_go(std::string_view name) const;  // of a tensor that somebody has looked at

  private:
    void let_go_of(std::span<const std::byte> part) const noexcept;
    static SafeTensors open_shards(const std::filesystem::path& folder, const std::filesystem::path& index);

    std::vector<MappedFile> files_;
    std::string what_;
    std::map<std::string, TensorInfo, std::less<>> tensors_;
    TensorMetadata metadata_;
};

extern template std::vector<float> SafeTensors::read(std::string_view) const;
extern template std::vector<double> SafeTensors::read(std::string_view) const;
extern template void SafeTensors::copy_to(std::string_view, std::span<float>) const;
extern template void SafeTensors::copy_to(std::string_view, std::span<double>) const;
extern template void SafeTensors::take_to(std::string_view, std::span<float>) const;
extern template void SafeTensors::take_to(std::string_view, std::span<double>) const;

// A tensor to write; the bytes are borrowed.
struct TensorToWrite {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::vector<std::size_t> shape;
    std::span<const std::byte> bytes;
};

TensorToWrite tensor(std::string name, std::vector<std::size_t> shape, std::span<const float> values);
TensorToWrite tensor(std::string name, std::vector<std::size_t> shape, std::span<const double> values);
TensorToWrite tensor(std::string name, std::vector<std::size_t> shape, std::span<const std::int64_t> values);

// Replaces the file as a whole. Tensors are laid out by falling element size, then by name, so that each is aligned
// and the order given does not matter.
void write_safetensors(const std::filesystem::path& path, std::span<const TensorToWrite> tensors,
                       const TensorMetadata& metadata = {});

}  // namespace flyball
