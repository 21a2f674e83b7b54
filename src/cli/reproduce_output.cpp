#include "cli/reproduce_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.hpp"
#include "report/text.hpp"
#include "report/utf8.hpp"

namespace flyball::cli {

using claims::Judged;
using claims::Value;

namespace {

constexpr std::size_t few = 3;

// Room for predicted and measured each beside ids and verdicts; --json and claims.md have all of it.
std::size_t longest_cell() {
    constexpr int others = 33 + 15 + 3 * 2 + 1;  // ids, verdicts, gaps
    return static_cast<std::size_t>(std::max(18, (static_cast<int>(output_columns()) - others) / 2));
}

std::string cell(const Value& value) {
    return report::shortened(claims::text_of(value), longest_cell(), true);
}

std::string shown_verdict(const Judged& result) {
    std::string text = claims::name(result.measurement.verdict);
    return result.as_recorded() ? text : fmt::format("{} (recorded: {})", text, claims::name(result.claim.expected));
}

std::string in_full(const Judged& result) {
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

std::string reproduce_text(const std::vector<Judged>& results) {
    std::string text;
    if (results.size() <= few) {
        for (const Judged& result : results) {
            text += in_full(result);
        }
        return text;
    }
    // One table, so that columns line up over all sources; a source is a row of its own.
    std::vector<std::vector<std::string>> rows;
    std::vector<claims::Claim> all;
    for (const Judged& result : results) {
        all.push_back(result.claim);
    }
    for (const std::string& source : claims::sources_of(all)) {
        if (!rows.empty()) {
            rows.push_back({""});
        }
        rows.push_back({source});
        for (const Judged& result : results) {
            if (result.claim.source == source) {
                rows.push_back({"  " + result.claim.id, cell(result.measurement.predicted),
                                cell(result.measurement.measured), shown_verdict(result)});
            }
        }
    }
    text = report::text_table({"claim", "predicted", "measured", "verdict"}, rows) + "\n";
    for (const std::string& sentence : claims::skipped_because(results)) {
        text += sentence + "\n\n";
    }
    return text;
}

}  // namespace flyball::cli
