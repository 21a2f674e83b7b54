// The terminal's view of a depth report.
#include "cli/inspect_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "report/text.hpp"

namespace flyball::cli {

namespace {

using inspect::LayerReport;

constexpr std::size_t inspect_columns = 79;

// In at most six characters.
std::string cell(double value) {
    if (!std::isfinite(value)) {
        return "-";
    }
    const double size = std::fabs(value);
    if (size != 0 && (size < 1e-3 || size >= 1e5)) {
        return fmt::format("{:.0e}", value);
    }
    const int before = size < 1 ? 1 : 1 + static_cast<int>(std::log10(size));
    return fmt::format("{:.{}f}", value, std::clamp(4 - before, 0, 3));
}

struct Column {
    const char* head;
    double LayerReport::*value;
    const char* meaning;
    double LayerReport::*instead = nullptr;  // where this one was measured too, there is no room for both
};

const std::vector<Column>& inspect_table_columns() {
    using R = LayerReport;
    static const std::vector<Column> columns = {
        {"length", &R::norm_median, "median length of a token's vector after the block"},
        {"cosine", &R::cosine, "mean cosine of two tokens"},
        {"rank", &R::effective_rank, "directions that the tokens of a window fill"},
        {"attn", &R::attention_ratio, "what attention adds, as a share of the stream"},
        {"ffn", &R::ffn_ratio, "the same of the feed-forward network"},
        {"turn", &R::angular_distance, "angle between the streams before and after the block, over pi"},
        {"pred", &R::angular_predicted, "what the equation predicts for it"},
        {"entr", &R::entropy, "entropy of attention in nats", &R::drop},
        {"sink", &R::sink, "attention's weight on the first token", &R::lens_loss},
        {"grad", &R::gradient, "length of the gradient"},
        {"drop", &R::drop, "loss increase when the block is left out"},
        {"lens", &R::lens_loss, "loss if the model ended here"}};
    return columns;
}

bool has_any(const std::vector<LayerReport>& layers, double LayerReport::*value) {
    return std::any_of(layers.begin(), layers.end(), [&](const LayerReport& l) { return std::isfinite(l.*value); });
}

bool is_shown(const Column& column, const inspect::Report& report) {
    const bool gives_way = column.instead != nullptr && has_any(report.layers, column.instead);
    return has_any(report.layers, column.value) && !gives_way;
}

std::string layer_table(const inspect::Report& report) {
    std::vector<Column> shown = inspect_table_columns();
    std::erase_if(shown, [&](const Column& column) { return !is_shown(column, report); });
    std::vector<std::string> heads = {"block"};
    for (const Column& column : shown) {
        heads.emplace_back(column.head);
    }
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& name, const LayerReport& layer) {
        std::vector<std::string>& row = rows.emplace_back(std::vector<std::string>{name});
        for (const Column& column : shown) {
            row.push_back(cell(layer.*column.value));
        }
    };
    add("embed", report.embedding);
    for (std::size_t l = 0; l < report.layers.size(); ++l) {
        add(std::to_string(l), report.layers[l]);
    }
    return report::text_table(heads, rows);
}

// Of the columns that any of the tables has.
std::string legend(const std::vector<Inspected>& models) {
    std::string text;
    for (const Column& column : inspect_table_columns()) {
        const auto shows = [&](const Inspected& one) { return is_shown(column, one.report); };
        if (std::any_of(models.begin(), models.end(), shows)) {
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", column.head, column.meaning);
        }
    }
    return report::text_lines(text + ".", inspect_columns);
}

std::string lens_words(const Inspected& model) {
    if (model.report.lens_top.empty() || !model.spelling) {
        return "";
    }
    const std::vector<std::optional<std::int32_t>>& top = model.report.lens_top;
    std::string text = "Most likely next token after the text, if the model ended after block";
    for (std::size_t begin = 0; begin < top.size();) {
        std::size_t end = begin;
        while (end + 1 < top.size() && top[end + 1] == top[begin]) {
            ++end;
        }
        text += fmt::format("{} {}{}: {}", begin == 0 ? "" : ",", begin, begin == end ? "" : fmt::format("-{}", end),
                            top[begin] ? flyball::quoted(model.spelling(*top[begin])) : "none");
        begin = end + 1;
    }
    text += ".";
    return "\n" + report::text_lines(text, inspect_columns, "", "  ");
}

std::string comparison(const std::vector<Inspected>& models) {
    std::vector<std::vector<std::string>> rows;
    std::string names;
    for (const Inspected& one : models) {
        const inspect::Report& r = one.report;
        double turn = 0;
        double ratio = 0;
        for (const LayerReport& layer : r.layers) {
            turn += layer.angular_distance;
            ratio += layer.angular_ratio / static_cast<double>(r.layers.size());
        }
        const std::string number = std::to_string(rows.size() + 1);
        names += fmt::format("{}{} is {}", names.empty() ? "" : ", ", number, one.name);
        rows.push_back({number, cell(r.loss), measure::name(r.growth.kind), model::name(r.bound),
                        cell(r.layers.front().norm_median), cell(r.layers.back().norm_median),
                        cell(r.layers.back().cosine), cell(turn), cell(ratio),
                        cell(r.layers.front().gradient / r.layers.back().gradient)});
    }
    // Models by number: names may be as wide as the terminal.
    return report::text_table({"no.", "loss", "growth", "bound", "first", "last", "cos", "turn", "m/p", "grad"}, rows) +
           report::text_lines(
               fmt::format("no.: {}; growth: how the length grows; bound: what the equation promises; first, last: "
                           "median length after these blocks; cos: mean cosine of two tokens at the end; turn: sum "
                           "over blocks; "
                           "m/p: measured over predicted turn, mean; grad: gradient after the first block over that "
                           "after the last.",
                           names),
               inspect_columns);
}

}  // namespace

std::string inspect_text(const std::vector<Inspected>& models) {
    std::string text;
    for (const Inspected& one : models) {
        text += report::text_lines(fmt::format("{}: {}", one.name, one.equation), inspect_columns) + "\n";
        text += layer_table(one.report) + "\n";
        const std::vector<std::string> lines = inspect::summary(one.report, one.spelling);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            text += report::text_lines(lines[i], inspect_columns, fmt::format("{:>2}. ", i + 1), "    ");
        }
        text += lens_words(one) + "\n";
    }
    if (models.size() > 1) {
        text += comparison(models) + "\n";
    }
    return text + legend(models);
}

}  // namespace flyball::cli
