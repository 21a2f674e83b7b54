// Checkpoints to models: names and shapes of all tensors are checked against the configuration, then each is mapped or
// converted.
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/unreachable.hpp"
#include "model/model.hpp"

namespace flyball::model {

namespace {

constexpr std::string_view where = "model.load";

// How files that came from TensorFlow call the parameters of a norm, such as those of the first BERT.
std::string older_spelling(std::string_view name) {
    for (const auto& [now, then] : {std::pair{".weight", ".gamma"}, std::pair{".bias", ".beta"}}) {
        if (name.ends_with(fmt::format("LayerNorm{}", now))) {
            name.remove_suffix(std::string_view(now).size());
            return fmt::format("{}{}", name, then);
        }
    }
    return std::string(name);
}

// Tensor names with or without one of the family's prefixes, norms in the newer or the older spelling.
class TensorNames {
  public:
    TensorNames(const SafeTensors& tensors, const Names& names)
        : tensors_(tensors),
          tokens_(fmt::format("{}.weight", names.tokens)),
          head_(names.head.empty() ? "" : fmt::format("{}.weight", names.head)) {
        const std::string other = fmt::format("{}.weight", names.other_head);
        if (!names.other_head.empty() && !tensors.contains(head_) && tensors.contains(other)) {
            head_ = other;
        }
        // The first block decides: the embedding may be missing where the head stands for it.
        const std::string probe = fmt::format("{}{}.weight", fmt::format(fmt::runtime(names.block), 0), names.qkv[0]);
        for (const std::string_view prefix : names.prefixes) {
            if (!prefixed_ && tensors.contains(fmt::format("{}{}", prefix, probe))) {
                prefix_ = prefix;
                prefixed_ = true;
            }
        }
    }

    std::string full(std::string_view name) const {
        const std::string with = fmt::format("{}{}", prefix_, name);
        for (const std::string& spelling : {with, std::string(name), older_spelling(with), older_spelling(name)}) {
            if (tensors_.contains(spelling)) {
                return spelling;
            }
        }
        return prefixed_ && name != head_ ? with : std::string(name);
    }
    bool has(std::string_view name) const {
        return tensors_.contains(name) || tensors_.contains(fmt::format("{}{}", prefix_, name));
    }
    std::string without_prefix(const std::string& name) const {
        return prefixed_ && name.starts_with(prefix_) ? name.substr(prefix_.size()) : name;
    }
    const std::string& tokens() const { return tokens_; }
    const std::string& head() const { return head_; }  // "" when the family has none

