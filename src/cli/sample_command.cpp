// `flyball sample`: a text written by a checkpoint, token by token.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/model_input.hpp"
#include "cli/model_notes.hpp"
#include "cli/terminal.hpp"
#include "core/amount.hpp"
#include "core/json.hpp"
#include "core/utf8.hpp"
#include "model/generate.hpp"
#include "model/locate.hpp"
#include "model/pass.hpp"
#include "model/recorder.hpp"
#include "model/sample.hpp"
#include "tokenizer/text_stream.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_sample = "cli.sample";

struct SampleFlags {
    std::string model;
    std::optional<std::string> prompt;
    std::string ids;
    std::string temperature = "1";
    model::SampleSettings settings;
};

// The prompt's ids with what the tokenizer puts in front of a text, such as <s>, and without what it puts behind: the
// text goes on there.
std::vector<std::int32_t> encoded(const tokenizer::Tokenizer& tokenizer, const std::string& prompt) {
    std::vector<std::int32_t> all = tokenizer.encode(prompt, true);
    const std::vector<std::int32_t> plain = tokenizer.encode(prompt, false);
    const auto found = std::search(all.begin(), all.end(), plain.begin(), plain.end());
    if (!plain.empty() && found != all.end()) {
        all.erase(found + static_cast<std::ptrdiff_t>(plain.size()), all.end());
    }
    return all;
}

// Without a prompt a text starts from the token that begins one, or else after the end of a line.
std::vector<std::int32_t> first_ids(const SampleFlags& flags, const std::optional<tokenizer::Tokenizer>& tokenizer,
                                    const model::TextEnds& ends) {
    if (!flags.ids.empty()) {
        return ids_of(where_sample, flags.ids);
    }
    const std::string prompt = flags.prompt.value_or("");
    if (!prompt.empty() && !tokenizer) {
        throw Error(ErrorKind::usage, where_sample, fmt::format("a prompt for {}, which has no tokenizer", flags.model),
                    "a folder with tokenizer.json, vocab.json or vocab.txt", "give token ids with --ids 1,2,3");
    }
    std::vector<std::int32_t> ids;
    if (!prompt.empty()) {
        ids = encoded(*tokenizer, prompt);
    } else if (ends.begin) {
        ids = {*ends.begin};
    } else if (tokenizer) {
        ids = tokenizer->encode("\n", false);
    }
    if (ids.empty()) {
        throw Error(
            ErrorKind::usage, where_sample,
            prompt.empty() ? fmt::format("no prompt for {}, which names no token that begins a text", flags.model)
                           : fmt::format("no tokens in the prompt {}", flyball::quoted(prompt)),
            "a prompt that the model's vocabulary has tokens for", tokenizer ? "add --prompt TEXT" : "add --ids 1,2,3");
    }
    return ids;
}

// Characters of a prompt that the vocabulary has no token for and that are dropped without a trace. (Blanks belong to
// the words beside them in many tokenizers, and have no token alone.)
void note_unknown(const tokenizer::Tokenizer& tokenizer, const std::string& prompt) {
    constexpr std::size_t most_shown = 10;
    const std::string text = repaired_utf8(prompt);
    std::set<std::string> seen;
    std::vector<std::string> unknown;
    for (std::size_t at = 0; at < text.size();) {
        const std::string character = text.substr(at, point_length(text[at]));
        at += character.size();
        if (std::string_view(" \t\r\n").find(character) == std::string_view::npos && seen.insert(character).second &&
            tokenizer.encode(character, false).empty()) {
            unknown.push_back(flyball::quoted(character));
        }
    }
    if (unknown.empty()) {
        return;
    }
    const bool one = unknown.size() == 1;
    const bool more = unknown.size() > most_shown;
    unknown.resize(std::min(unknown.size(), most_shown));
    print_note(fmt::format("flyball: note: the model has no token for {}{}; {} left out of the prompt\n",
                           fmt::join(unknown, ", "), more ? ", .." : "", one ? "it was" : "they were"));
}

void check_memory(const model::Architecture& a, std::size_t prompt, std::size_t tokens) {
    const double needed = model::sample_memory(a, prompt, tokens);
    const double available = available_memory();
    if (needed > available) {
        throw Error(ErrorKind::resource, where_sample,
                    fmt::format("{} tokens, which need about {}", prompt + tokens, memory_text(needed)),
                    fmt::format("at most the {} of memory that are free", memory_text(available)),
                    "use fewer --tokens, or a shorter prompt");
    }
}

