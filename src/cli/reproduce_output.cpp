#include "cli/reproduce_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.hpp"
#include "report/text.hpp"

namespace flyball::cli {

using claims::Claim;
using claims::Value;

std::string Reproduced::note() const {
    return claim.note.empty() || measurement.note.empty() ? claim.note + measurement.note
                                                          : claim.note + "; " + measurement.note;
}

namespace {

constexpr std::size_t few = 3;

// Room for predicted and measured each beside ids and verdicts; --json and claims.md have all of it.
std::size_t longest_cell() {
    constexpr int others = 33 + 15 + 3 * 2 + 1;  // ids, verdicts, gaps
    const int columns = stdout_is_terminal() ? terminal_columns() : 150;
    return static_cast<std::size_t>(std::max(18, (columns - others) / 2));
}

Json value_json(const Value& value) {
    return std::visit([](const auto& content) { return Json(content); }, value);
}

std::string cell(const Value& value) {
    std::string text = claims::text_of(value);
    return text.size() <= longest_cell() ? text : text.substr(0, longest_cell() - 3) + "...";
}

std::string shown_verdict(const Reproduced& result) {
    std::string text = claims::name(result.measurement.verdict);
    return result.as_recorded() ? text : fmt::format("{} (recorded: {})", text, claims::name(result.claim.expected));
}

// Sources in the order of the ledger, each once.
template <class Item, class Source>
std::vector<std::string> sources_of(const std::vector<Item>& items, const Source& source) {
    std::vector<std::string> found;
    for (const Item& item : items) {
        if (std::find(found.begin(), found.end(), source(item)) == found.end()) {
            found.push_back(source(item));
        }
    }
    return found;
}

constexpr const char* page_head = R"(# Claims

Every claim of "Normalization in Attention Dynamics" (Karagodin, Ge, Polyanskiy, Rigollet, arXiv:2510.22026) that can be
run, and what we found beyond it. This page is `./flyball reproduce --markdown`; the numbers are in what a run writes:

```console no-run
$ ./flyball reproduce --quick                          # under a minute
$ ./flyball reproduce --out claims                     # larger sizes, more seeds, figures
$ ./flyball reproduce --only dynamics-table-peri-ln    # everything about one claim
```

Each claim has one experiment. Its prediction is a formula typed from the paper, its measurement comes from the equation
(velocities by dual numbers, particle runs, the reduced law), and the verdict from comparing the two: `holds`,
`holds-corrected` (not as stated, but as the remark says), `fails`, `not-tested`. The program exits with 1 when a verdict
is not the one recorded here.

Tolerances are such that the nearest wrong statement would not pass: for every claim a test puts one in the place of the
prediction (2 % off, the next exponent, n for n - 1, a bound without its slope) and sees the verdict flip.

)";

std::string in_full(const Reproduced& result) {
    std::string text = fmt::format("{}\n  {}\n", result.claim.id, result.claim.statement);
    const auto line = [&](const char* label, const std::string& content) {
        if (!content.empty()) {
            text += fmt::format("  {:<12}{}\n", label, content);
        }
    };
    line("source", result.claim.source);
    line("predicted", claims::text_of(result.measurement.predicted));
    line("measured", claims::text_of(result.measurement.measured));
    line("tolerance", claims::text_of(result.measurement.tolerance));
    line("verdict", shown_verdict(result));
    line("note", result.note());
    line("took", fmt::format("{:.1f} s", result.seconds));
    return text + "\n";
}

}  // namespace

Json reproduce_json(const std::vector<Reproduced>& results) {
    Json list = Json::array();
    for (const Reproduced& result : results) {
        Json row = Json::object();
        row["id"] = result.claim.id;
        row["statement"] = result.claim.statement;
        row["source"] = result.claim.source;
        row["predicted"] = value_json(result.measurement.predicted);
        row["measured"] = value_json(result.measurement.measured);
        row["tolerance"] = value_json(result.measurement.tolerance);
        row["verdict"] = claims::name(result.measurement.verdict);
        row["note"] = result.note();
        row["expected_verdict"] = claims::name(result.claim.expected);
        row["seconds"] = result.seconds;
        list.push_back(std::move(row));
    }
    return {{"claims", std::move(list)}};
}

std::string reproduce_summary(const std::vector<Reproduced>& results) {
    std::vector<claims::Judged> judged;
    for (const Reproduced& result : results) {
        judged.push_back({result.claim.expected, result.measurement.verdict});
    }
    return claims::summary(judged);
}

std::string reproduce_text(const std::vector<Reproduced>& results) {
    std::string text;
    if (results.size() <= few) {
        for (const Reproduced& result : results) {
            text += in_full(result);
        }
        return text;
    }
    // One table, so that columns line up over all sources; a source is a row of its own.
    std::vector<std::vector<std::string>> rows;
    const auto source_of = [](const Reproduced& result) { return result.claim.source; };
    for (const std::string& source : sources_of(results, source_of)) {
        if (!rows.empty()) {
            rows.push_back({""});
        }
        rows.push_back({source});
        for (const Reproduced& result : results) {
            if (result.claim.source == source) {
                rows.push_back({"  " + result.claim.id, cell(result.measurement.predicted),
                                cell(result.measurement.measured), shown_verdict(result)});
            }
        }
    }
    return report::text_table({"claim", "predicted", "measured", "verdict"}, rows) + "\n";
}

std::string ledger_list(const std::vector<Claim>& claims) {
    std::vector<std::vector<std::string>> rows;
    for (const Claim& claim : claims) {
        rows.push_back({claim.id, claim.source, claims::name(claim.expected)});
    }
    return report::text_table({"id", "source", "recorded verdict"}, rows);
}

std::string ledger_page(const std::vector<Claim>& claims) {
    std::vector<claims::Judged> judged;
    for (const Claim& claim : claims) {
        judged.push_back({claim.expected, claim.expected});
    }
    std::string summary = claims::summary(judged);
    summary = summary.substr(0, summary.rfind(';'));
    std::string text = fmt::format("{}{}.\n", page_head, summary);
    const auto source_of = [](const Claim& claim) { return claim.source; };
    for (const std::string& source : sources_of(claims, source_of)) {
        text += fmt::format("\n## {}\n\n| id | statement | verdict | remark |\n|---|---|---|---|\n",
                            source == "finding" ? "Findings of ours" : source);
        for (const Claim& claim : claims) {
            if (claim.source == source) {
                text += fmt::format("| {} | {} | {} | {} |\n", claim.id, claims::markdown(claim.statement),
                                    claims::name(claim.expected), claims::markdown(claim.note));
            }
        }
    }
    return text;
}

}  // namespace flyball::cli
