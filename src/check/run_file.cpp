// Reads a run that somebody else's code saved. Every name, shape and number is checked: nothing is trusted.
#include "check/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>

#include "core/error.hpp"
#include "core/number.hpp"

namespace flyball::check {

namespace {

constexpr std::int64_t most_saved_blocks = 4096;

[[noreturn]] void refuse_run(const std::string& got, const std::string& expected, const std::string& hint = {}) {
    throw Error(ErrorKind::input, "check.read_run", got, expected, hint);
}

// Binary digits of the significand.
int digits_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::f64:
            return 53;
        case Dtype::f32:
            return 24;
        case Dtype::f16:
            return 11;
        case Dtype::bf16:
            return 8;
        case Dtype::i64:
        case Dtype::i32:
        case Dtype::i16:
        case Dtype::i8:
        case Dtype::u64:
        case Dtype::u32:
        case Dtype::u16:
        case Dtype::u8:
        case Dtype::boolean:
            break;
    }
    return 0;
}

// Significant binary digits of a number: its significand as a whole number, without trailing zeros.
int digits_used(double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    auto whole = static_cast<std::int64_t>(std::ldexp(std::fabs(fraction), 53));
    int used = whole == 0 ? 0 : 53;
    while (used > 0 && whole % 2 == 0) {
        whole /= 2;
        --used;
    }
    return used;
}

double roundoff_of(Dtype dtype) {
    return std::ldexp(1.0, -digits_of(dtype));
}

// Numbers that were computed in a narrower type and widened for the file still have their last digits 0: the fewest
// digits that hold all of them name the type.
double narrowest_roundoff(Dtype dtype, const std::vector<double>& values) {
    int used = 0;
    for (const double value : values) {
        used = std::max(used, digits_used(value));
        if (used >= digits_of(dtype)) {
            break;
        }
    }
    int digits = digits_of(dtype);
    for (const Dtype narrow : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
        if (used <= digits_of(narrow)) {
            digits = std::min(digits, digits_of(narrow));
        }
    }
    return std::ldexp(1.0, -digits);
}

// Of `from` rows `to`, evenly spaced.
std::vector<double> some_rows(const std::vector<double>& values, std::size_t from, std::size_t to, std::size_t dim) {
    if (to == from || values.empty()) {
        return values;
    }
    std::vector<double> kept(to * dim);
    for (std::size_t i = 0; i < to; ++i) {
        std::copy_n(values.data() + i * from / to * dim, dim, kept.data() + i * dim);
    }
    return kept;
}

class RunReader {
  public:
    RunReader(const SafeTensors& file, std::size_t room) : file_(file), names_(file.names()), room_(room) {}

    RunFile read() {
        settings();
        const std::size_t layers = count_blocks();
        shape(layers);
        run_.embed = rows("embed");
        for (std::size_t l = 0; l < layers; ++l) {
            run_.blocks.push_back(block(fmt::format("blocks.{}.", l)));
        }
        run_.stored = file_.info("blocks.0.resid").dtype;
        run_.readout = rows("readout");
        run_.readout_norms = norms(any_named("readout.norms.") ? "readout." : "");
        run_.readout_learned = learned("readout.");
        return std::move(run_);
    }

  private:
    std::optional<std::string> word(const std::string& key) const {
        const auto found = file_.metadata().find(key);
        return found == file_.metadata().end() ? std::nullopt : std::optional(found->second);
    }

    double number(const std::string& key, double otherwise, double least) const {
        const std::optional<std::string> text = word(key);
        if (!text) {
            return otherwise;
        }
        const std::optional<double> value = parse_double(*text);
        if (!value || !std::isfinite(*value) || *value < least) {
            refuse_run(fmt::format("{} = {} in the metadata of the run", key, flyball::quoted(*text)),
                       fmt::format("a number, {} or more", least));
        }
        return *value;
    }

