// Sealing files and opening sealed ones: checksum, kind, identity.
#include "record/sealed.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "core/blas.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/isa.hpp"
#include "core/parallel.hpp"
#include "core/version.hpp"

namespace flyball::record {

namespace {

constexpr const char* kind_key = "seal.kind";
constexpr const char* checksum_key = "seal.checksum";
constexpr std::string_view identity_prefix = "seal.run.";
constexpr std::size_t largest_json = std::size_t{1} << 24U;

class Hash {
  public:
    Hash() : state_(XXH3_createState(), XXH3_freeState) {
        if (state_ == nullptr) {
            throw std::bad_alloc();
        }
        XXH3_64bits_reset(state_.get());
    }
    // Piece by piece, which gives the same digits: a file of gigabytes takes longer than a stop signal may wait.
    void add(std::span<const std::byte> bytes) {
        constexpr std::size_t piece = std::size_t{1} << 26U;
        while (!bytes.empty()) {
            check_stop();
            const std::span<const std::byte> next = bytes.first(std::min(piece, bytes.size()));
            XXH3_64bits_update(state_.get(), next.data(), next.size());
            bytes = bytes.subspan(next.size());
        }
    }
    // With its length, so that "ab" + "c" and "a" + "bc" differ.
    void add(std::string_view text) {
        const std::uint64_t size = text.size();
        add(std::as_bytes(std::span(&size, 1)));
        add(std::as_bytes(std::span(text)));
    }
    std::string digits() const { return fmt::format("{:016x}", XXH3_64bits_digest(state_.get())); }

  private:
    std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

// What the checksum of a file of tensors covers: its texts but for the checksum, then its tensors by name.
struct Content {
    std::string name;
    std::string kind;  // dtype and shape
    std::span<const std::byte> bytes;
};

// Everything that could be changed: all texts (kind and identity among them), names, types, shapes and bytes. Tensors
// by name, since a file may have them in any order; bytes need no length in front, which the shape has.
std::string checksum_of(const TensorMetadata& metadata, std::vector<Content> contents) {
    Hash hash;
    for (const auto& [key, value] : metadata) {
        if (key != checksum_key) {
            hash.add(key);
            hash.add(value);
        }
    }
    std::sort(contents.begin(), contents.end(), [](const Content& a, const Content& b) { return a.name < b.name; });
    for (const Content& content : contents) {
        hash.add(content.name);
        hash.add(content.kind);
        hash.add(content.bytes);
    }
    return hash.digits();
}

std::string kind_of(Dtype dtype, const std::vector<std::size_t>& shape) {
    return fmt::format("{}[{}]", name(dtype), fmt::join(shape, ","));
}

// `found`: what the file says, by name.
// Both ways: what this run has and the file has not, or has otherwise, and what the file has that this run does not
// know.
void check_identity(const std::filesystem::path& path, const Seal& seal, const std::string& kind,
                    const std::map<std::string, std::string>& found) {
    if (kind != seal.kind) {
        refuse(path, fmt::format("a file of kind {}", flyball::quoted(kind)), fmt::format("'{}'", seal.kind));
    }
    for (const auto& [key, value] : seal.identity) {
        const auto at = found.find(key);
        if (at == found.end() || at->second != value) {
            refuse(path,
                   at == found.end() ? fmt::format("a file of a run without {}", key)
                                     : fmt::format("a file of a run with {} = {}", key, flyball::quoted(at->second)),
                   fmt::format("{} = {}, as in this run", key, flyball::quoted(value)));
        }
    }
    for (const auto& [key, value] : found) {
        const bool known = std::any_of(seal.identity.begin(), seal.identity.end(),
                                       [&key = key](const auto& entry) { return entry.first == key; });
        if (!known) {
            refuse(path, fmt::format("a file of a run with {} = {}", key, flyball::quoted(value)),
                   fmt::format("a run without {}, as this one", key));
        }
    }
}

Json identity_json(const Identity& identity) {
    Json json = Json::object();
    for (const auto& [key, value] : identity) {
        json[key] = value;
    }
    return json;
}

}  // namespace

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view got, std::string_view expected) {
    throw Error(ErrorKind::input, "record.open", fmt::format("{} in {}", got, flyball::quoted(path.string())), expected,
                "go on with the settings, files and machine of that run, or start anew with " + setting("force"));
}

Identity program_identity() {
    return {{"flyball version", version}, {"instruction set", name(active_isa())}, {"BLAS core", blas_core()}};
}

std::string checksum(std::string_view text) {
    return checksum(std::as_bytes(std::span(text)));
}

std::string checksum(std::span<const std::byte> bytes) {
    Hash hash;
    hash.add(bytes);
    return hash.digits();
}

std::string file_checksum(const std::filesystem::path& path) {
    const MappedFile file(path);
    return checksum(file.bytes());
}

std::string model_checksum(const std::filesystem::path& folder) {
    std::vector<std::string> sums;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        const std::string extension = file.path().extension().string();
        if (file.is_regular_file() && (extension == ".safetensors" || file.path().filename() == "config.json")) {
            sums.push_back(file.path().filename().string() + " " + file_checksum(file.path()));
        }
    }
    std::sort(sums.begin(), sums.end());
    return checksum(fmt::format("{}", fmt::join(sums, "\n")));
}

