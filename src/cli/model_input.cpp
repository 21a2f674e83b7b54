#include "cli/model_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "cli/flags.hpp"
#include "core/file.hpp"
#include "core/utf8.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t largest_given_text = std::size_t{2} << 30U;

// Whoever gives ids needs no tokenizer: one that cannot be read only costs the tokens' texts.
std::optional<tokenizer::Tokenizer> tokenizer_for_ids(const std::filesystem::path& folder) {
    try {
        return tokenizer_in(folder);
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

void InputFlags::declare(CLI::App& app, const std::string& without) {
    begin_group(app, "input");
    add_option(app, "--text", text,
               fmt::format("the file with the text, for the model's own tokenizer; - is the standard input{}",
                           without.empty() ? "" : fmt::format(" (default: {})", without)))
        .type_name("FILE")
        .not_empty("the name of a file");
    add_option(app, "--string", string, "the text itself").type_name("TEXT");
    add_option(app, "--ids", ids, "instead of a text: token ids with commas between them, or @FILE")
        .type_name("LIST")
        .not_empty("token ids, or @FILE");
    add_option(app, "--embeddings", embeddings,
               "instead of a text: a safetensors file whose tensor `embeddings` [tokens, channels] is what the first "
               "block is given, or whose `pixel_values` [channels, height, width] are an image")
        .type_name("FILE")
        .not_empty("the name of a file");
}

void InputFlags::check(std::string_view where, bool none_is_allowed) const {
    std::vector<std::string> given;
    for (const auto& [flag, is_there] : {std::pair{"--text", !text.empty()},
                                         {"--string", string.has_value()},
                                         {"--ids", !ids.empty()},
                                         {"--embeddings", !embeddings.empty()}}) {
        if (is_there) {
            given.emplace_back(flag);
        }
    }
    if (given.size() > 1 || (given.empty() && !none_is_allowed)) {
        throw Error(ErrorKind::usage, where,
                    given.empty() ? "none of --text, --string, --ids and --embeddings"
                                  : fmt::format("{} together", fmt::join(given, " and ")),
                    "one of them", "--text FILE, --string TEXT, --ids 1,2,3 or --ids @FILE");
    }
}

std::vector<ConfigEntry> InputFlags::configuration(const std::string& command) const {
    std::vector<ConfigEntry> entries;
    const auto add = [&](const char* key, const std::string& value, bool is_there) {
        if (is_there) {
            entries.push_back({fmt::format("{}.{}", command, key), {value}, ""});
        }
    };
    add("text", text, !text.empty());
    add("string", repaired_utf8(string.value_or("")), string.has_value());  // as it is read: TOML is UTF-8
    add("ids", ids, !ids.empty());
    add("embeddings", embeddings, !embeddings.empty());
    return entries;
}

std::string ModelInput::text_of(std::int32_t id) const {
    // Rows of an embedding that pad the vocabulary have no token.
    return tokenizer && tokenizer->token(id) ? tokenizer->decode({&id, 1}, false) : std::string();
}

std::vector<std::string> ModelInput::texts() const {
    std::vector<std::string> result;
    std::transform(input.ids.begin(), input.ids.end(), std::back_inserter(result),
                   [this](std::int32_t id) { return text_of(id); });
    return result;
}

ModelInput read_input(std::string_view where, const InputFlags& flags, const std::filesystem::path& folder,
                      const model::Model<float>& model, std::size_t most, const std::filesystem::path& otherwise) {
    ModelInput result;
    if (!flags.embeddings.empty()) {
        result.input = model::read_embeddings(flags.embeddings, model, most);
        return result;
    }
    if (!flags.ids.empty()) {
        result.input.ids = ids_of(where, flags.ids);
        result.input.ids.resize(std::min(most, result.input.ids.size()));
        result.tokenizer = tokenizer_for_ids(folder);
        return result;
    }
    result.tokenizer = tokenizer::Tokenizer::load(folder);
    const std::string file = flags.text.empty() ? otherwise.string() : flags.text;
    const std::string text = flags.string ? repaired_text(*flags.string) : read_given_text(file);
    result.input.ids =
        most == all_tokens ? result.tokenizer->encode(text) : result.tokenizer->encode_at_most(most, text);
    if (result.input.ids.empty()) {
        throw Error(ErrorKind::input, where,
                    fmt::format("no tokens in {}", flags.string  ? flyball::quoted(*flags.string)
                                                   : file == "-" ? "the standard input"
                                                                 : flyball::quoted(file)),
                    "a text that is not empty");
    }
    return result;
}

record::Identity inputs_of(std::size_t number, const std::filesystem::path& folder, const model::Model<float>& model,
                           const model::Input& input) {
    std::string sums;
    const std::vector<model::ParameterSpec>& specs = model.layout().parameters;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        sums += record::checksum(std::as_bytes(std::span(model.at(static_cast<int>(i)), specs[i].elements())));
    }
    const auto key = [&](const char* what) { return fmt::format("{} of model {}", what, number); };
    return {{key("configuration"), record::file_checksum(folder / "config.json")},
            {key("weights"), record::checksum(sums)},
            {key("input"), input.has_rows() ? record::checksum(std::as_bytes(std::span(input.rows)))
                                            : record::checksum(std::as_bytes(std::span(input.ids)))}};
}

std::optional<tokenizer::Tokenizer> tokenizer_in(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const char* file : {"tokenizer.json", "vocab.json", "vocab.txt"}) {
        if (std::filesystem::exists(folder / file, ignored)) {
            return tokenizer::Tokenizer::load(folder);
        }
    }
    return std::nullopt;
}

std::string repaired_text(std::string text) {
    std::size_t replaced = 0;
    if (!is_utf8(text)) {
        text = repaired_utf8(text, &replaced);
        print_note(fmt::format("flyball: note: the text is not UTF-8 in {} places, read as U+FFFD\n", replaced));
    }
    return text;
}

std::string read_given_text(const std::string& file) {
    return repaired_text(file == "-" ? read_standard_input(largest_given_text)
                                     : read_text_file(file, largest_given_text));
}

}  // namespace flyball::cli
