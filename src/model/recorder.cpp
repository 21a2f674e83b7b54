#include "model/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/safetensors.hpp"
#include "model/finite.hpp"

namespace flyball::model {

namespace {

std::string numbered(const char* name, std::size_t i) {
    return fmt::format("{}.{}", name, i);
}

struct Word {
    std::string_view name;
    bool Recorded::*wanted;
};
constexpr std::array<Word, 5> words = {{{"logits", &Recorded::logits},
                                        {"hidden", &Recorded::hidden},
                                        {"attention", &Recorded::attention},
                                        {"scores", &Recorded::scores},
                                        {"branches", &Recorded::branches}}};

}  // namespace

Recorded parse_recorded(const std::string& text, const Architecture& architecture) {
    Recorded recorded;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        const auto known = std::find_if(words.begin(), words.end(), [&](const Word& w) { return word == w.name; });
        if (known == words.end()) {
            throw Error(ErrorKind::usage, "model.record", setting("what", flyball::quoted(text)),
                        "some of logits, hidden, attention, scores, branches, with commas between them");
        }
        recorded.*known->wanted = true;
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
    const double squares = (recorded.attention ? 1 : 0) + (recorded.scores ? 1 : 0);
    needed += squares * 4 * n * n * static_cast<double>(a.heads * a.layers);
    needed += recorded.branches ? 8 * n * static_cast<double>(a.dim * a.layers) : 0;
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
        keep_squares("attention", "blocks.*.attn.pattern", architecture.heads, 0);
    }
    if (recorded.scores) {
        keep_squares("scores", "blocks.*.attn.scores", architecture.heads, -std::numeric_limits<float>::infinity());
    }
    if (recorded.branches) {
        keep_rows("attn_added", "blocks.*.attn.added", architecture.dim);
        keep_rows("ffn_added", "blocks.*.ffn.added", architecture.dim);
    }
}

void Recorder::keep_squares(const char* name, const char* tap, std::size_t heads, float masked) {
    for (std::size_t i = 0; i < layers_; ++i) {
        make(numbered(name, i), {heads, tokens_, tokens_}, masked);
        tensors_.at(numbered(name, i)).rows.resize(heads);
    }
    taps_.add(tap, [this, name](const View& view) { copy_square(name, view); });
}

void Recorder::keep_rows(const char* name, const char* tap, std::size_t dim) {
    for (std::size_t i = 0; i < layers_; ++i) {
        make(numbered(name, i), {tokens_, dim});
        tensors_.at(numbered(name, i)).rows.resize(1);
    }
    taps_.add(tap, [this, name](const View& view) {
        count_rows(numbered(name, view.layer), 0, view.rows);
        copy(numbered(name, view.layer), view);
    });
}

void Recorder::make(const std::string& name, std::vector<std::size_t> shape, float value) {
    std::size_t count = 1;
    for (const std::size_t size : shape) {
        count *= size;
    }
    tensors_.emplace(name, Kept{std::move(shape), std::vector<float>(count, value)});
}

// An equation may call a sub-layer twice in a block, or add what it gave in two places; a tensor has room for one.
void Recorder::count_rows(const std::string& name, std::size_t head, std::size_t rows) {
    std::size_t& written = tensors_.at(name).rows.at(head);
    written += rows;
    if (written > tokens_) {
        throw Error(ErrorKind::usage, "model.record", fmt::format("several values of {} in one block", name),
                    "an equation with one of them a block", "watch them with taps instead of saving them");
    }
}

void Recorder::copy(const std::string& name, const View& view) {
    std::vector<float>& to = tensors_.at(name).values;
    for (std::size_t i = 0; i < view.rows; ++i) {
        std::copy_n(view.row(i), view.columns, to.data() + (view.first_row + i) * view.columns);
    }
}

void Recorder::copy_square(const char* name, const View& view) {
    count_rows(numbered(name, view.layer), view.head, view.rows);
    std::vector<float>& to = tensors_.at(numbered(name, view.layer)).values;
    for (std::size_t i = 0; i < view.rows; ++i) {
        const std::size_t row = view.head * tokens_ + view.first_row + i;
        std::copy_n(view.row(i), view.columns, to.data() + row * tokens_ + view.first_column);
    }
}

bool Recorder::is_finite() const {
    return std::all_of(tensors_.begin(), tensors_.end(), [](const auto& kept) {
        const std::vector<float>& values = kept.second.values;
        // Scores are minus infinity under the mask.
        return kept.first.starts_with("scores.")
                   ? std::all_of(values.begin(), values.end(), [](float x) { return x < HUGE_VALF; })
                   : all_finite(values);
    });
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