void write_sealed(const std::filesystem::path& path, const Seal& seal, std::span<const TensorToWrite> tensors,
                  const TensorMetadata& metadata) {
    TensorMetadata sealed = metadata;
    sealed[kind_key] = seal.kind;
    for (const auto& [key, value] : seal.identity) {
        sealed[std::string(identity_prefix) + key] = value;
    }
    std::vector<Content> contents;
    for (const TensorToWrite& tensor : tensors) {
        contents.push_back({tensor.name, kind_of(tensor.dtype, tensor.shape), tensor.bytes});
    }
    sealed[checksum_key] = checksum_of(sealed, std::move(contents));
    write_safetensors(path, tensors, sealed);
}

namespace {

// A sealed file of any run, and of which kind it says it is. Reads the whole file once.
struct Undamaged {
    SafeTensors file;
    std::string kind;
};

// What is wrong with a file of tensors, in words for a file that can be downloaded again; ours cannot.
SafeTensors open_tensors(const std::filesystem::path& path) {
    try {
        return SafeTensors::open(path);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input) {
            throw;
        }
        refuse(path, "contents that are damaged or cut short", "a file as this program wrote it");
    }
}

Undamaged open_undamaged(const std::filesystem::path& path) {
    SafeTensors file = open_tensors(path);
    const TensorMetadata& metadata = file.metadata();
    std::vector<Content> contents;
    for (const std::string& tensor : file.names()) {
        const TensorInfo& info = file.info(tensor);
        contents.push_back({tensor, kind_of(info.dtype, info.shape), info.bytes});
    }
    const auto sum = metadata.find(checksum_key);
    if (sum == metadata.end() || sum->second != checksum_of(metadata, std::move(contents))) {
        refuse(path, "contents that do not have their checksum (the file was damaged or is not ours)",
               "a file as this program wrote it");
    }
    const auto kind = metadata.find(kind_key);
    std::string said = kind == metadata.end() ? std::string() : kind->second;
    return {std::move(file), std::move(said)};
}

// Of text, the checksum is of the document as we print it; comparing the text with that print makes spaces count too.
Json read_undamaged_json(const std::filesystem::path& path) {
    const std::string text = read_regular_file(path, largest_json);
    Json document = parse_json(text, path.string());
    // Everything in the file counts, also what a parser would pass over.
    const bool ours = document.is_object() && document.size() == 4 && document.contains("kind") &&
                      document.contains("run") && document.contains("body") && document.contains("checksum") &&
                      dump_json(document, 2) + "\n" == text;
    const Json sum = ours ? document["checksum"] : Json();
    if (ours) {
        document.erase("checksum");
    }
    if (!ours || sum != checksum(std::string_view(dump_json(document)))) {
        refuse(path, "contents that do not have their checksum (the file was damaged or is not ours)",
               "a file as this program wrote it");
    }
    return document;
}

void check_kind(const std::filesystem::path& path, const std::string& found, std::string_view expected) {
    if (found != expected) {
        refuse(path, fmt::format("a file of kind {}", flyball::quoted(found)), fmt::format("'{}'", expected));
    }
}

}  // namespace

SafeTensors open_sealed_of_any_run(const std::filesystem::path& path, std::string_view kind) {
    Undamaged opened = open_undamaged(path);
    check_kind(path, opened.kind, kind);
    return std::move(opened.file);
}

Json read_sealed_json_of_any_run(const std::filesystem::path& path, std::string_view kind) {
    Json document = read_undamaged_json(path);
    check_kind(path, document["kind"].get<std::string>(), kind);
    return document["body"];
}

// The checksum before the identity: what a damaged file says of itself means nothing.
SafeTensors open_sealed(const std::filesystem::path& path, const Seal& seal) {
    Undamaged opened = open_undamaged(path);
    std::map<std::string, std::string> found;
    for (const auto& [key, value] : opened.file.metadata()) {
        if (key.rfind(identity_prefix, 0) == 0) {
            found[key.substr(identity_prefix.size())] = value;
        }
    }
    check_identity(path, seal, opened.kind, found);
    return std::move(opened.file);
}

void write_sealed_json(const std::filesystem::path& path, const Seal& seal, const Json& body) {
    Json document = {{"kind", seal.kind}, {"run", identity_json(seal.identity)}, {"body", body}};
    document["checksum"] = checksum(std::string_view(dump_json(document)));
    write_file_atomically(path, dump_json(document, 2) + "\n");
}

Json read_sealed_json(const std::filesystem::path& path, const Seal& seal) {
    const Json document = read_undamaged_json(path);
    std::map<std::string, std::string> found;
    for (const auto& [key, value] : document["run"].items()) {
        found[key] = value.get<std::string>();
    }
    check_identity(path, seal, document["kind"].get<std::string>(), found);
    return document["body"];
}

}  // namespace flyball::record
