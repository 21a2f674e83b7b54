// `flyball tokenize`: the ids of a text, as a model's own tokenizer gives them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/model_input.hpp"
#include "cli/terminal.hpp"
#include "core/json.hpp"
#include "model/locate.hpp"
#include "tokenizer/document.hpp"

namespace flyball::cli {

namespace {

struct TokenizeFlags {
    std::string model;
    std::string file;
    std::string text;
    bool has_text = false;
    bool tokens = false;
    bool no_special = false;
};

// As many ids a line as fit.
std::string wrapped(const std::vector<std::int32_t>& ids, std::size_t columns) {
    std::string out;
    std::size_t used = 0;
    for (const std::int32_t id : ids) {
        const std::string number = fmt::format("{}", id);
        if (used > 0 && used + 1 + number.size() > columns) {
            out += '\n';
            used = 0;
        }
        out.append(used == 0 ? "" : " ").append(number);
        used += number.size() + (used == 0 ? 0 : 1);
    }
    return ids.empty() ? out : out + "\n";
}

ExitCode run(const TokenizeFlags& flags, const Common& common) {
    if (flags.has_text != flags.file.empty()) {
        throw Error(ErrorKind::usage, "cli.tokenize", flags.has_text ? "--text and --string together" : "no text",
                    "one of --text FILE and --string TEXT");
    }
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(model::locate(flags.model));
    const std::string text = flags.has_text ? repaired_text(flags.text) : read_given_text(flags.file);
    const std::vector<std::int32_t> ids = tokenizer.encode(text, !flags.no_special);
    if (common.json) {
        print_out(dump_json(tokenizer::document(tokenizer, ids, flags.tokens)) + "\n");
        return ExitCode::done;
    }
    print_out(fmt::format("{} {}\n", ids.size(), ids.size() == 1 ? "token" : "tokens"));
    if (!flags.tokens) {
        print_out(wrapped(ids, output_columns()));
        return ExitCode::done;
    }
    for (const std::int32_t id : ids) {
        print_out(fmt::format("{:>8}  {}\n", id, flyball::quoted(tokenizer.token(id).value_or(""))));
    }
    return ExitCode::done;
}

}  // namespace

Command tokenize_command() {
    Command command;
    command.name = "tokenize";
    command.summary = "show the token ids a model's tokenizer gives a text";
    command.about = "Shows the token ids that a model's tokenizer gives a text.";
    command.example =
        "flyball tokenize openai-community/gpt2 --string 'Hello world' --tokens\n"
        "  flyball tokenize path/to/model --text book.txt --json\n"
        "  gunzip -c book.txt.gz | flyball tokenize path/to/model --text -";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<TokenizeFlags>();
        begin_group(app, "model");
        add_option(app, "MODEL", flags->model,
                   "a folder with tokenizer.json, an id in the local Hugging Face cache, or builtin:NAME")
            .required();
        begin_group(app, "input");
        add_option(app, "--text", flags->file, "the file with the text; - is the standard input").type_name("FILE");
        const Flag text = add_option(app, "--string", flags->text, "the text itself").type_name("TEXT");
        begin_group(app, "output");
        add_flag(app, "--tokens", flags->tokens, "show each token's text as the vocabulary spells it");
        begin_group(app, "input");
        add_flag(app, "--no-special", flags->no_special, "without the tokens put around a text, such as [CLS]");
        return [flags, text](const Common& common) {
            flags->has_text = text.given();
            return run(*flags, common);
        };
    };
    return command;
}

}  // namespace flyball::cli
