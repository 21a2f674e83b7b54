#include "model/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/safetensors.hpp"
#include "model/finite.hpp"

namespace flyball::model {

namespace {

std::string numbered(const char* name, std::size_t i) {
    return fmt::format("{}.{}", name, i);
}

}  // namespace

Recorded parse_recorded(const std::string& text, const Architecture& architecture) {
    Recorded recorded;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (word == "logits") {
            recorded.logits = true;
        } else if (word == "hidden") {
            recorded.hidden = true;
        } else if (word == "attention") {
            recorded.attention = true;
        } else {
            throw Error(ErrorKind::usage, "model.record", setting("what", flyball::quoted(text)),
                        "some of logits, hidden, attention, with commas between them");
        }
        begin = end + 1;
    }
    if (recorded.logits && !architecture.has_head) {
        throw Error(ErrorKind::usage, "model.record",
                    fmt::format("{} for a {} model without a language-model head", setting("what", "logits"),
                                architecture.family),
                    "hidden or attention");
    }
    return recorded;
}

double memory_estimate(const Architecture& a, std::size_t tokens, Recorded recorded) {
    const auto n = static_cast<double>(tokens);
    double needed = recorded.logits ? 4 * n * static_cast<double>(a.vocab) : 0;
    needed += recorded.hidden ? 4 * n * static_cast<double>(a.dim * (a.layers + 1)) : 0;
    needed += recorded.attention ? 4 * n * n * static_cast<double>(a.heads * a.layers) : 0;
    return needed;
}

Recorder::Recorder(const Architecture& architecture, std::size_t tokens, Recorded recorded)
    : layers_(architecture.layers), tokens_(tokens) {
    if (recorded.logits) {
        make("logits", {tokens, architecture.vocab});
        taps_.add("logits", [this](const View& view) { copy("logits", view); });
    }
    if (recorded.hidden) {
        for (std::size_t i = 0; i <= layers_; ++i) {
            make(numbered("hidden", i), {tokens, architecture.dim});
        }
        taps_.add("embed", [this](const View& view) { copy("hidden.0", view); });
        taps_.add("blocks.*.resid", [this](const View& view) { copy(numbered("hidden", view.layer + 1), view); });
        taps_.add("readout", [this](const View& view) { copy(numbered("hidden", layers_), view); });
    }
    if (recorded.attention) {
        for (std::size_t i = 0; i < layers_; ++i) {
            make(numbered("attention", i), {architecture.heads, tokens, tokens});
        }
        taps_.add("blocks.*.attn.pattern", [this](const View& view) { copy_pattern(view); });
    }
}

void Recorder::make(const std::string& name, std::vector<std::size_t> shape) {
    std::size_t count = 1;
    for (const std::size_t size : shape) {
        count *= size;
    }
    tensors_.emplace(name, Kept{std::move(shape), std::vector<float>(count, 0.0F)});
}

void Recorder::copy(const std::string& name, const View& view) {
    std::vector<float>& to = tensors_.at(name).values;
    for (std::size_t i = 0; i < view.rows; ++i) {
        std::copy_n(view.row(i), view.columns, to.data() + (view.first_row + i) * view.columns);
    }
}

void Recorder::copy_pattern(const View& view) {
    std::vector<float>& to = tensors_.at(numbered("attention", view.layer)).values;
    for (std::size_t i = 0; i < view.rows; ++i) {
        const std::size_t row = view.head * tokens_ + view.first_row + i;
        std::copy_n(view.row(i), view.columns, to.data() + row * tokens_ + view.first_column);
    }
}

bool Recorder::is_finite() const {
    return std::all_of(tensors_.begin(), tensors_.end(),
                       [](const auto& kept) { return all_finite(kept.second.values); });
}

void Recorder::save(const std::filesystem::path& path) const {
    std::vector<TensorToWrite> list;
    for (const auto& [name, kept] : tensors_) {
        list.push_back(tensor(name, kept.shape, kept.values));
    }
    write_safetensors(path, list, {{"format", "pt"}});
}

Json document(const std::string& name, const Model<float>& model) {
    const Architecture& a = model.architecture();
    return {{"name", name},
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

}  // namespace flyball::model
