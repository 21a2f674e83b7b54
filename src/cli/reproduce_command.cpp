// `flyball reproduce`: the claims of the papers, each with prediction, measurement and verdict.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/flags.hpp"
#include "cli/report_output.hpp"
#include "cli/reproduce_output.hpp"
#include "cli/terminal.hpp"
#include "core/config.hpp"
#include "core/file.hpp"
#include "core/parallel.hpp"
#include "core/progress.hpp"
#include "core/suggest.hpp"
#include "model/locate.hpp"

namespace flyball::cli {

using claims::Judged;

namespace {

// Of docs/claims.md.
constexpr const char* page_head = R"(# Claims

The claims of three papers that a program can test, with one experiment for each, and claims of our own. This page is written by
`./flyball reproduce --markdown`; a run prints the numbers:

```console no-run
$ ./flyball reproduce --quick                          # about two minutes
$ ./flyball reproduce --out claims                     # larger sizes, more seeds, figures
$ ./flyball reproduce --only dynamics-table-peri-ln    # everything about one claim
```

A prediction is a formula typed from the paper, the measurement shares no code with it, and the verdict comes from
comparing the two: `holds`, `holds-corrected` (not as stated, but as the remark says), `fails`, or `undecided` where
training runs with different seeds differ by more than the effect that was looked for. A claim that is `not-tested` has no
experiment, and the remark says why. A run may also say `skipped`: the experiment needs a checkpoint
or a file that is not on this machine, and the note says which and how to get it. The program exits with 1 when a claim
was run and its verdict is not the one recorded here.

Tolerances are chosen so that a statement which is nearly the same but wrong would fail: for every claim a test replaces the
prediction by such a statement (2 % off, the next exponent, n in place of n - 1, a bound without its slope) and checks that the
verdict changes.
)";

struct ReproduceFlags {
    std::string paper = "all";
    bool quick = false;
    std::vector<std::string> only;
    std::uint64_t seed = 1;
    claims::Subject subject;
    FolderFlags folder;
    bool list = false;
    bool markdown = false;
};

std::vector<claims::Claim> chosen(const ReproduceFlags& flags) {
    std::vector<claims::Claim> all = claims::ledger(flags.paper);
    for (claims::Claim& claim : all) {
        claim.is_elsewhere = claim.of_one_model && !(flags.subject.model.empty() && flags.subject.text.empty());
    }
    if (flags.only.empty()) {
        return all;
    }
    std::vector<std::string> ids;
    for (const claims::Claim& claim : all) {
        ids.push_back(claim.id);
    }
    for (const std::string& id : flags.only) {
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
            const std::string near = nearest(id, ids);
            throw Error(ErrorKind::usage, "cli.reproduce", fmt::format("the unknown claim {}", flyball::quoted(id)),
                        "an id of the ledger",
                        near.empty() ? "flyball reproduce --list shows them" : fmt::format("did you mean {}?", near));
        }
    }
    std::vector<claims::Claim> some;
    for (claims::Claim& claim : all) {
        if (std::find(flags.only.begin(), flags.only.end(), claim.id) != flags.only.end()) {
            some.push_back(std::move(claim));
        }
    }
    return some;
}

std::vector<ConfigEntry> configuration(const ReproduceFlags& flags) {
    std::vector<ConfigEntry> entries = {{"reproduce.paper", {flags.paper}, ""},
                                        {"reproduce.quick", {flags.quick ? "true" : "false"}, ""},
                                        {"reproduce.seed", {std::to_string(flags.seed)}, ""}};
    if (!flags.only.empty()) {
        entries.push_back({"reproduce.only", flags.only, ""});
    }
    if (!flags.subject.model.empty()) {
        entries.push_back({"reproduce.model", {flags.subject.model}, ""});
    }
    if (!flags.subject.text.empty()) {
        entries.push_back({"reproduce.text", {flags.subject.text}, ""});
    }
    return entries;
}

// What claims about one model read where a user names it. What is not there is theirs to say; a pipe can be read once.
record::Identity subject_inputs(const claims::Subject& subject) {
    record::Identity inputs;
    try {
        if (!subject.model.empty()) {
            inputs.emplace_back("contents of the model", record::model_checksum(model::locate(subject.model)));
        }
        if (std::error_code ignored; std::filesystem::is_regular_file(subject.text, ignored)) {
            inputs.emplace_back("contents of the text", record::file_checksum(subject.text));
        }
    } catch (const Error&) {
        return inputs;
    }
    return inputs;
}

std::vector<std::optional<Judged>> run_all(const ReproduceFlags& flags, const std::vector<claims::Claim>& ledger,
                                           const ReproduceFolder* folder) {
    Progress progress("reproduce", claims::ticks_per_claim * ledger.size(), progress_sink());
    claims::Judging judging{flags.quick, flags.seed, &interrupted()};
    judging.subject = flags.subject;
    std::atomic<std::uint64_t> done{0};
    judging.advanced = [&](std::uint64_t ticks) {
        const std::uint64_t all = done += ticks;
        progress.set_label(fmt::format("{} of {} claims", all / claims::ticks_per_claim, ledger.size()));
        progress.advance(ticks);
    };
    if (folder != nullptr) {
        judging.finished = [&](Judged& result) { folder->store(result); };
        judging.shelf = folder->shelf(flags.folder.resume);
        if (flags.folder.resume) {
            judging.stored = [&](const claims::Claim& claim) { return folder->load(claim); };
        }
    }
    std::vector<std::optional<Judged>> results = claims::judge_all(ledger, judging);
    progress.finish();
    return results;
}