// What happened that the text alone does not show.
void print_remarks(const SampleFlags& flags, const model::Model<float>& model, const model::SampleResult& result) {
    const std::size_t positions = model.architecture().positions;
    if (result.cut_prompt > 0) {
        print_note(
            fmt::format("flyball: note: the model has {} positions; it did not see the first {} tokens of the "
                        "prompt\n",
                        positions, result.cut_prompt));
    }
    if (result.forgotten > 0) {
        print_note(
            fmt::format("flyball: note: the model has {} positions; the older half of the text was let go {} "
                        "{}\n",
                        positions, result.forgotten, result.forgotten == 1 ? "time" : "times"));
    }
    if (!result.cached) {
        print_note(
            "flyball: note: keys and values of this model change as the text grows: every token ran all of it\n");
    }
    if (result.end == model::SampleEnd::not_finite) {
        warn_not_finite(flags.model, model);
    }
}

ExitCode run(SampleFlags& flags, const Common& common) {
    if (flags.prompt && !flags.ids.empty()) {
        throw Error(ErrorKind::usage, where_sample, "--prompt and --ids together", "one of them");
    }
    flags.settings.sampling.temperature = number_of("temperature", flags.temperature);
    model::check(flags.settings.sampling);
    const std::filesystem::path folder = model::locate(flags.model);
    const model::Model<float> model = model::load_model(folder);
    print_notes(flags.model, model);
    const model::TextEnds ends = model::text_ends(folder, model.architecture());
    flags.settings.last_ids = ends.last;
    model::check_can_generate(model.architecture());
    const std::optional<tokenizer::Tokenizer> tokenizer = tokenizer_in(folder);
    const std::vector<std::int32_t> prompt = first_ids(flags, tokenizer, ends);
    check_memory(model.architecture(), prompt.size(), flags.settings.tokens);
    if (tokenizer && flags.prompt) {
        note_unknown(*tokenizer, *flags.prompt);
    }

    std::optional<tokenizer::TextStream> stream;
    if (tokenizer) {
        stream.emplace(*tokenizer, prompt);
    }
    std::string text;
    const auto show = [&](const std::string& piece) {
        text += piece;
        if (!common.json && !piece.empty()) {
            print_out(piece);
            flush_out();
        }
    };
    if (!common.json && flags.prompt) {
        print_out(repaired_utf8(*flags.prompt));
        flush_out();
    }
    catch_interrupts();
    const StopOn stop(&interrupted());
    const model::SampleResult result = model::sample(model, prompt, flags.settings, [&](std::int32_t id) {
        show(stream ? stream->add(id) : fmt::format("{}{}", text.empty() ? "" : " ", id));
        return !interrupted();
    });
    show(stream ? stream->end() : "");
    if (common.json) {
        const model::SampleReport report{model::document(flags.model, model),
                                         flags.ids.empty() ? std::optional(flags.prompt.value_or("")) : std::nullopt,
                                         prompt,
                                         tokenizer ? std::optional(text) : std::nullopt,
                                         flags.settings,
                                         result};
        print_out(dump_json(model::document(report), 2) + "\n");
    } else {
        print_out(text.ends_with('\n') ? "" : "\n");
        flush_out();
        const double speed = result.tokens_per_second();
        print_note(fmt::format("flyball: {} {}{}\n", result.ids.size(), result.ids.size() == 1 ? "token" : "tokens",
                               speed > 0 ? fmt::format(", {:.0f} a second", speed) : ""));
    }
    print_remarks(flags, model, result);
    if (result.end == model::SampleEnd::interrupted) {
        print_error("flyball: interrupted\n");
        return ExitCode::interrupted;
    }
    return ExitCode::done;
}

}  // namespace

Command sample_command() {
    Command command;
    command.name = "sample";
    command.summary = "write text with a checkpoint, token by token";
    command.about = "Writes text with a model, token by token.";
    command.example =
        "flyball sample openai-community/gpt2 --prompt 'Once upon a time' --tokens 100 --temperature 0.8 --top 40\n"
        "  flyball sample ./my-run --temperature 0   # the likeliest token each time\n"
        "  flyball sample ./model-without-tokenizer --ids 1,403,407 --json";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<SampleFlags>();
        begin_group(app, "model");
        add_option(app, "MODEL", flags->model,
                   "a folder with config.json and model.safetensors, or an id in the local Hugging Face cache")
            .required();
        begin_group(app, "input");
        add_option(app, "--prompt", flags->prompt,
                   "the text to go on from (default: the token that begins a text, or a line end)")
            .type_name("TEXT");
        add_option(app, "--ids", flags->ids, "instead of a prompt: token ids with commas between them, or @FILE")
            .type_name("LIST")
            .not_empty("token ids, or @FILE");
        begin_group(app, "sampling");
        add_option(app, "--tokens", flags->settings.tokens, "write N tokens at most")
            .type_name("N")
            .whole_number(1)
            .capture_default_str();
        add_option(app, "--temperature", flags->temperature,
                   "divide the logits by T: below 1 is safer, above 1 wilder, 0 the likeliest token each time")
            .type_name("T")
            .capture_default_str();
        add_option(app, "--top", flags->settings.sampling.top, "choose among the K likeliest tokens (default: all)")
            .type_name("K")
            .whole_number(1);
        declare_seed(app, flags->settings.seed);
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
