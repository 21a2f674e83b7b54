// Files that a run leaves for itself: what it needs to go on after a kill, and what it has finished.
//
// Such a file must never be taken for another one, and damage must never become a number. So each is sealed:
//
//     kind       what it is ("restart", "record", "sample 3"), so that two files cannot be exchanged
//     identity   what the run was that wrote it: program version, every setting, the contents of its input files, the
//                instruction set and BLAS core that its bits depend on
//     checksum   of all of that and of the contents (XXH3, 64 bits)
//
// Opening a file checks all three and refuses with a sentence that says which is wrong, and for the identity which
// setting differs. Not a signature: who wants to forge a file can.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/safetensors.hpp"

namespace flyball::record {

// Names and values in a fixed order; a name stands once.
using Identity = std::vector<std::pair<std::string, std::string>>;

// Version, instruction set and BLAS core of this process: what every run's identity begins with.
Identity program_identity();

struct Seal {
    std::string kind;
    Identity identity;
};

std::string checksum(std::span<const std::byte> bytes);  // 16 hexadecimal digits
std::string checksum(std::string_view text);
std::string file_checksum(const std::filesystem::path& path);  // of a file's contents
// Of every file of a model's folder that its numbers may come from: config.json and *.safetensors.
std::string model_checksum(const std::filesystem::path& folder);

// Tensors and short texts. Keys of `metadata` must not begin with "seal.".
void write_sealed(const std::filesystem::path& path, const Seal& seal, std::span<const TensorToWrite> tensors,
                  const TensorMetadata& metadata);
SafeTensors open_sealed(const std::filesystem::path& path, const Seal& seal);

// A JSON document.
void write_sealed_json(const std::filesystem::path& path, const Seal& seal, const Json& body);
Json read_sealed_json(const std::filesystem::path& path, const Seal& seal);

// For readers that do not know the run (`flyball report` of one that goes on): the checksum and the kind are checked,
// and not whose file it is.
SafeTensors open_sealed_of_any_run(const std::filesystem::path& path, std::string_view kind);
Json read_sealed_json_of_any_run(const std::filesystem::path& path, std::string_view kind);

// The sentence for a file of ours that cannot be used: Error(input) with the way out.
[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view got, std::string_view expected);

}  // namespace flyball::record
