#include "cli/forward_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "model/recorder.hpp"
#include "report/utf8.hpp"

namespace flyball::cli {

namespace {

constexpr std::size_t table_width = 80;
constexpr std::size_t token_width = 16;

std::string padded_right(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, report::columns(text)), ' ');
}

// Quoted, so that blanks and line ends are seen; the id where the model has no tokenizer.
std::string shown_token(const ModelInput& given, std::int32_t id, std::size_t width) {
    const std::string text = given.text_of(id);
    return report::shortened(text.empty() ? std::to_string(id) : report::clean(flyball::quoted(text)), width);
}

std::string percent(double log_probability) {
    const double share = 100 * std::exp(log_probability);
    return std::isnan(share) ? "-" : share >= 0.1 ? fmt::format("{:.1f}%", share) : fmt::format("{:.1g}%", share);
}

// The tokens expected behind row `row`, wrapped into the room right of `indent` columns.
std::string expected_tokens(const ForwardReport& report, const ModelInput& given, std::size_t row, std::size_t indent) {
    const model::TopTokens& top = *report.top;
    std::string lines;
    std::size_t used = indent;
    for (std::size_t k = 0; k < top.count(); ++k) {
        const std::size_t at = row * top.count() + k;
        const std::string one =
            fmt::format("{} {}", shown_token(given, static_cast<std::int32_t>(top.ids()[at]), token_width),
                        percent(double{top.log_probabilities()[at]}));
        const std::size_t width = report::columns(one);
        const bool is_first = used == indent;
        if (!is_first && used + 2 + width > table_width) {
            lines += "\n" + std::string(indent, ' ') + one;
            used = indent + width;
        } else {
            lines += (is_first ? "" : "  ") + one;
            used += (is_first ? 0 : 2) + width;
        }
    }
    return lines;
}

Json top_document(const ForwardReport& report, const ModelInput& given, std::size_t row) {
    const model::TopTokens& top = *report.top;
    Json list = Json::array();
    for (std::size_t k = 0; k < top.count(); ++k) {
        const std::size_t at = row * top.count() + k;
        Json one = Json::object();
        one["id"] = top.ids()[at];
        if (given.tokenizer) {
            one["text"] = given.text_of(static_cast<std::int32_t>(top.ids()[at]));
        }
        one["log_probability"] = double{top.log_probabilities()[at]};
        list.push_back(std::move(one));
    }
    return list;
}

}  // namespace

std::string token_table(const ForwardReport& report, const ModelInput& given) {
    constexpr std::size_t indent = 7 + 2 + token_width + 2 + 8 + 2 + 6 + 2;
    const auto line = [](const std::string& place, const std::string& token, const std::string& loss,
                         const std::string& probability, const std::string& expected) {
        std::string text = fmt::format("{:>7}  {}  {:>8}  {:>6}  {}", place, padded_right(token, token_width), loss,
                                       probability, expected);
        text.erase(text.find_last_not_of(' ') + 1);
        return text + "\n";
    };
    std::string text = line("place", "token", "loss", "p", report.top ? "expected there" : "");
    for (std::size_t i = 0; i < given.tokens(); ++i) {
        const double loss = report.token_losses[i];
        const std::string expected = report.top && i > 0 ? expected_tokens(report, given, i - 1, indent) : "";
        text += line(std::to_string(i), shown_token(given, given.input.ids[i], token_width),
                     std::isnan(loss) ? "-" : fmt::format("{:.4f}", loss), percent(-loss), expected);
    }
    if (report.top) {
        text += line("next", "", "", "", expected_tokens(report, given, given.tokens() - 1, indent));
    }
    return text;
}

std::string forward_text(const ForwardReport& report, const ModelInput& given, const std::string& name,
                         const model::Model<float>& model, const std::string& saved) {
    const model::Architecture& a = model.architecture();
    const std::size_t tokens = given.tokens();
    std::string text = fmt::format("{}: {}, {} blocks of {} channels and {} heads, {} parameters\n", name, a.family,
                                   a.layers, a.dim, a.heads, model.layout().count());
    text += fmt::format("wiring      {}\n", model.program().text());
    text += fmt::format("tokens      {}\n", tokens);
    if (report.score) {
        text += fmt::format("scored      {} of them, {} apart in windows of {} ({} {})\n", report.score->mean.scored,
                            report.strides->stride, report.strides->length, report.score->windows,
                            report.score->windows == 1 ? "window" : "windows");
    }
    if (a.has_head && std::isnan(report.loss)) {
        text += fmt::format("loss        {}\n", given.input.has_rows() ? "none: embeddings have no next token"
                                                : tokens < 2           ? "none: one token"
                                                                       : "nan");
    } else if (a.has_head) {
        text += fmt::format("loss        {:.6f} nats a token, perplexity {:.3f}\n", report.loss, std::exp(report.loss));
    }
    if (report.score && std::isfinite(report.score->mean.standard_error)) {
        text +=
            fmt::format("error       {:.6f} nats, the standard error of the loss\n", report.score->mean.standard_error);
    }
    text += fmt::format("time        {:.3f} s, {:.0f} tokens a second\n", report.seconds,
                        static_cast<double>(tokens) / report.seconds);
    if (!saved.empty()) {
        text += fmt::format("saved       {}\n", saved);
    }
    return text;
}

Json forward_document(const ForwardReport& report, const ModelInput& given, const std::string& name,
                      const model::Model<float>& model) {
    Json document = {{"model", model::document(name, model)},
                     {"tokens", given.tokens()},
                     {"loss", report.loss},
                     {"finite", report.finite},
                     {"seconds", report.seconds}};
    if (report.score) {
        document["scored"] = report.score->mean.scored;
        document["perplexity"] = report.score->mean.perplexity;
        document["standard_error"] = report.score->mean.standard_error;
        document["length"] = report.strides->length;
        document["stride"] = report.strides->stride;
        document["windows"] = report.score->windows;
    }
    if (!report.per_token) {
        return document;
    }
    Json list = Json::array();
    for (std::size_t i = 0; i < given.tokens(); ++i) {
        Json one = Json::object();
        one["id"] = given.input.ids[i];
        if (given.tokenizer) {
            one["text"] = given.text_of(given.input.ids[i]);
        }
        one["loss"] = report.token_losses[i];
        if (report.top) {
            one["expected"] = i > 0 ? top_document(report, given, i - 1) : Json();
        }
        list.push_back(std::move(one));
    }
    document["per_token"] = std::move(list);
    if (report.top) {
        document["next"] = top_document(report, given, given.tokens() - 1);
    }
    return document;
}

ForwardTensors::ForwardTensors(const ForwardReport& report, const ModelInput& given)
    : ids_(given.input.ids.begin(), given.input.ids.end()),
      losses_(report.token_losses.begin(), report.token_losses.end()) {
    if (!ids_.empty()) {
        tensors_.push_back(tensor("ids", {ids_.size()}, ids_));
    }
    if (given.tokenizer) {
        texts_ = dump_json(Json(given.texts()));
        tensors_.push_back({"token_texts", Dtype::u8, {texts_.size()}, std::as_bytes(std::span(texts_))});
    }
    if (!losses_.empty()) {
        tensors_.push_back(tensor("token_loss", {losses_.size()}, losses_));
    }
    if (report.top) {
        const std::vector<std::size_t> shape = {given.tokens(), report.top->count()};
        tensors_.push_back(tensor("top_ids", shape, report.top->ids()));
        tensors_.push_back(tensor("top_log_probability", shape, report.top->log_probabilities()));
    }
}

}  // namespace flyball::cli
