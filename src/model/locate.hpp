// Where a model named on the command line is on this machine. Nothing is ever downloaded.
#pragma once

#include <filesystem>
#include <string>

namespace flyball::model {

// builtin:NAME (builtin.hpp), a folder, or a repository id ("openai-community/gpt2") in the local Hugging Face cache:
// the snapshot that refs/main names, or the only one there is. The cache is the first of $HF_HUB_CACHE,
// $HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub, ~/.cache/huggingface/hub that is set. An Error
// of kind usage names what was looked for.
std::filesystem::path locate(const std::string& model);

}  // namespace flyball::model