    void settings() {
        const std::optional<std::string> norm = word("norm");
        if (!norm) {
            refuse_run("a run without `norm` in its metadata", "what `norm` of the equation means, such as layernorm",
                       "save_file(tensors, path, metadata={\"norm\": \"layernorm\", \"eps\": \"1e-5\"})");
        }
        const scheme::Normaliser& normaliser = scheme::find_normaliser(*norm);
        run_.norm = *norm;
        run_.function = normaliser.function;
        run_.alpha = normaliser.alpha;
        run_.eps = number("eps", normaliser.eps, 0);
        run_.dt = number("dt", 1, 0);
        if (const std::optional<std::string> compute = word("compute")) {
            for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::f16, Dtype::bf16}) {
                if (*compute == name(dtype)) {
                    run_.compute = roundoff_of(dtype);
                }
            }
            if (run_.compute == 0) {
                refuse_run(fmt::format("compute = {} in the metadata of the run", flyball::quoted(*compute)),
                           "one of F64, F32, F16, BF16");
            }
        }
    }

    bool any_named(const std::string& prefix) const {
        const auto found = std::lower_bound(names_.begin(), names_.end(), prefix);
        return found != names_.end() && found->starts_with(prefix);
    }

    std::size_t count_blocks() {
        std::set<std::size_t> found;
        for (const std::string& tensor : names_) {
            if (!tensor.starts_with("blocks.")) {
                continue;
            }
            const std::size_t dot = tensor.find('.', 7);
            const std::string digits = tensor.substr(7, dot == std::string::npos ? dot : dot - 7);
            const std::optional<std::int64_t> number = parse_integer(digits);
            if (!number || *number < 0 || *number >= most_saved_blocks || digits != fmt::format("{}", *number)) {
                refuse_run(fmt::format("a tensor named {}", flyball::quoted(tensor)),
                           fmt::format("blocks.L. with L from 0 to {}", most_saved_blocks - 1));
            }
            found.insert(static_cast<std::size_t>(*number));
        }
        if (found.empty()) {
            refuse_run("a file without tensors named blocks.0.attn.in and so on", "a run saved block by block",
                       "docs/conformance.md has the few lines that save one");
        }
        const std::size_t layers = *found.rbegin() + 1;
        for (std::size_t l = 0; l < layers; ++l) {
            if (!found.contains(l)) {
                refuse_run(fmt::format("blocks up to {} and none numbered {}", layers - 1, l),
                           "every block, numbered from 0");
            }
        }
        const auto said = static_cast<double>(layers);
        if (const double stated = number("layers", said, 1); stated != said) {
            refuse_run(fmt::format("{} blocks", layers), fmt::format("{}, as `layers` of the metadata says", stated));
        }
        run_.has_ffn = std::any_of(names_.begin(), names_.end(), [](const std::string& tensor) {
            return tensor.starts_with("blocks.") && tensor.find(".ffn.") != std::string::npos;
        });
        return layers;
    }

    const TensorInfo& info(const std::string& tensor) const {
        if (!file_.contains(tensor)) {
            refuse_run(fmt::format("no tensor {}", tensor), "one in every run",
                       "docs/conformance.md has the list of tensors");
        }
        const TensorInfo& found = file_.info(tensor);
        if (!is_floating(found.dtype)) {
            refuse_run(fmt::format("{} of type {}", tensor, name(found.dtype)), "F64, F32, F16 or BF16");
        }
        return found;
    }

    static std::string text_of(const std::vector<std::size_t>& shape) {
        return fmt::format("[{}]", fmt::join(shape, ", "));
    }

    void shape(std::size_t layers) {
        shape_ = info("embed").shape;
        const std::size_t elements = info("embed").elements();
        if (shape_.size() < 2 || elements == 0) {
            refuse_run(fmt::format("embed of shape {}", text_of(shape_)), "[rows, dim] with both at least 1");
        }
        run_.dim = shape_.back();
        run_.tokens = shape_[shape_.size() - 2];
        run_.file_rows = elements / run_.dim;
        const std::size_t of_a_row = (2 + 5 * layers) * run_.dim;
        run_.rows = std::min(run_.file_rows, std::max<std::size_t>(1, room_ / of_a_row));
    }

    std::vector<double> finite_values(const std::string& tensor) const {
        std::vector<double> values = file_.read<double>(tensor);
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i])) {
                refuse_run(fmt::format("a value that is not finite in {}, at {} of {}", tensor, i, values.size()),
                           "finite numbers only", "the equation cannot be judged on a run that diverged");
            }
        }
        return values;
    }

    SavedRows rows(const std::string& tensor) const {
        const TensorInfo& found = info(tensor);
        if (found.shape != shape_) {
            refuse_run(fmt::format("{} of shape {}", tensor, text_of(found.shape)),
                       fmt::format("{}, the shape of embed", text_of(shape_)));
        }
        SavedRows saved;
        saved.values = finite_values(tensor);
        saved.stored = roundoff_of(found.dtype);
        saved.computed = narrowest_roundoff(found.dtype, saved.values);
        saved.values = some_rows(saved.values, run_.file_rows, run_.rows, run_.dim);
        return saved;
    }

    SavedBlock block(const std::string& prefix) const {
        SavedBlock saved;
        saved.attention_in = rows(prefix + "attn.in");
        saved.attention_out = rows(prefix + "attn.out");
        if (run_.has_ffn) {
            saved.ffn_in = rows(prefix + "ffn.in");
            saved.ffn_out = rows(prefix + "ffn.out");
        }
        saved.resid = rows(prefix + "resid");
        saved.norms = norms(prefix);
        saved.learned = learned(prefix);
        return saved;
    }

    std::vector<double> vector_of(const std::string& tensor, bool may_be_one) const {
        const std::size_t elements = info(tensor).elements();
        if (elements != run_.dim && !(may_be_one && elements == 1)) {
            refuse_run(fmt::format("{} of shape {}", tensor, text_of(info(tensor).shape)),
                       may_be_one ? fmt::format("[1] or [{}]", run_.dim) : fmt::format("[{}]", run_.dim));
        }
        return finite_values(tensor);
    }

    // norms.0, norms.1, .. as far as they go; a number beyond a gap is refused, since it would be silently left out.
    std::vector<SavedNorm> norms(const std::string& prefix) const {
        std::vector<SavedNorm> found;
        for (std::size_t k = 0; any_named(fmt::format("{}norms.{}.", prefix, k)); ++k) {
            const std::string norm = fmt::format("{}norms.{}.", prefix, k);
            SavedNorm saved;
            saved.alpha = run_.alpha;
            if (file_.contains(norm + "gain")) {
                saved.gain = vector_of(norm + "gain", false);
            }
            if (file_.contains(norm + "bias")) {
                saved.bias = vector_of(norm + "bias", false);
            }
            if (file_.contains(norm + "alpha")) {
                saved.alpha = vector_of(norm + "alpha", true)[0];
            }
            if (file_.contains(norm + "shift")) {
                saved.shift = vector_of(norm + "shift", true)[0];
            }
            found.push_back(std::move(saved));
        }
        const std::string all = prefix + "norms.";
        for (auto name = std::lower_bound(names_.begin(), names_.end(), all);
             name != names_.end() && name->starts_with(all); ++name) {
            const std::optional<std::uint64_t> number =
                parse_whole(name->substr(all.size(), name->find('.', all.size()) - all.size()));
            if (!number || *number >= found.size()) {
                refuse_run(fmt::format("a tensor named {}", flyball::quoted(*name)),
                           fmt::format("{}K.gain with K from 0, without gaps", all));
            }
        }
        return found;
    }

    SavedParameters learned(const std::string& prefix) const {
        SavedParameters found;
        const std::string all = prefix + "scheme.";
        for (auto name = std::lower_bound(names_.begin(), names_.end(), all);
             name != names_.end() && name->starts_with(all); ++name) {
            found[name->substr(all.size())] = vector_of(*name, true);
        }
        return found;
    }

    const SafeTensors& file_;
    std::vector<std::string> names_;
    std::size_t room_;
    std::vector<std::size_t> shape_;
    RunFile run_;
};

}  // namespace

RunFile read_run(const SafeTensors& file, std::size_t room) {
    return RunReader(file, room).read();
}

RunFile fewer_rows(const RunFile& run, std::size_t most) {
    RunFile less;
    less.rows = std::min(run.rows, most);
    less.file_rows = run.file_rows;
    less.tokens = run.tokens;
    less.dim = run.dim;
    less.has_ffn = run.has_ffn;
    less.norm = run.norm;
    less.function = run.function;
    less.alpha = run.alpha;
    less.eps = run.eps;
    less.dt = run.dt;
    less.compute = run.compute;
    less.stored = run.stored;
    const auto kept = [&](const SavedRows& saved) {
        return SavedRows{some_rows(saved.values, run.rows, less.rows, run.dim), saved.stored, saved.computed};
    };
    less.embed = kept(run.embed);
    for (const SavedBlock& block : run.blocks) {
        less.blocks.push_back({kept(block.attention_in), kept(block.attention_out), kept(block.ffn_in),
                               kept(block.ffn_out), kept(block.resid), block.norms, block.learned});
    }
    less.readout = kept(run.readout);
    less.readout_norms = run.readout_norms;
    less.readout_learned = run.readout_learned;
    return less;
}

}  // namespace flyball::check
