#include "model/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "model/finite.hpp"

namespace flyball::model {

Recorder::Recorder(const Architecture& architecture, std::size_t tokens, const std::vector<Recorded>& recorded)
    : tokens_(tokens) {
    for (const Recorded& one : recorded) {
        const float masked = one.what == Recorded::What::scores ? -std::numeric_limits<float>::infinity() : 0;
        const std::size_t heads = one.heads(architecture);
        const std::size_t width = one.width(architecture, tokens);
        Kept& kept = tensors_
                         .emplace(one.name, Kept{one, one.shape(architecture, tokens), width,
                                                 std::vector<float>(heads * tokens * width, masked),
                                                 std::vector<std::size_t>(heads)})
                         .first->second;
        taps_.add(one.tap(architecture), [this, &kept](const View& view) { keep(kept, view); });
    }
}

void Recorder::keep(Kept& kept, const View& view) const {
    const std::optional<std::size_t> alone = kept.what.head;
    if (kept.what.what == Recorded::What::attention || kept.what.what == Recorded::What::scores) {  // a head at a time
        if (!alone || *alone == view.head) {
            copy(kept, alone ? 0 : view.head, view, 0, view.first_column, view.columns);
        }
        return;
    }
    // All others are whole rows: those of queries, keys and values have their heads side by side.
    for (std::size_t head = 0; head < kept.rows.size(); ++head) {
        copy(kept, head, view, alone.value_or(head) * kept.width, 0, kept.width);
    }
}

// An equation may call a sub-layer twice in a block, or add what it gave in two places; a tensor has room for one.
void Recorder::copy(Kept& kept, std::size_t head, const View& view, std::size_t from, std::size_t to,
                    std::size_t columns) const {
    std::size_t& written = kept.rows.at(head);
    written += view.rows;
    if (written > tokens_) {
        throw Error(ErrorKind::usage, "model.record", fmt::format("several values of {} in one block", kept.what.name),
                    "an equation with one of them a block", "watch them with taps instead of saving them");
    }
    for (std::size_t i = 0; i < view.rows; ++i) {
        const std::size_t row = head * tokens_ + view.first_row + i;
        std::copy_n(view.row(i) + from, columns, kept.values.data() + row * kept.width + to);
    }
}

bool Recorder::is_finite() const {
    return std::all_of(tensors_.begin(), tensors_.end(), [](const auto& entry) {
        const std::vector<float>& values = entry.second.values;
        // Scores are minus infinity under the mask.
        return entry.second.what.what == Recorded::What::scores
                   ? std::all_of(values.begin(), values.end(), [](float x) { return x < HUGE_VALF; })
                   : all_finite(values);
    });
}

void Recorder::save(const std::filesystem::path& path, std::span<const TensorToWrite> more) const {
    std::vector<TensorToWrite> list(more.begin(), more.end());
    for (const auto& [name, kept] : tensors_) {
        const bool is_whole =
            std::all_of(kept.rows.begin(), kept.rows.end(), [&](std::size_t n) { return n == tokens_; });
        // What a block adds is 0 where the equation does not run a sub-layer; of the sub-layer itself there is nothing.
        if (!is_whole && kept.what.what != Recorded::What::attn_added && kept.what.what != Recorded::What::ffn_added) {
            throw Error(ErrorKind::usage, "model.record",
                        fmt::format("{} of a block whose equation does not run that sub-layer", name),
                        "what the model computes", "name what to save without it");
        }
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
