// Checkpoints: a folder with one safetensors file, or with several and an index.
#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/safetensors.hpp"

namespace flyball {

namespace {

constexpr std::string_view where_sharded = "core.checkpoint";

// A shard lies beside its index; a name that could lead elsewhere is an attack or a mistake.
bool is_plain_name(const std::string& name) {
    return !name.empty() && name != "." && name.find("..") == std::string::npos &&
           name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

// {shard: [tensor names]} of {"weight_map": {tensor name: shard}}. The "metadata" (a total size) is not trusted.
std::map<std::string, std::vector<std::string>> shards_of(const std::filesystem::path& index) {
    const JsonLimits limits{.max_depth = 8, .max_bytes = std::size_t{64} << 20};
    const std::string what = flyball::quoted(index.string());
    Json json = parse_json(read_regular_file(index, limits.max_bytes), what, limits);
    const auto map = json.is_object() ? json.find("weight_map") : json.end();
    if (!json.is_object() || map == json.end() || !map->is_object() || map->empty()) {
        throw Error(ErrorKind::input, where_sharded, what + " without a weight_map",
                    "an object {tensor name: file name}");
    }
    std::map<std::string, std::vector<std::string>> shards;
    for (const auto& [tensor, shard] : map->items()) {
        if (!shard.is_string() || !is_plain_name(shard.get_ref<const std::string&>())) {
            throw Error(ErrorKind::input, where_sharded,
                        fmt::format("the file {} for tensor {} in {}",
                                    flyball::quoted(shard.is_string() ? shard.get<std::string>() : dump_json(shard)),
                                    flyball::quoted(tensor), what),
                        "a plain file name in the same folder");
        }
        shards[shard.get<std::string>()].push_back(tensor);
    }
    return shards;
}

bool is_same(const TensorInfo& a, const TensorInfo& b) {
    return a.dtype == b.dtype && a.shape == b.shape &&
           std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

}  // namespace

// All tensors of the files that the index names, as transformers reads them: it looks into the index for the names of the
// files alone. One that the index leaves out would otherwise be missing without a word. Where two files disagree about a
// tensor nobody can say which one the model was trained to.
SafeTensors SafeTensors::open_shards(const std::filesystem::path& folder, const std::filesystem::path& index) {
    SafeTensors result;
    result.what_ = flyball::quoted(folder.string());
    const std::map<std::string, std::vector<std::string>> shards = shards_of(index);
    std::map<std::string, std::string> file_of;  // by tensor
    for (const auto& [file, listed] : shards) {
        SafeTensors shard = open(folder / file);
        for (const auto& [tensor, info] : shard.tensors_) {
            const auto [found, is_new] = result.tensors_.emplace(tensor, info);
            if (is_new) {
                file_of[tensor] = file;
            } else if (!is_same(found->second, info)) {
                throw Error(ErrorKind::input, where_sharded,
                            fmt::format("two tensors {} in {}, one in {} and another in {}", flyball::quoted(tensor),
                                        result.what_, flyball::quoted(file_of.at(tensor)), flyball::quoted(file)),
                            "each tensor in one file", "leave out the one that does not belong to this checkpoint");
            }
        }
        result.metadata_.merge(shard.metadata_);
        for (MappedFile& mapped : shard.files_) {
            result.files_.push_back(std::move(mapped));
        }
    }
    for (const auto& [file, listed] : shards) {
        for (const std::string& tensor : listed) {
            if (!result.tensors_.contains(tensor)) {
                throw Error(ErrorKind::input, where_sharded,
                            fmt::format("no tensor {} in {}", flyball::quoted(tensor),
                                        flyball::quoted((folder / file).string())),
                            "every tensor of the index in its file", "the checkpoint is incomplete: download it again");
            }
        }
    }
    return result;
}

SafeTensors SafeTensors::open_checkpoint(const std::filesystem::path& folder) {
    std::error_code ignored;
    const std::filesystem::path single = folder / "model.safetensors";
    const std::filesystem::path index = folder / "model.safetensors.index.json";
    if (is_named(single)) {
        return open(single);
    }
    if (is_named(index)) {
        return open_shards(folder, index);
    }
    const std::string shown = flyball::quoted(folder.string());
    const bool is_folder = std::filesystem::is_directory(folder, ignored);
    const bool pickled = std::filesystem::exists(folder / "pytorch_model.bin", ignored);
    throw Error(
        ErrorKind::io, where_sharded,
        is_folder ? fmt::format("the folder {} without tensors", shown) : fmt::format("{}, which is no folder", shown),
        "a folder with model.safetensors or model.safetensors.index.json",
        pickled ? "convert pytorch_model.bin to safetensors first" : "");
}

}  // namespace flyball
