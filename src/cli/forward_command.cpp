// `flyball forward`: a checkpoint on one sequence; its loss, and what it computes as a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/model_notes.hpp"
#include "cli/terminal.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "model/finite.hpp"
#include "model/locate.hpp"
#include "model/pass.hpp"
#include "model/recorder.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where = "cli.forward";

struct ForwardFlags {
    std::string model;
    std::string ids;
    std::string text;
    std::string save;
    std::string what;
    std::optional<std::string> string;
    std::size_t length = 0;
};

std::vector<std::int32_t> read_tokens(const ForwardFlags& flags, const std::filesystem::path& folder) {
    std::vector<std::string> given;
    for (const auto& [flag, is_there] : {std::pair{"--ids", !flags.ids.empty()},
                                         {"--text", !flags.text.empty()},
                                         {"--string", flags.string.has_value()}}) {
        if (is_there) {
            given.emplace_back(flag);
        }
    }
    if (given.size() != 1) {
        throw Error(ErrorKind::usage, where,
                    given.empty() ? "none of --ids, --text and --string"
                                  : fmt::format("{} together", fmt::join(given, " and ")),
                    "one of them", "--text FILE, --string TEXT, --ids 1,2,3 or --ids @FILE");
    }
    if (!flags.ids.empty()) {
        std::vector<std::int32_t> ids = ids_of(where, flags.ids);
        ids.resize(flags.length > 0 ? std::min(flags.length, ids.size()) : ids.size());
        return ids;
    }
    constexpr std::size_t largest_text = std::size_t{1} << 30;
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    const std::string text = flags.string ? *flags.string : read_text_file(flags.text, largest_text);
    std::vector<std::int32_t> ids =
        flags.length > 0 ? tokenizer.encode_at_most(flags.length, text) : tokenizer.encode(text);
    if (ids.empty()) {
        throw Error(ErrorKind::input, where,
                    fmt::format("no tokens in {}", flyball::quoted(flags.string.value_or(flags.text))),
                    "a text that is not empty");
    }
    return ids;
}

model::Recorded parse_what(const ForwardFlags& flags, const model::Architecture& architecture) {
    if (flags.what.empty()) {
        return flags.save.empty() ? model::Recorded{}
                                  : model::Recorded{.logits = architecture.has_head, .hidden = true, .attention = true};
    }
    if (flags.save.empty()) {
        throw Error(ErrorKind::usage, where, "--what without --save", "a file to write it to", "add --save FILE");
    }
    return model::parse_recorded(flags.what, architecture);
}

void check_memory(const model::Architecture& a, std::size_t tokens, model::Recorded recorded) {
    const double needed =
        model::memory_estimate(a, tokens, model::Keep::nothing) + model::memory_estimate(a, tokens, recorded);
    const double available = available_memory();
    if (needed > available) {
        throw Error(ErrorKind::resource, where,
                    fmt::format("{} tokens, which need about {:.1f} GB", tokens, needed * 1e-9),
                    fmt::format("at most the {:.1f} GB of memory that are free", available * 1e-9),
                    "use a smaller --length, or save less with --what");
    }
}

ExitCode run(const ForwardFlags& flags, const Common& common) {
    const std::filesystem::path folder = model::locate(flags.model);
    const std::vector<std::int32_t> ids = read_tokens(flags, folder);
    const model::Model<float> model = model::load_model(folder);
    const model::Architecture& architecture = model.architecture();
    print_notes(flags.model, model);
    const model::Recorded recorded = parse_what(flags, architecture);
    model::check_length(architecture, ids.size());
    check_memory(architecture, ids.size(), recorded);

    const auto start = std::chrono::steady_clock::now();
    model::Recorder recorder(architecture, ids.size(), recorded);
    model::Pass<float> pass(model, ids.size());
    pass.forward(ids, recorder.taps());
    const double loss = architecture.has_head ? pass.loss(model::next_tokens(ids), recorder.taps()) : std::nan("");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool has_loss = architecture.has_head && ids.size() > 1;
    const bool finite = model::all_finite(pass.readout()) && (!has_loss || std::isfinite(loss)) && recorder.is_finite();
    if (!finite) {
        warn_not_finite(flags.model, model);
    }
    if (!flags.save.empty()) {
        const std::filesystem::path file = flags.save;
        remove_abandoned(file.parent_path(), file.filename().string());
        recorder.save(flags.save);
    }
    if (common.json) {
        const Json document = {{"model", model::document(flags.model, model)},
                               {"tokens", ids.size()},
                               {"loss", loss},
                               {"finite", finite},
                               {"seconds", seconds}};
        print_out(dump_json(document, 2) + "\n");
        return ExitCode::done;
    }
    std::string text =
        fmt::format("{}: {}, {} blocks of {} channels and {} heads, {} parameters\n", flags.model, architecture.family,
                    architecture.layers, architecture.dim, architecture.heads, model.layout().count());
    text += fmt::format("wiring      {}\n", model.program().text());
    text += fmt::format("tokens      {}\n", ids.size());
    if (architecture.has_head) {
        text += std::isnan(loss)
                    ? fmt::format("loss        {}\n", ids.size() < 2 ? "none: one token" : "nan")
                    : fmt::format("loss        {:.6f} nats a token, perplexity {:.3f}\n", loss, std::exp(loss));
    }
    text += fmt::format("time        {:.3f} s, {:.0f} tokens a second\n", seconds,
                        static_cast<double>(ids.size()) / seconds);
    if (!flags.save.empty()) {
        text += fmt::format("saved       {}\n", flags.save);
    }
    print_out(text);
    return ExitCode::done;
}

}  // namespace

Command forward_command() {
    Command command;
    command.name = "forward";
    command.summary = "run a checkpoint on a text: loss, logits, hidden states, attention";
    command.example =
        "flyball forward openai-community/gpt2 --text book.txt --length 1024\n"
        "  flyball forward ./gpt2 --ids 464,3290,318 --save out.safetensors --what hidden,attention --json";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<ForwardFlags>();
        add_option(app, "MODEL", flags->model,
                   "a folder with config.json and model.safetensors, an id in the local Hugging Face cache, or "
                   "builtin:NAME")
            .required();
        add_option(app, "--text", flags->text, "the file with the text, for the model's own tokenizer")
            .type_name("FILE");
        add_option(app, "--string", flags->string, "the text itself").type_name("TEXT");
        add_option(app, "--ids", flags->ids, "instead of a text: token ids with commas between them, or @FILE")
            .type_name("LIST");
        add_option(app, "--length", flags->length,
                   "use L tokens at most: a text loses its end, not its [CLS] and [SEP]")
            .type_name("L")
            .whole_number(1);
        add_option(app, "--save", flags->save, "write a safetensors file").type_name("FILE");
        add_option(app, "--what", flags->what,
                   "what to save: some of logits,hidden,attention,scores,branches (default: the first three)")
            .type_name("LIST");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