  private:
    const SafeTensors& tensors_;
    std::string tokens_;
    std::string head_;
    std::string_view prefix_;
    bool prefixed_ = false;  // how this file names things: what a message about a missing tensor says
};

// Whether a head that is said to be the embedding is a tensor of its own: transformers ties what is equal or what is
// there once, and believes the file where the two differ. Compared as float, since either may be stored in another
// type.
bool has_other_head(const SafeTensors& tensors, const TensorNames& names) {
    const std::string embedding = names.full(names.tokens());
    const std::string head = names.full(names.head());
    if (!tensors.contains(head) || !tensors.contains(embedding)) {
        return false;
    }
    const TensorInfo& a = tensors.info(embedding);
    const TensorInfo& b = tensors.info(head);
    bool differ = a.shape != b.shape;
    if (!differ && a.dtype != b.dtype && is_floating(a.dtype) && is_floating(b.dtype)) {
        differ = tensors.read<float>(embedding) != tensors.read<float>(head);
    } else if (!differ) {
        differ = !std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
    }
    tensors.let_go(embedding);
    tensors.let_go(head);
    return differ;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

void check_tensor(const SafeTensors& tensors, const std::string& full, const ParameterSpec& spec,
                  const std::string& what) {
    std::vector<std::size_t> shape = spec.shape;
    shape.front() += spec.unused_rows;
    if (!tensors.contains(full)) {
        throw Error(ErrorKind::input, where, fmt::format("no tensor {} in {}", flyball::quoted(full), what),
                    fmt::format("one of shape {}", shape_text(shape)),
                    "config.json and the tensors do not belong together, or the checkpoint is incomplete");
    }
    const TensorInfo& info = tensors.info(full);
    if (info.shape != shape) {
        throw Error(ErrorKind::input, where,
                    fmt::format("the shape {} of tensor {} in {}", shape_text(info.shape), flyball::quoted(full), what),
                    fmt::format("{} by config.json", shape_text(shape)));
    }
    if (!is_floating(info.dtype)) {
        throw Error(ErrorKind::input, where,
                    fmt::format("tensor {} of type {} in {}", flyball::quoted(full), name(info.dtype), what),
                    "F32, F16, BF16 or F64", "quantised checkpoints are not supported");
    }
}

// A tensor that nothing reads would make the result silently wrong.
void check_extras(const SafeTensors& tensors, const std::set<std::string>& used, const Names& family,
                  const TensorNames& names, bool tied, const std::string& what) {
    std::vector<std::string> extra;
    for (const std::string& name : tensors.names()) {
        const std::string bare = names.without_prefix(name);
        const bool left_out = std::any_of(family.buffers.begin(), family.buffers.end(),
                                          [&](std::string_view end) { return name.ends_with(end); }) ||
                              std::any_of(family.other_heads.begin(), family.other_heads.end(),
                                          [&](std::string_view start) { return bare.starts_with(start); }) ||
                              (tied && bare == names.head());
        if (!left_out && !used.contains(name)) {
            extra.push_back(flyball::quoted(name));
        }
    }
    if (!extra.empty()) {
        const std::size_t count = extra.size();
        extra.resize(std::min<std::size_t>(count, 3));
        throw Error(ErrorKind::input, where,
                    fmt::format("{} tensors in {} that this family does not have, such as {}", count, what,
                                fmt::join(extra, ", ")),
                    "tensors that config.json explains", "a model with parts of its own needs a family of its own");
    }
}

// Biases that a family may leave out are left out together: a part without them beside parts with them is a file that
// lost something. Hugging Face starts such biases at 0, and so does this model, but it says so.
void note_biases(const Architecture& a, const Names& names, std::vector<std::string>& notes) {
    const auto note = [&](bool present, std::string_view module) {
        if (!present && (a.qkv_bias || a.output_bias || a.ffn_bias || a.norm_bias)) {
            notes.push_back(fmt::format("no tensor {}{}.bias, though other biases are there: taken as 0",
                                        fmt::format(fmt::runtime(names.block), 0), module));
        }
    };
    if (names.may_lack_biases) {
        note(a.qkv_bias, names.qkv[0]);
        note(a.output_bias, names.attention_output);
        note(a.ffn_bias, names.ffn_in[0]);
        note(a.norm_bias, names.norms[0]);
    }
}

// What the model computes with, from what the file has.
std::vector<float> from_file(const Architecture& a, const ParameterSpec& spec, std::vector<float> values) {
    switch (spec.in_file) {
        case InFile::plain:
            return values;
        case InFile::less_one:
            for (float& value : values) {
                value += 1;
            }
            return values;
        case InFile::by_head: {
            // [heads, 3, head_dim, ..] becomes [3, heads, head_dim, ..]
            const std::size_t piece = values.size() / (3 * a.heads);
            std::vector<float> sorted(values.size());
            for (std::size_t i = 0; i < 3 * a.heads; ++i) {
                const float* const from = values.data() + i * piece;
                std::copy_n(from, piece, sorted.data() + (i % 3 * a.heads + i / 3) * piece);
            }
            return sorted;
        }
    }
    unreachable();
}

// Keys that send transformers elsewhere, or show another stream: obeying half of a folder would be another model.
void check_redirections(const ConfigReader& config) {
    const Json& json = config.json();
    if (const auto found = json.find("transformers_weights"); found != json.end() && !found->is_null()) {
        config.fail("transformers_weights", "no such key, which names another file of tensors",
                    "call that file model.safetensors and take the key out");
    }
    if (const auto found = json.find("configuration_files"); found != json.end() && !found->empty()) {
        config.fail("configuration_files", "no such key, by which another file may stand for config.json",
                    "call the one for your version config.json");
    }
    const auto is_no = [](const Json& value) {
        return value.is_boolean() ? !value.get<bool>() : value.is_number() && value.get<double>() == 0;
    };
    if (const auto found = json.find("tie_last_hidden_states"); found != json.end() && is_no(*found)) {
        config.fail("tie_last_hidden_states", "true: the last hidden states are those behind the final norm",
                    "take the key out; logits do not depend on it");
    }
}

}  // namespace

// Everything is checked before a number is used: the family, its sizes, that every tensor of the layout is there with
// its shape, and that no tensor is left over. Then each is used in place in the memory map (floats as the model wants
// them, at an address that fits) or converted.
Model<float> make_model(const Json& config_json, std::shared_ptr<const SafeTensors> tensors, const std::string& what) {
    const ConfigReader config(config_json, fmt::format("config.json of {}", what));
    const Family& family = family_of(config);
    check_redirections(config);
    const TensorNames names(*tensors, family.names);
    Architecture architecture = family.read(config, [&names](std::string_view name) { return names.has(name); });
    check(architecture, config.what());
    std::vector<std::string> notes;
    if (architecture.tied && !names.head().empty() && has_other_head(*tensors, names)) {
        architecture.tied = false;
        notes.push_back(
            fmt::format("tie_word_embeddings is true, but {} differs from the embedding: it is used as it is",
                        names.full(names.head())));
    }
    // Before a layout of so many blocks is made: the last of them has to be there.
    const std::string last = fmt::format(
        "{}{}.weight", fmt::format(fmt::runtime(family.names.block), architecture.layers - 1), family.names.qkv[0]);
    if (!names.has(last)) {
        throw Error(ErrorKind::input, where, fmt::format("no tensor {} in {}", flyball::quoted(names.full(last)), what),
                    fmt::format("all of the {} blocks of config.json", architecture.layers),
                    "config.json and the tensors do not belong together, or the checkpoint is incomplete");
    }

    Model<float> model(std::move(architecture), family.names, Model<float>::Bare{});
    std::set<std::string> used;
    std::vector<std::string> full;
    std::set<std::string> dtypes;
    for (const ParameterSpec& spec : model.layout_.parameters) {
        // A tied matrix may be stored under either name.
        const bool swapped = model.architecture_.tied && spec.name == names.tokens() && !names.has(names.tokens()) &&
                             !names.head().empty() && names.has(names.head());
        full.push_back(names.full(swapped || spec.role == Role::head ? names.head() : spec.name));
        check_tensor(*tensors, full.back(), spec, what);
        used.insert(full.back());
        dtypes.insert(name(tensors->info(full.back()).dtype));
    }
    check_extras(*tensors, used, family.names, names, model.architecture_.tied, what);

    model.notes_ = std::move(notes);
    note_biases(model.architecture_, family.names, model.notes_);
    model.dtype_ = fmt::format("{}", fmt::join(dtypes, " "));
    for (std::size_t i = 0; i < full.size(); ++i) {
        const TensorInfo& info = tensors->info(full[i]);
        const auto address = reinterpret_cast<std::uintptr_t>(info.bytes.data());
        const ParameterSpec& spec = model.layout_.parameters[i];
        if (info.dtype == Dtype::f32 && address % alignof(float) == 0 && spec.in_file == InFile::plain) {
            model.values_[i] = reinterpret_cast<const float*>(info.bytes.data());
        } else {
            std::vector<float> values(info.elements());
            tensors->take_to(full[i], std::span<float>(values));
            model.converted_.push_back(from_file(model.architecture_, spec, std::move(values)));
            model.values_[i] = model.converted_.back().data();
        }
        model.values_[i] += spec.unused_rows * (spec.elements() / spec.shape.front());
    }
    model.file_ = std::move(tensors);
    return model;
}

Model<float> load_model(const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / "config.json";
    const std::string what = flyball::quoted(folder.string());
    if (!is_there(file, where)) {
        throw Error(ErrorKind::io, where, fmt::format("no config.json in {}", what),
                    "a folder with config.json and model.safetensors");
    }
    const JsonLimits limits{.max_depth = 16, .max_bytes = std::size_t{16} << 20};
    const Json config = parse_json(read_regular_file(file, limits.max_bytes), flyball::quoted(file.string()), limits);
    const ConfigReader reader(config, flyball::quoted(file.string()));
    family_of(reader);  // before the tensors: the clearer message
    check_redirections(reader);
    if (is_there(folder / "adapter_config.json", where)) {
        throw Error(ErrorKind::input, where,
                    fmt::format("adapter_config.json in {}, an adapter that transformers adds to the model where peft "
                                "is installed",
                                what),
                    "a model alone", "merge the adapter (merge_and_unload) and save the model, or take the file away");
    }
    return make_model(config, std::make_shared<const SafeTensors>(SafeTensors::open_checkpoint(folder)), what);
}

}  // namespace flyball::model
