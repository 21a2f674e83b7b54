// `flyball forward`: a checkpoint on a text; its loss, and what it computes as a file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/forward_output.hpp"
#include "cli/model_input.hpp"
#include "cli/model_notes.hpp"
#include "cli/terminal.hpp"
#include "core/file.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "model/finite.hpp"
#include "model/locate.hpp"
#include "model/pass.hpp"
#include "model/recorder.hpp"

namespace flyball::cli {

namespace {

constexpr std::string_view where_forward = "cli.forward";

struct ForwardFlags {
    std::string model;
    InputFlags input;
    std::string save;
    std::string what;
    std::size_t length = 0;  // 0: all there is
    std::size_t stride = 0;  // 0: the text is one window
    std::size_t top = 0;     // 0: none
    bool per_token = false;
    bool allow_long = false;

    bool wants_tokens() const { return per_token || top > 0; }
};

void check_flags(const ForwardFlags& flags) {
    flags.input.check(where_forward);
    const auto refuse = [](std::string_view got, std::string_view expected, std::string_view hint = "") {
        throw Error(ErrorKind::usage, where_forward, got, expected, hint);
    };
    if (!flags.what.empty() && flags.save.empty()) {
        refuse("--what without --save", "a file to write it to", "add --save FILE");
    }
    if (flags.stride > 0 && !flags.what.empty()) {
        refuse("--what with --stride", "one of them", "with --stride, --save holds the ids and the loss of each token");
    }
    if (flags.stride > 0 && flags.top > 0) {
        refuse("--top with --stride", "one of them", "--per-token shows the loss of each token");
    }
    if (!flags.input.embeddings.empty() && (flags.wants_tokens() || flags.stride > 0)) {
        refuse(fmt::format("{} with --embeddings", flags.stride > 0 ? "--stride"
                                                   : flags.top > 0  ? "--top"
                                                                    : "--per-token"),
               "a text or token ids", "rows of embeddings do not say which tokens they are");
    }
}

void check_head(const ForwardFlags& flags, const model::Architecture& a) {
    if (flags.wants_tokens() && !a.has_head) {
        throw Error(ErrorKind::usage, where_forward,
                    fmt::format("{} for a {} model without a language-model head",
                                flags.top > 0 ? "--top" : "--per-token", a.family),
                    "a model that predicts tokens", "its hidden states and attention can be saved");
    }
}

void check_forward_memory(const model::Architecture& a, std::size_t tokens, double needed) {
    needed += model::memory_estimate(a, tokens, model::Keep::nothing);
    const double available = available_memory();
    if (needed > available) {
        throw Error(ErrorKind::resource, where_forward,
                    fmt::format("{} tokens, which need about {:.1f} GB", tokens, needed * 1e-9),
                    fmt::format("at most the {:.1f} GB of memory that are free", available * 1e-9),
                    "use a smaller --length, or save less with --what");
    }
}

// The loss of row i is that of the token behind it.
std::vector<double> of_tokens(const std::vector<double>& row_losses) {
    std::vector<double> losses = {std::nan("")};
    losses.insert(losses.end(), row_losses.begin(), row_losses.end() - 1);
    return losses;
}

ForwardReport run_once(const ForwardFlags& flags, const model::Model<float>& model, const ModelInput& given,
                       model::Recorder& recorder) {
    const model::Architecture& architecture = model.architecture();
    ForwardReport report;
    if (flags.top > 0) {
        report.top.emplace(architecture, given.tokens(), flags.top).listen(recorder.taps());
    }
    const auto start = std::chrono::steady_clock::now();
    model::Batch batch(given.tokens());
    batch.allow_long = flags.allow_long;
    model::Pass<float> pass(model, batch);
    model::forward(pass, given.input, recorder.taps());
    report.loss = std::nan("");
    const bool has_loss = architecture.has_head && !given.input.has_rows() && given.tokens() > 1;
    if (architecture.has_head) {
        const std::vector<double> losses = pass.losses(model::targets_of(given.input), recorder.taps());
        double total = 0;
        for (std::size_t i = 0; has_loss && i + 1 < losses.size(); ++i) {
            total += losses[i];
        }
        report.loss = has_loss ? total / static_cast<double>(losses.size() - 1) : report.loss;
        report.per_token = flags.wants_tokens();
        report.token_losses = report.per_token ? of_tokens(losses) : std::vector<double>();
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.finite =
        model::all_finite(pass.readout()) && (!has_loss || std::isfinite(report.loss)) && recorder.is_finite();
    return report;
}

ForwardReport run_strides(const ForwardFlags& flags, const model::Model<float>& model, const ModelInput& given,
                          const model::Strides& strides) {
    ForwardReport report;
    const auto start = std::chrono::steady_clock::now();
    Progress progress("forward", given.tokens(), progress_sink());
    std::size_t shown = 0;
    report.strides = strides;
    report.score = model::score_by_strides(model, given.input.ids, strides, [&](std::size_t done) {
        progress.advance(done - shown);
        shown = done;
    });
    progress.finish();
    report.loss = report.score->mean.loss;
    report.finite = report.score->finite;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.per_token = flags.per_token;
    report.token_losses = report.score->losses;
    return report;
}

ExitCode show_report(const ForwardFlags& flags, const Common& common, const model::Model<float>& model,
                     const ModelInput& given, const model::Recorder& recorder, const ForwardReport& report) {
    if (!report.finite) {
        warn_not_finite(flags.model, model);
    }
    if (!flags.save.empty()) {
        const std::filesystem::path file = flags.save;
        remove_abandoned(file.parent_path(), file.filename().string());
        recorder.save(flags.save, ForwardTensors(report, given).tensors());
    }
    if (common.json) {
        print_out(dump_json(forward_document(report, given, flags.model, model), 2) + "\n");
        return ExitCode::done;
    }
    if (report.per_token) {
        print_out(token_table(report, given) + "\n");
    }
    print_out(forward_text(report, given, flags.model, model, flags.save));
    return ExitCode::done;
}

ExitCode run(const ForwardFlags& flags, const Common& common) {
    check_flags(flags);
    const std::filesystem::path folder = model::locate(flags.model);
    const model::Model<float> model = model::load_model(folder);
    const model::Architecture& architecture = model.architecture();
    print_notes(flags.model, model);
    check_head(flags, architecture);
    std::vector<model::Recorded> recorded;
    if (!flags.save.empty() && flags.stride == 0) {
        recorded =
            flags.what.empty() ? model::usual_recorded(architecture) : model::parse_recorded(flags.what, architecture);
    }
    const bool whole = flags.length == 0 || flags.stride > 0;  // with a stride, --length is that of a window
    const ModelInput given = read_input(where_forward, flags.input, folder, model, whole ? all_tokens : flags.length);
    const std::size_t tokens = given.tokens();
    const std::size_t longest = flags.length > 0 ? flags.length : architecture.positions;
    const std::size_t window = flags.stride > 0 ? longest : tokens;

    model::Batch batch(window);
    batch.allow_long = flags.allow_long;
    model::check_length(architecture, batch);
    check_forward_memory(
        architecture, std::min(window, tokens),
        model::memory_estimate(architecture, tokens, recorded) +
            12.0 * static_cast<double>(tokens) * static_cast<double>(std::min(flags.top, architecture.vocab) + 1));
    catch_interrupts();
    const StopOn stop(&interrupted());
    try {
        model::Recorder recorder(architecture, tokens, recorded);
        const ForwardReport report = flags.stride > 0
                                         ? run_strides(flags, model, given, {window, flags.stride, flags.allow_long})
                                         : run_once(flags, model, given, recorder);
        return show_report(flags, common, model, given, recorder, report);
    } catch (const Stopped&) {
        print_error("flyball: interrupted\n");
        return ExitCode::interrupted;
    }
}

}  // namespace

Command forward_command() {
    Command command;
    command.name = "forward";
    command.summary = "run a checkpoint on a text: loss, logits, hidden states, attention";
    command.about =
        "Runs a model on a text once and shows its loss; it can save logits, hidden states and attention to "
        "a file.";
    command.example =
        "flyball forward openai-community/gpt2 --text book.txt --length 1024\n"
        "  flyball forward openai-community/gpt2 --text book.txt --length 1024 --stride 512   # perplexity of all of "
        "it\n"
        "  flyball forward openai-community/gpt2 --string 'The cat sat on the' --top 5\n"
        "  head -c 4000 book.txt | flyball forward openai-community/gpt2 --text -\n"
        "  flyball forward ./gpt2 --ids 464,3290,318 --save out.safetensors --what hidden,attention.3.5,branch.4.ffn";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<ForwardFlags>();
        begin_group(app, "model");
        add_option(app, "MODEL", flags->model,
                   "a folder with config.json and model.safetensors, an id in the local Hugging Face cache, or "
                   "builtin:NAME")
            .required();
        flags->input.declare(app);
        begin_group(app, "what is computed");
        add_option(app, "--length", flags->length,
                   "use L tokens at most: a text loses its end, not its [CLS] and [SEP]; with --stride, the tokens of "
                   "a window")
            .type_name("L")
            .whole_number(1);
        add_option(app, "--stride", flags->stride,
                   "score a text of any length in windows that begin S tokens apart, each token once and with at "
                   "least L - S tokens before it (L from --length, default: the model's positions)")
            .type_name("S")
            .whole_number(1);
        add_flag(app, "--allow-long", flags->allow_long,
                 "also more tokens than the model was trained for, where its positions are rotary");
        add_flag(app, "--per-token", flags->per_token, "show the loss of each token");
        add_option(app, "--top", flags->top, "and the K tokens that the model held likeliest in its place")
            .type_name("K")
            .whole_number(1);
        begin_group(app, "output");
        add_option(app, "--save", flags->save, "write a safetensors file")
            .type_name("FILE")
            .not_empty("the name of a file");
        add_option(app, "--what", flags->what,
                   "what to save: some of logits, hidden, attention, scores, branches, stream, query, key, value, "
                   "branch, with "
                   "commas between them "
                   "(default: the first three); blocks and heads count from 0, as in attention.3, attention.3.5, "
                   "query.2, branch.4.ffn; hidden.N and stream.N have passed N blocks")
            .type_name("LIST")
            .not_empty("names such as hidden,attention.3");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
