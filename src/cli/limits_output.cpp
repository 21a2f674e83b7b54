// The terminal's view of an analysis of attention.
#include "cli/limits_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number.hpp"
#include "limits/diagnosis.hpp"
#include "report/text.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t limits_columns = 79;

std::string shortly(double value, int digits = 3) {
    return std::isfinite(value) ? format_short(value, digits) : std::string("-");
}

// Several normalisers side by side.
std::string comparison(const std::vector<limits::Result>& results) {
    std::vector<std::vector<std::string>> rows;
    const std::size_t told_n = limits::diagnosis_n(results.front().heads);
    for (const limits::Result& result : results) {
        const limits::KsCurve& critical = result.critical.back();
        double entropy = 0;
        double active = 0;
        for (const limits::HeadResult& head : result.heads) {
            entropy += head.entropy_share / static_cast<double>(result.heads.size());
            active += head.active_share / static_cast<double>(result.heads.size());
        }
        const auto told = std::find_if(result.separation.begin(), result.separation.end(),
                                       [&](const auto& row) { return row.n == told_n; });
        rows.push_back({result.attention, shortly(result.by_length.front().share),
                        shortly(result.by_length.back().share), shortly(active), shortly(entropy),
                        told == result.separation.end() ? "-" : shortly(told->ratio),
                        critical.by_distance.n ? std::to_string(*critical.by_distance.n) : "none"});
    }
    const limits::Result& first = results.front();
    return report::text_table({"attention", fmt::format("top5@{}", first.by_length.front().length),
                               fmt::format("top5@{}", first.by_length.back().length), "active", "entropy",
                               told_n == 0 ? "Ns/N" : fmt::format("Ns/N@{}", told_n), "critical N"},
                              rows);
}

}  // namespace

std::string limits_text(const std::vector<limits::Result>& results, const std::string& about) {
    std::string text = report::text_lines(about, limits_columns) + "\n";
    const std::vector<std::string> lines = limits::summary(results);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += report::text_lines(lines[i], limits_columns, fmt::format("{}. ", i + 1), "   ");
    }
    if (results.size() > 1) {
        text += "\n" + comparison(results);
    }
    text += "\n" + report::text_lines(limits::guidance(results), limits_columns);
    return text;
}

std::string limits_row_text(const Json& row, const std::vector<std::string>& words) {
    std::string text = fmt::format("block {}, head {}, token {}: {} keys, {} of its logits at T = {}, vectors: {}\n\n",
                                   row.at("layer").get<int>(), row.at("head").get<int>(), row.at("row").get<int>(),
                                   row.at("keys").get<int>(), row.at("attention").get<std::string>(),
                                   shortly(row.at("temperature").get<double>()), row.at("vectors").get<std::string>());
    const auto value = [](const Json& json) { return json.is_number() ? shortly(json.get<double>(), 6) : "-"; };
    std::vector<std::vector<std::string>> rows;
    constexpr std::size_t shown = 10;
    const auto first = row.at("first_key").get<std::size_t>();
    for (std::size_t i = 0; i < std::min(shown, row.at("order").size()); ++i) {
        const auto key = row.at("order")[i].get<std::size_t>();
        rows.push_back({std::to_string(i + 1), std::to_string(key), key < words.size() ? words[key] : "",
                        value(row.at("logits")[key - first]), value(row.at("weights")[key - first])});
    }
    text += report::text_table({"", "key", "token", "q.k", "weight"}, rows) + "\n";
    rows.clear();
    for (const Json& at : row.at("distance")) {
        rows.push_back({value(at.at("n")), value(at.at("mass")), value(at.at("selected")), value(at.at("true")),
                        value(at.at("expected")), value(at.at("expected_rms")), value(at.at("bound"))});
    }
    text += report::text_table({"N", "weight", "|s|", "distance", "expected", "rms", "bound"}, rows) + "\n";
    rows.clear();
    for (const Json& at : row.at("separation")) {
        rows.push_back({value(at.at("n")), value(at.at("ratio")), value(at.at("r")), value(at.at("lower")),
                        value(at.at("upper")), value(at.at("lower_exact")), value(at.at("upper_exact"))});
    }
    text += report::text_table({"N", "Ns/N", "r", "lower", "upper", "exact lower", "exact upper"}, rows) + "\n";
    if (const Json& jacobian = row.at("jacobian"); jacobian.is_object()) {
        text += fmt::format(
            "Jacobian at T = {}: spectral {}, infinity {}, infinity to one {} to {}; bound 1/(2T) {}, as printed {}\n",
            value(jacobian.at("temperature")), value(jacobian.at("spectral")), value(jacobian.at("infinity")),
            value(jacobian.at("infinity_to_one").at("lower")), value(jacobian.at("infinity_to_one").at("upper")),
            value(jacobian.at("bound")), value(jacobian.at("bound_paper")));
    }
    rows.clear();
    const Json& sensitivity = row.at("sensitivity");
    for (std::size_t i = 0; i + 2 < sensitivity.size(); i += 3) {
        rows.push_back({value(sensitivity[i].at("temperature")), value(sensitivity[i].at("g")),
                        value(sensitivity[i + 1].at("g")), value(sensitivity[i + 2].at("g"))});
    }
    return text + "\n" + report::text_table({"T", "g, eps 0.001", "g, eps 0.1", "g, eps 10"}, rows);
}

}  // namespace flyball::cli
