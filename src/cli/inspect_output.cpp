// The terminal's view of a depth report.
#include "cli/inspect_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
};

const std::vector<Column>& inspect_table_columns() {
    using R = LayerReport;
    static const std::vector<Column> columns = {
        {"length", &R::norm_median},     {"cosine", &R::cosine}, {"rank", &R::effective_rank},
        {"attn", &R::attention_ratio},   {"ffn", &R::ffn_ratio}, {"turn", &R::angular_distance},
        {"pred", &R::angular_predicted}, {"entr", &R::entropy},  {"sink", &R::sink},
        {"grad", &R::gradient},          {"drop", &R::drop},     {"lens", &R::lens_loss}};
    return columns;
}

bool has_any(const std::vector<LayerReport>& layers, double LayerReport::*value) {
    return std::any_of(layers.begin(), layers.end(), [&](const LayerReport& l) { return std::isfinite(l.*value); });
}

std::string layer_table(const inspect::Report& report) {
    std::vector<std::string> heads = {"block"};
    std::vector<Column> shown;
    for (const Column& column : inspect_table_columns()) {
        if (has_any(report.layers, column.value)) {
            shown.push_back(column);
            heads.emplace_back(column.head);
        }
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

std::string legend(const inspect::Report& report) {
    std::string text =
        "length: median of a token's vector after the block; cosine: mean of two tokens; rank: directions they fill; "
        "attn, ffn: what each adds, as a share of the stream; turn: angle between the streams before and after, over "
        "pi, "
        "pred: what the equation predicts for it; entr: entropy of attention in nats; sink: weight of the first token";
    if (has_any(report.layers, &LayerReport::gradient)) {
        text += "; grad: length of the gradient";
    }
    if (has_any(report.layers, &LayerReport::drop)) {
        text += "; drop: loss increase when the block is left out";
    }
    if (has_any(report.layers, &LayerReport::lens_loss)) {
        text += "; lens: loss if the model ended here";
    }
    return report::text_lines(text + ".", inspect_columns);
}

std::string lens_words(const Inspected& model) {
    if (model.report.lens_top.empty() || !model.spelling) {
        return "";
    }
    std::string text = "Most likely next token after the text, by block:";
    for (std::size_t l = 0; l < model.report.lens_top.size(); ++l) {
        text += fmt::format(" {} {}", l, flyball::quoted(model.spelling(model.report.lens_top[l])));
    }
    return "\n" + report::text_lines(text, inspect_columns, "", "  ");
}

std::string comparison(const std::vector<Inspected>& models) {
    std::vector<std::vector<std::string>> rows;
    for (const Inspected& one : models) {
        const inspect::Report& r = one.report;
        double turn = 0;
        double ratio = 0;
        for (const LayerReport& layer : r.layers) {
            turn += layer.angular_distance;
            ratio += layer.angular_ratio / static_cast<double>(r.layers.size());
        }
        rows.push_back({one.name, cell(r.loss), measure::name(r.growth.kind), model::name(r.bound),
                        cell(r.layers.front().norm_median), cell(r.layers.back().norm_median),
                        cell(r.layers.back().cosine), cell(turn), cell(ratio),
                        cell(r.layers.front().gradient / r.layers.back().gradient)});
    }
    return report::text_table({"model", "loss", "growth", "bound", "first", "last", "cosine", "turn", "m/p", "grad"},
                              rows);
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
        text += comparison(models) +
                report::text_lines(
                    "growth: how the length grows; bound: what the equation promises; first, last: median "
                    "length after these blocks; cosine: of two tokens at the end; turn: sum over blocks; "
                    "m/p: measured over predicted turn, mean; grad: gradient after the first block over "
                    "that after the last.",
                    inspect_columns) +
                "\n";
    }
    return text + legend(models.front().report);
}

}  // namespace flyball::cli