ExitCode report(const ReproduceFlags& flags, const Common& common, const std::vector<Judged>& results,
                ReproduceFolder* folder) {
    if (folder != nullptr) {
        folder->write(results, flags.seed);
    }
    if (common.json) {
        print_out(dump_json(claims::results_json(results), 2) + "\n");
    } else {
        print_out(reproduce_text(results) + claims::summary(results) + "\n");
        print_out(folder != nullptr
                      ? fmt::format("written to {}: claims.json, claims.md, claims.csv and the figures (SVG and CSV)\n",
                                    folder->path().string())
                      : "figures and tables: add --out DIR\n");
    }
    if (folder != nullptr) {
        write_report_page(folder->path(), common);
    }
    for (const Judged& result : results) {
        if (!result.as_recorded()) {
            print_error(fmt::format("flyball: {} is recorded as {} and came out as {}\n", result.claim.id,
                                    claims::name(result.claim.expected), claims::name(result.measurement.verdict)));
        }
    }
    const bool good =
        std::all_of(results.begin(), results.end(), [](const Judged& result) { return result.as_recorded(); });
    return good ? ExitCode::done : ExitCode::bad_verdict;
}

ExitCode run(const ReproduceFlags& flags, const Common& common) {
    if (common.json && flags.markdown) {
        throw Error(ErrorKind::usage, "cli.reproduce", "--json and --markdown together", "one of them");
    }
    const std::vector<claims::Claim> ledger = chosen(flags);
    if (flags.list || flags.markdown) {
        print_out(flags.list ? common.json ? dump_json(ledger_document(ledger), 2) + "\n" : claims::ledger_list(ledger)
                             : claims::ledger_page(page_head, claims::chosen_groups(claims::groups(), flags.paper)));
        return ExitCode::done;
    }
    const record::FolderUse use = flags.folder.use("reproduce");
    const report::Sheet sheet = flags.folder.sheet("reproduce");
    std::unique_ptr<ReproduceFolder> folder;
    if (flags.folder.out) {
        folder = std::make_unique<ReproduceFolder>(*flags.folder.out, use, configuration(flags),
                                                   flags.folder.resume_command("reproduce"), sheet,
                                                   subject_inputs(flags.subject));
    }
    if (folder && folder->finished()) {
        print_out(common.json ? folder->stored_claims()
                              : fmt::format("The run in {} is complete; its claims are in claims.md and claims.json. "
                                            "Claims that it skipped are run by --force, with all others.\n",
                                            folder->path().string()));
        write_missing_report_page(folder->path(), common);
        return folder->stored_verdicts_are_recorded(ledger) ? ExitCode::done : ExitCode::bad_verdict;
    }
    if (folder) {
        folder->begin(ledger);
    }
    catch_interrupts();
    std::vector<std::optional<Judged>> found = run_all(flags, ledger, folder.get());
    std::vector<Judged> results;
    for (std::optional<Judged>& result : found) {
        if (result) {
            results.push_back(std::move(*result));
        }
    }
    if (results.size() == ledger.size()) {
        return report(flags, common, results, folder.get());
    }
    print_error(folder ? fmt::format("flyball: interrupted after {} of {} claims; go on with: {}\n", results.size(),
                                     ledger.size(), folder->resume_command())
                       : "flyball: interrupted; with --out DIR the next one can be continued where it stopped\n");
    return ExitCode::interrupted;
}

}  // namespace

Command reproduce_command() {
    Command command;
    command.name = "reproduce";
    command.summary = "run the papers' claims, each with prediction, measurement and verdict";
    command.about =
        "Runs what three papers on normalization claim, one experiment a claim, and puts the prediction "
        "beside the measurement with a verdict. It exits with 1 when a verdict is not "
        "the one on record; claims that are skipped or undecided do not count.";
    command.example =
        "flyball reproduce --quick\n"
        "  flyball reproduce --only dynamics-table-peri-ln\n"
        "  flyball reproduce dynamics --out claims\n"
        "  flyball reproduce limits --model openai-community/gpt2 --text book.txt\n"
        "  flyball reproduce stability --out trained-claims";
    command.declare = [](CLI::App& app) {
        const auto flags = std::make_shared<ReproduceFlags>();
        std::string papers;
        for (const claims::Group& group : claims::groups()) {
            papers += group.name + ", ";
        }
        begin_group(app, "claims");
        add_option(app, "PAPER,--paper", flags->paper, fmt::format("whose claims: {}or all", papers))
            .type_name("NAME")
            .capture_default_str();
        add_flag(app, "--quick", flags->quick, "smaller sizes and fewer seeds: about two minutes");
        add_list(app, "--only", flags->only, "run this claim; may be repeated").type_name("ID");
        add_flag(app, "--list", flags->list, "list the claims without running them");
        add_flag(app, "--markdown", flags->markdown, "print the page docs/claims.md without running anything");
        begin_group(app, "model of the claims about one model");
        add_option(app, "--model", flags->subject.model,
                   "a model for the claims about one model (default: builtin:pre-ln, whose verdicts are recorded)")
            .type_name("MODEL")
            .not_empty("a folder, an id in the local Hugging Face cache, or builtin:NAME");
        add_option(app, "--text", flags->subject.text, "the text for it (default: the one of the builtin models)")
            .type_name("FILE")
            .not_empty("the name of a file");
        begin_group(app, "claims");
        declare_seed(app, flags->seed);
        flags->folder.declare(app, "results, tables and figures");
        return [flags](const Common& common) { return run(*flags, common); };
    };
    return command;
}

}  // namespace flyball::cli
