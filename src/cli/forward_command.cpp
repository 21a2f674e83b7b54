// `flyball forward`: a checkpoint on one sequence; its loss, and what it computes as a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/terminal.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/number.hpp"
#include "core/parallel.hpp"
#include "core/safetensors.hpp"
#include "model/finite.hpp"
#include "model/locate.hpp"
#include "model/pass.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where = "cli.forward";

struct Flags {
    std::string model;
    std::string ids;
    std::string text;
    std::string save;
    std::string what;
    std::size_t length = 0;
    int threads = 0;
    bool json = false;
};

struct Wanted {
    bool logits = false;
    bool hidden = false;
    bool attention = false;
};

std::vector<std::int32_t> parse_ids(const std::string& given) {
    constexpr std::size_t largest_file = std::size_t{64} << 20;
    const bool is_file = given.starts_with("@");
    const std::string text = is_file ? read_text_file(given.substr(1), largest_file) : given;
    std::vector<std::int32_t> ids;
    constexpr std::string_view between = ", \t\r\n[]";
    for (std::size_t begin = text.find_first_not_of(between); begin != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(between, begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const auto id = parse_integer(word);
        if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) {
            throw Error(ErrorKind::usage, where, fmt::format("the token id {}", flyball::quoted(word)),
                        "whole numbers with commas or spaces between them", "--ids 1,2,3 or --ids @FILE");
        }
        ids.push_back(static_cast<std::int32_t>(*id));
        begin = text.find_first_not_of(between, end);
    }
    if (ids.empty()) {
        throw Error(ErrorKind::usage, where, fmt::format("no token ids in {}", flyball::quoted(given)), "at least one",
                    "--ids 1,2,3 or --ids @FILE");
    }
    return ids;
}

std::vector<std::int32_t> read_tokens(const Flags& flags, const std::filesystem::path& folder) {
    if (flags.ids.empty() == flags.text.empty()) {
        throw Error(ErrorKind::usage, where,
                    flags.ids.empty() ? "neither --ids nor --text" : "--ids and --text together", "one of them",
                    "--text FILE, --ids 1,2,3 or --ids @FILE");
    }
    if (!flags.ids.empty()) {
        std::vector<std::int32_t> ids = parse_ids(flags.ids);
        ids.resize(flags.length > 0 ? std::min(flags.length, ids.size()) : ids.size());
        return ids;
    }
    constexpr std::size_t largest_text = std::size_t{1} << 30;
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    const std::string text = read_text_file(flags.text, largest_text);
    std::vector<std::int32_t> ids =
        flags.length > 0 ? tokenizer.encode_at_most(flags.length, text) : tokenizer.encode(text);
    if (ids.empty()) {
        throw Error(ErrorKind::input, where, fmt::format("no tokens in {}", flyball::quoted(flags.text)),
                    "a text that is not empty");
    }
    return ids;
}

Wanted parse_what(const Flags& flags, const model::Architecture& architecture) {
    if (flags.what.empty()) {
        return {architecture.has_head && !flags.save.empty(), !flags.save.empty(), !flags.save.empty()};
    }
    if (flags.save.empty()) {
        throw Error(ErrorKind::usage, where, "--what without --save", "a file to write it to", "add --save FILE");
    }
    Wanted wanted;
    for (std::size_t begin = 0; begin <= flags.what.size();) {
        const std::size_t end = std::min(flags.what.find(',', begin), flags.what.size());
        const std::string word = flags.what.substr(begin, end - begin);
        if (word == "logits") {
            wanted.logits = true;
        } else if (word == "hidden") {
            wanted.hidden = true;
        } else if (word == "attention") {
            wanted.attention = true;
        } else {
            throw Error(ErrorKind::usage, where, fmt::format("--what {}", flyball::quoted(flags.what)),
                        "some of logits, hidden, attention, with commas between them");
        }
        begin = end + 1;
    }
    if (wanted.logits && !architecture.has_head) {
        throw Error(ErrorKind::usage, where,
                    fmt::format("--what logits for a {} model without a language-model head", architecture.family),
                    "hidden or attention");
    }
    return wanted;
}

// Keeps what is to be saved; everything else stays a stream.
class Recorder {
  public:
    Recorder(const model::Architecture& architecture, std::size_t tokens, Wanted wanted)
        : architecture_(architecture), tokens_(tokens) {
        const auto numbered = [](const char* name, std::size_t i) { return fmt::format("{}.{}", name, i); };
        if (wanted.logits) {
            make("logits", {tokens, architecture.vocab});
            taps_.add("logits", [this](const View& view) { copy("logits", view); });
        }
        if (wanted.hidden) {
            for (std::size_t i = 0; i <= architecture.layers; ++i) {
                make(numbered("hidden", i), {tokens, architecture.dim});
            }
            taps_.add("embed", [this](const View& view) { copy("hidden.0", view); });
            taps_.add("blocks.*.resid",
                      [this, numbered](const View& view) { copy(numbered("hidden", view.layer + 1), view); });
            taps_.add("readout",
                      [this, numbered](const View& view) { copy(numbered("hidden", architecture_.layers), view); });
        }
        if (wanted.attention) {
            for (std::size_t i = 0; i < architecture.layers; ++i) {
                make(numbered("attention", i), {architecture.heads, tokens, tokens});
            }
            taps_.add("blocks.*.attn.pattern", [this, numbered](const View& view) {
                std::vector<float>& to = tensors_.at(numbered("attention", view.layer)).values;
                for (std::size_t i = 0; i < view.rows; ++i) {
                    const std::size_t row = view.head * tokens_ + view.first_row + i;
                    std::copy_n(view.row(i), view.columns, to.data() + row * tokens_ + view.first_column);
                }
            });
        }
    }

