#include "claims/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/csv.hpp"
#include "core/number.hpp"
#include "report/text.hpp"

namespace flyball::claims {

namespace {

std::string csv_cell(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? format_double(*number) : flyball::csv_cell(text_of(value), Quotes::always);
}

// Whatever claims need, each once.
std::vector<Need> needs_of(const std::vector<Claim>& claims) {
    std::vector<Need> found;
    for (const Claim& claim : claims) {
        for (const Need& need : claim.needs) {
            if (std::none_of(found.begin(), found.end(), [&](const Need& one) { return one.what == need.what; })) {
                found.push_back(need);
            }
        }
    }
    return found;
}

}  // namespace

std::vector<std::string> sources_of(const std::vector<Claim>& claims) {
    std::vector<std::string> found;
    for (const Claim& claim : claims) {
        if (std::find(found.begin(), found.end(), claim.source) == found.end()) {
            found.push_back(claim.source);
        }
    }
    return found;
}

std::string ledger_page(std::string_view head, const std::vector<Group>& groups) {
    std::string text(head);
    for (const Group& group : groups) {
        const std::vector<Claim> claims = claims_of(group);
        text += fmt::format("\n{}\n{}.\n", group.head, summary(claims));
        for (const Need& need : needs_of(claims)) {
            text += fmt::format("\nNeeds {}: `{}`\n", need.what, need.how);
        }
        for (const std::string& source : sources_of(claims)) {
            text += fmt::format("\n### {}\n\n| id | statement | verdict | remark |\n|---|---|---|---|\n",
                                source == "finding" ? "Findings of ours" : source);
            for (const Claim& claim : claims) {
                if (claim.source == source) {
                    text += fmt::format("| {} | {} | {} | {} |\n", claim.id, markdown(claim.statement),
                                        name(claim.expected), markdown(claim.note));
                }
            }
        }
    }
    return text;
}

std::string ledger_list(const std::vector<Claim>& claims) {
    std::vector<std::vector<std::string>> rows;
    for (const Claim& claim : claims) {
        rows.push_back({claim.id, claim.source, name(claim.expected)});
    }
    std::string text = report::text_table({"id", "source", "recorded verdict"}, rows);
    for (const Need& need : needs_of(claims)) {
        text += need.there() ? fmt::format("needs {}: here\n", need.what)
                             : fmt::format("needs {}, which is not here: {}\n", need.what, need.how);
    }
    return text;
}

Json json_of(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) {
        return *number;
    }
    const auto* words = std::get_if<std::string>(&value);
    return words != nullptr ? Json(*words) : Json(nullptr);
}

Value value_of(const Json& json, Verdict verdict) {
    if (json.is_string()) {
        return json.get<std::string>();
    }
    if (json.is_number()) {
        return json.get<double>();
    }
    const bool run = verdict != Verdict::skipped && verdict != Verdict::not_tested;
    return run ? Value(std::nan("")) : Value();
}

Json results_json(const std::vector<Judged>& results) {
    Json list = Json::array();
    for (const Judged& result : results) {
        Json row = Json::object();
        row["id"] = result.claim.id;
        row["statement"] = result.claim.statement;
        row["source"] = result.claim.source;
        row["predicted"] = json_of(result.measurement.predicted);
        row["measured"] = json_of(result.measurement.measured);
        row["tolerance"] = json_of(result.measurement.tolerance);
        row["verdict"] = name(result.measurement.verdict);
        row["note"] = result.note();
        row["expected_verdict"] = name(result.claim.expected);
        row["seconds"] = result.seconds;
        row["figures"] = result.pictures;  // names of files; none where no folder was asked for
        list.push_back(std::move(row));
    }
    return {{"claims", std::move(list)}};
}

std::string results_csv(const std::vector<Judged>& results) {
    std::string text = "id,source,predicted,measured,tolerance,verdict,recorded,seconds\n";
    for (const Judged& result : results) {
        const Measurement& found = result.measurement;
        text += fmt::format("{},{},{},{},{},{},{},{}\n", result.claim.id,
                            flyball::csv_cell(result.claim.source, Quotes::always), csv_cell(found.predicted),
                            csv_cell(found.measured), csv_cell(found.tolerance), name(found.verdict),
                            name(result.claim.expected), format_double(result.seconds));
    }
    return text;
}

std::string results_page(const std::vector<Judged>& results) {
    std::string text = fmt::format("# Claims, measured\n\n{}.\n", summary(results));
    for (const std::string& sentence : skipped_because(results)) {
        text += fmt::format("\n{}\n", markdown(sentence));
    }
    text +=
        "\n| id | statement | source | predicted | measured | tolerance | verdict | note "
        "|\n|---|---|---|---|---|---|---|---|\n";
    for (const Judged& result : results) {
        text += fmt::format(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n", result.claim.id, markdown(result.claim.statement),
            markdown(result.claim.source), markdown(text_of(result.measurement.predicted)),
            markdown(text_of(result.measurement.measured)), markdown(text_of(result.measurement.tolerance)),
            name(result.measurement.verdict), markdown(result.note()));
    }
    for (const Judged& result : results) {
        for (const std::string& picture : result.pictures) {
            text += fmt::format("\n![{0}]({0}.svg)\n", picture);
        }
    }
    return text;
}

std::vector<std::string> skipped_because(const std::vector<Judged>& results) {
    std::vector<std::pair<std::string, std::string>> reasons;  // and who has them
    for (const Judged& result : results) {
        if (result.measurement.verdict != Verdict::skipped) {
            continue;
        }
        const std::string& why = result.measurement.note;
        const auto known =
            std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == why; });
        if (known == reasons.end()) {
            reasons.emplace_back(why, result.claim.id);
        } else {
            known->second += ", " + result.claim.id;
        }
    }
    std::vector<std::string> sentences;
    for (const auto& [why, who] : reasons) {
        sentences.push_back(fmt::format("Skipped, without numbers and figures: {} ({})", who, why));
    }
    return sentences;
}

}  // namespace flyball::claims
