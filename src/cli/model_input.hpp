// What a command runs MODEL on: --text, --string, --ids or --embeddings. Declared and read here, so that they mean the
// same to every command.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "core/config.hpp"
#include "model/input.hpp"
#include "record/sealed.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::cli {

struct InputFlags {
    std::string text;  // a file, or - for the standard input
    std::optional<std::string> string;
    std::string ids;
    std::string embeddings;

    // `without`: what is read when none of them is given, for --help; empty where one has to be.
    void declare(CLI::App& app, const std::string& without = "");
    // Error(usage) of `where` for several of them, and for none unless that is allowed. Before a model is loaded.
    void check(std::string_view where, bool none_is_allowed = false) const;
    // Those that were given, as keys of the command's table in a configuration file.
    std::vector<ConfigEntry> configuration(const std::string& command) const;
};

struct ModelInput {
    model::Input input;
    std::optional<tokenizer::Tokenizer>
        tokenizer;  // none with --embeddings, and where ids are given to a model without

    std::size_t tokens() const { return input.tokens(); }
    // Of each token as it reads alone; of any id. Empty texts where the model has no tokenizer.
    std::string text_of(std::int32_t id) const;
    std::vector<std::string> texts() const;
};

constexpr std::size_t all_tokens = static_cast<std::size_t>(-1);

// `most`: how many tokens at most; a text loses its end, not the special tokens around it. `otherwise` is the file that
// is read when none of the flags was given. Throws for an input without a token.
ModelInput read_input(std::string_view where, const InputFlags& flags, const std::filesystem::path& folder,
                      const model::Model<float>& model, std::size_t most = all_tokens,
                      const std::filesystem::path& otherwise = {});

// What a run reads, for its folder: checksums of the configuration, the weights and the input of a model, which is
// number `number` of the run.
record::Identity inputs_of(std::size_t number, const std::filesystem::path& folder, const model::Model<float>& model,
                           const model::Input& input);

// The tokenizer in a model's folder, if there is one.
std::optional<tokenizer::Tokenizer> tokenizer_in(const std::filesystem::path& folder);

// Text as UTF-8, with a note on stderr where it was not; the contents of a file, or of the standard input for "-".
std::string repaired_text(std::string text);
std::string read_given_text(const std::string& file);

}  // namespace flyball::cli