    const model::Taps<float>& taps() const { return taps_; }

    bool is_finite() const {
        return std::all_of(tensors_.begin(), tensors_.end(),
                           [](const auto& kept) { return model::all_finite(kept.second.values); });
    }

    void save(const std::string& path) const {
        std::vector<TensorToWrite> list;
        for (const auto& [name, kept] : tensors_) {
            list.push_back(tensor(name, kept.shape, kept.values));
        }
        write_safetensors(path, list, {{"format", "pt"}});
    }

  private:
    using View = model::TapView<float>;
    struct Kept {
        std::vector<std::size_t> shape;
        std::vector<float> values;
    };
    void make(const std::string& name, std::vector<std::size_t> shape) {
        std::size_t count = 1;
        for (const std::size_t size : shape) {
            count *= size;
        }
        tensors_.emplace(name, Kept{std::move(shape), std::vector<float>(count, 0.0F)});
    }
    void copy(const std::string& name, const View& view) {
        std::vector<float>& to = tensors_.at(name).values;
        for (std::size_t i = 0; i < view.rows; ++i) {
            std::copy_n(view.row(i), view.columns, to.data() + (view.first_row + i) * view.columns);
        }
    }

    const model::Architecture& architecture_;
    std::size_t tokens_;
    std::map<std::string, Kept> tensors_;
    model::Taps<float> taps_;
};

void check_memory(const model::Architecture& a, std::size_t tokens, Wanted wanted) {
    const auto n = static_cast<double>(tokens);
    double needed = model::memory_estimate(a, tokens, model::Keep::nothing);
    needed += wanted.logits ? 4 * n * static_cast<double>(a.vocab) : 0;
    needed += wanted.hidden ? 4 * n * static_cast<double>(a.dim * (a.layers + 1)) : 0;
    needed += wanted.attention ? 4 * n * n * static_cast<double>(a.heads * a.layers) : 0;
    const double available = available_memory();
    if (needed > available) {
        throw Error(ErrorKind::resource, where,
                    fmt::format("{} tokens, which need about {:.1f} GB", tokens, needed * 1e-9),
                    fmt::format("at most the {:.1f} GB of memory that are free", available * 1e-9),
                    "use a smaller --length, or save less with --what");
    }
}

// Not-a-number is a result, but never a silent one: where it comes from is said on stderr.
void warn_not_finite(const std::string& given, const model::Model<float>& model) {
    const std::vector<std::string> spoilt = model::tensors_not_finite(model);
    std::string why = "though every weight is: the numbers outgrow 32-bit floats on the way";
    if (!spoilt.empty()) {
        why = fmt::format("because of NaN or infinities in {} of its {} tensors, the first of them {}", spoilt.size(),
                          model.layout().parameters.size(), spoilt.front());
    }
    print_error(fmt::format("flyball: warning: {}: the result is not finite, {}\n", given, why));
}

Json model_json(const std::string& given, const model::Model<float>& model) {
    const model::Architecture& a = model.architecture();
    return {{"name", given},
            {"family", a.family},
            {"equation", model.program().text()},
            {"layers", a.layers},
            {"dim", a.dim},
            {"heads", a.heads},
            {"kv_heads", a.kv_heads},
            {"head_dim", a.head_dim},
            {"ffn_dim", a.ffn_dim},
            {"vocab", a.vocab},
            {"positions", a.positions},
            {"norm", a.norm},
            {"parameters", model.layout().count()},
            {"dtype", model.dtype()}};
}

ExitCode run(const Flags& flags) {
    if (flags.threads > 0) {
        set_threads(flags.threads);
    }
    const std::filesystem::path folder = model::locate(flags.model);
    const std::vector<std::int32_t> ids = read_tokens(flags, folder);
    const model::Model<float> model = model::load_model(folder);
    const model::Architecture& architecture = model.architecture();
    for (const std::string& note : model.notes()) {
        print_error(fmt::format("flyball: note: {}: {}\n", flags.model, note));
    }
    const Wanted wanted = parse_what(flags, architecture);
    model::check_length(architecture, ids.size());
    check_memory(architecture, ids.size(), wanted);

    const auto start = std::chrono::steady_clock::now();
    Recorder recorder(architecture, ids.size(), wanted);
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
    const Json described = model_json(flags.model, model);
    if (flags.json) {
        Json document = {
            {"model", described}, {"tokens", ids.size()}, {"loss", loss}, {"finite", finite}, {"seconds", seconds}};
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
        const auto flags = std::make_shared<Flags>();
        app.add_option("MODEL", flags->model,
                       "a folder with config.json and model.safetensors, or an id in the local Hugging Face cache")
            ->required();
        app.add_option("--text", flags->text, "a text, read by the model's own tokenizer")->type_name("FILE");
        app.add_option("--ids", flags->ids, "token ids with commas between them, or @FILE")->type_name("LIST");
        app.add_option("--length", flags->length, "use L tokens at most: a text loses its end, not its [CLS] and [SEP]")
            ->type_name("L")
            ->check(whole_number(1));
        app.add_option("--save", flags->save, "write a safetensors file")->type_name("FILE");
        app.add_option("--what", flags->what, "what to save: logits,hidden,attention (default: all there is)")
            ->type_name("LIST");
        app.add_option("--threads", flags->threads,
                       "threads (default: the CPUs there are); results do not depend on it")
            ->check(whole_number(0));
        app.add_flag("--json", flags->json, "print one JSON document");
        return [flags] { return run(*flags); };
    };
    return command;
}

}  // namespace flyball::cli
