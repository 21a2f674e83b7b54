#include "train/initial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/suggest.hpp"
#include "measure/moments.hpp"
#include "model/convert.hpp"
#include "model/initialise.hpp"
#include "model/locate.hpp"
#include "model/longest.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::train {

namespace {

using scheme::Matrix;

struct MatrixKey {
    std::string_view name;
    std::vector<Matrix> matrices;
};

const std::vector<MatrixKey>& matrix_keys() {
    static const std::vector<MatrixKey> keys = {
        {"embedding", {Matrix::embedding}},
        {"query", {Matrix::query}},
        {"key", {Matrix::key}},
        {"value", {Matrix::value}},
        {"output", {Matrix::output}},
        {"ffn-in", {Matrix::ffn_in}},
        {"ffn-out", {Matrix::ffn_out}},
        {"head", {Matrix::head}},
        {"residual", {Matrix::output, Matrix::ffn_out}},
        {"matrices", {scheme::block_matrices.begin(), scheme::block_matrices.end()}},
    };
    return keys;
}

[[noreturn]] void fail_init(const std::string& init, std::string_view expected, std::string_view hint = {}) {
    throw Error(ErrorKind::usage, "train.init", setting("init", flyball::quoted(init)), expected, hint);
}

}  // namespace

// Cut at commas outside of parentheses.
std::vector<Override> overrides_of(const std::string& init) {
    std::vector<Override> found;
    int depth = 0;
    std::string part;
    const auto end_part = [&] {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
            fail_init(init, "KEY=EXPR with commas between them, for example embedding=1,residual=0.02/sqrt(2*L)");
        }
        found.push_back({part.substr(0, equals), part.substr(equals + 1)});
        part.clear();
    };
    for (const char c : init) {
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == ',' && depth == 0) {
            end_part();
        } else {
            part += c;
        }
    }
    if (!init.empty()) {
        end_part();
    }
    return found;
}

namespace {

// Changes a fresh model to what `init` says. A matrix is already drawn with the recipe's deviation: it is multiplied by
// the ratio of the two, so that runs that differ in a deviation start from the same random directions.
class Overriding {
  public:
    Overriding(const Settings& settings, const scheme::Recipe& recipe, model::Model<float>& model)
        : settings_(settings), recipe_(recipe), model_(model), a_(model.architecture()) {}

    void apply() {
        std::map<Matrix, std::string> deviations;  // of what is named twice the last counts
        for (const Override& one : overrides_of(settings_.init)) {
            const auto& keys = matrix_keys();
            const auto matrices =
                std::find_if(keys.begin(), keys.end(), [&](const MatrixKey& key) { return key.name == one.key; });
            if (matrices != keys.end()) {
                for (const Matrix matrix : matrices->matrices) {
                    deviations[matrix] = one.expression;
                }
            } else if (one.key == "gains") {
                set_gains(one.expression, 0);
            } else if (one.key.rfind("gain.", 0) == 0) {
                const auto number = parse_whole(one.key.substr(5));
                if (!number || *number == 0) {
                    fail_init(settings_.init, "gain.K with the number of a norm, from 1");
                }
                set_gains(one.expression, *number);
            } else {
                fail_key(one.key);
            }
        }
        for (const auto& [matrix, expression] : deviations) {
            set_deviation(matrix, expression);
        }
    }

  private:
    [[noreturn]] void fail_key(const std::string& got) const {
        std::vector<std::string> names;
        for (const MatrixKey& key : matrix_keys()) {
            names.emplace_back(key.name);
        }
        names.insert(names.end(), {"gains", "gain.K"});
        const std::string near = nearest(got, names);
        fail_init(settings_.init, fmt::format("keys among {}", fmt::join(names, ", ")),
                  near.empty() ? "" : fmt::format("did you mean {}?", near));
    }

    double value(const std::string& expression, std::size_t layer) const {
        const double number = scheme::scalar_value(expression, model::block_of_the_longest(a_, layer));
        if (!std::isfinite(number)) {
            fail_init(settings_.init, fmt::format("finite numbers, not {} = {}", expression, number));
        }
        return number;
    }

    // The draws stay, their deviation changes: runs that differ in it alone start in the same directions.
    void scale(int parameter, std::size_t begin, std::size_t end, std::size_t stride, std::size_t outputs, double from,
               double to) {
        // [outputs, stride] or, transposed, every `stride`-th number: see callers
        float* const values = model_.parameters()->at(parameter);
        const std::size_t count = model_.layout().parameters[static_cast<std::size_t>(parameter)].elements();
        const auto factor = static_cast<float>(to / from);
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t output = outputs == 0 ? k / stride : k % outputs;
            if (output >= begin && output < end) {
                values[k] *= factor;
            }
        }
    }

    // The part of outputs [begin, end) of a joint matrix that lies in this tensor.
    void scale_linear(const model::Linear& part, std::size_t begin, std::size_t end, Matrix matrix, std::size_t in,
                      std::size_t out, const std::string& expression, std::size_t layer) {
        const std::size_t first = std::max(begin, part.offset);
        const std::size_t last = std::min(end, part.offset + part.out);
        if (first >= last) {
            return;
        }
        const double from =
            model::deviation_of(recipe_.initialisation, matrix, in, out, model::block_of_the_longest(a_, layer));
        scale(part.weight, first - part.offset, last - part.offset, part.in, part.in_out ? part.out : 0, from,
              value(expression, layer));
    }

    void scale_table(int table, Matrix matrix, const std::string& expression) {
        if (table != model::absent) {
            const double from =
                model::deviation_of(recipe_.initialisation, matrix, a_.dim, a_.dim, model::block_of_the_longest(a_, 0));
            scale(table, 0, static_cast<std::size_t>(-1), a_.dim, 0, from, value(expression, 0));
        }
    }

    // Queries, keys and values are bands of the outputs of qkv, whether that is one tensor or three:
    // [0, q), [q, q + k), [q + k, q + 2k). Gate and up share the deviation of ffn-in.
    void set_deviation(Matrix matrix, const std::string& expression) {
        const model::Layout& layout = model_.layout();
        const std::size_t q = a_.query_width();
        const std::size_t k = a_.key_width();
        const std::size_t f = a_.ffn_dim;
        if (matrix == Matrix::embedding) {
            for (const int table : {layout.tokens, layout.positions, layout.types}) {
                scale_table(table, matrix, expression);
            }
            return;
        }
        if (matrix == Matrix::head) {
            if (layout.head == layout.tokens) {
                fail_init(settings_.init,
                          fmt::format("no key head: it is the embedding without {}", setting("untied")));
            }
            scale_table(layout.head, matrix, expression);
            return;
        }
        for (std::size_t l = 0; l < a_.layers; ++l) {
            const model::BlockLayout& block = layout.blocks[l];
            const auto of = [&](const std::vector<model::Linear>& parts, std::size_t begin, std::size_t end,
                                std::size_t in, std::size_t out) {
                for (const model::Linear& part : parts) {
                    scale_linear(part, begin, end, matrix, in, out, expression, l);
                }
            };
            switch (matrix) {
                case Matrix::query:
                    of(block.qkv, 0, q, a_.dim, q);
                    break;
                case Matrix::key:
                    of(block.qkv, q, q + k, a_.dim, k);
                    break;
                case Matrix::value:
                    of(block.qkv, q + k, q + 2 * k, a_.dim, k);
                    break;
                case Matrix::output:
                    of({block.output}, 0, a_.dim, q, a_.dim);
                    break;
                case Matrix::ffn_in:
                    of(block.ffn_in, 0, 2 * f, a_.dim, f);
                    break;
                case Matrix::ffn_out:
                    of({block.ffn_out}, 0, a_.dim, f, a_.dim);
                    break;
                case Matrix::embedding:
                case Matrix::head:
                    break;
            }
        }
    }

    // number 0: all norms, the readout's too.
    void set_gains(const std::string& expression, std::size_t number) {
        const auto set = [&](const std::vector<model::NormPlace>& norms, std::size_t layer) {
            std::size_t count = 0;
            for (const model::NormPlace& place : norms) {
                count += place.gain != model::absent ? 1 : 0;
                if (place.gain == model::absent || (number != 0 && number != count)) {
                    continue;
                }
                std::fill_n(model_.parameters()->at(place.gain),
                            model_.layout().parameters[static_cast<std::size_t>(place.gain)].elements(),
                            static_cast<float>(value(expression, layer)));
            }
            return count;
        };
        const std::vector<model::ParameterSpec>& parameters = model_.layout().parameters;
        if (std::none_of(parameters.begin(), parameters.end(),
                         [](const model::ParameterSpec& one) { return one.role == model::Role::gain; })) {
            fail_init(settings_.init, "no key gains: this model has no norm with gains");
        }
        std::size_t most = 0;
        for (std::size_t l = 0; l < a_.layers; ++l) {
            most = std::max(most, set(model_.layout().blocks[l].norms, l));
        }
        if (number > most) {
            fail_init(settings_.init, fmt::format("gains of the {} norms that a block of this equation has", most));
        }
        if (number == 0) {
            set(model_.layout().readout_norms, a_.layers - 1);
        }
    }

    const Settings& settings_;
    const scheme::Recipe& recipe_;
    model::Model<float>& model_;
    const model::Architecture& a_;
};

}  // namespace

scheme::AttentionNorm attention_norm_of(QkNorm over) {
    scheme::AttentionNorm result;
    if (over != QkNorm::none) {
        const bool each_head = over == QkNorm::head;
        result.norm = "rmsnorm";
        result.query = result.key = true;
        result.over = each_head ? scheme::AttentionNorm::Over::head : scheme::AttentionNorm::Over::projection;
        result.gains = each_head ? scheme::AttentionNorm::Gains::head : scheme::AttentionNorm::Gains::channel;
    }
    return result;
}

model::Architecture architecture_of(const Settings& s, const scheme::Scheme& scheme, std::size_t vocab) {
    model::Architecture a;
    a.dt = s.dt.value_or(1);
    a.layers = s.layers;
    a.dim = s.dim;
    a.heads = s.heads;
    a.kv_heads = s.heads;
    a.head_dim = s.dim / s.heads;
    a.ffn_dim = s.ffn_width();
    a.vocab = vocab;
    a.positions = s.context;
    a.attention_kind = attention::kind_from_name(s.attention);
    a.learned_positions = s.positions == Positions::learned;
    if (s.positions == Positions::rope) {
        a.rope.dims = a.head_dim;
        a.rope.original_positions = static_cast<double>(s.context);
    }
    a.gated = s.ffn_kind == Ffn::swiglu;
    a.activation = a.gated ? model::Activation::silu : model::Activation::gelu_tanh;
    a.norm = s.norm;
    // As the published models have it: GPT-2, with LayerNorm, has biases everywhere, Llama, with RMSNorm, has none.
    const scheme::Normaliser& norm = scheme::find_normaliser(s.norm);
    a.eps = norm.eps;
    a.norm_bias = norm.bias;
    a.qkv_bias = a.output_bias = a.ffn_bias = norm.bias;
    a.tied = !s.untied;
    a.attention_norm = attention_norm_of(s.qk_norm);
    return model::wired(std::move(a), scheme);
}

namespace {

model::Architecture rewired_architecture(const model::Architecture& loaded, const Settings& s,
                                         const scheme::Scheme& scheme, std::size_t vocab) {
    if (vocab > loaded.vocab) {
        throw Error(ErrorKind::input, "train.from", fmt::format("data with {} different tokens", vocab),
                    fmt::format("at most the {} that {} knows", loaded.vocab, s.from),
                    "read the text with its tokenizer: " + setting("tokenizer", s.from));
    }
    if (!loaded.causal || !loaded.has_head) {
        throw Error(ErrorKind::input, "train.from", fmt::format("{}, a {} model", s.from, loaded.family),
                    "a model that predicts the next token");
    }
    if (s.context > loaded.positions) {
        throw Error(ErrorKind::usage, "train.from", setting("context", std::to_string(s.context)),
                    fmt::format("at most the {} positions of {}", loaded.positions, s.from));
    }
    model::Architecture a = scheme.entry != nullptr ? model::unwired(loaded) : loaded;
    a.family = "flyball";
    a.dt = s.dt.value_or(loaded.dt);
    return model::wired(std::move(a), scheme);
}

Initial taken_from(const Settings& s, const scheme::Scheme& scheme, std::size_t vocab) {
    const model::Model<float> loaded = model::load_model(model::locate(s.from));
    model::Rewired rewired = model::rewired(loaded, rewired_architecture(loaded.architecture(), s, scheme, vocab),
                                            scheme::recipe_of(scheme), s.seed);
    Initial result{std::move(rewired.model), {}};
    if (!rewired.fresh.empty() || !rewired.dropped.empty()) {
        std::string note = fmt::format("{} of {} parameters were taken from {}", rewired.copied.size(),
                                       rewired.copied.size() + rewired.fresh.size(), s.from);
        if (!rewired.fresh.empty()) {
            note += fmt::format("; {} start anew ({}{})", rewired.fresh.size(), rewired.fresh.front(),
                                rewired.fresh.size() > 1 ? ", .." : "");
        }
        if (!rewired.dropped.empty()) {
            note += fmt::format("; {} of the old ones have no place", rewired.dropped.size());
        }
        result.notes.push_back(note + ".");
    }
    return result;
}

}  // namespace

model::Architecture planned_architecture(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab) {
    if (settings.from.empty()) {
        return architecture_of(settings, scheme, vocab);
    }
    return rewired_architecture(model::load_model(model::locate(settings.from)).architecture(), settings, scheme,
                                vocab);
}

std::size_t parameter_count(const model::Architecture& architecture) {
    return model::make_layout(architecture, scheme::Program::parse(architecture.equation), model::native_names())
        .count();
}

void check_start(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab) {
    if (settings.init.empty()) {
        return;
    }
    // What an expression is depends on depth, width and context, not on the vocabulary.
    initial_model(settings, scheme, std::min<std::size_t>(vocab, 2));
}

namespace {

// A normed stream has length sqrt(d), and its product with a row of the head is a logit: of deviation s sqrt(d) where the
// numbers of the head have deviation s. Beyond a few units the first loss is not that of guessing, ln V, but several times it.
// An embedding of size 1 is right for the stream and wrong for a head that is the same table.
void note_loud_head(const Settings& settings, Initial& initial) {
    constexpr double loud = 3;
    const model::Layout& layout = initial.model.layout();
    if (settings.init.empty() || layout.head != layout.tokens) {
        return;
    }
    const std::size_t dim = initial.model.architecture().dim;
    const std::size_t vocab = initial.model.architecture().vocab;
    const double logits = measure::mean_length(initial.model.parameters()->at(layout.head), vocab, dim);
    if (logits > loud) {
        initial.notes.push_back(
            fmt::format("the head is the embedding, whose numbers have deviation {}, so that logits begin with "
                        "deviation {} and the first "
                        "loss is far above {}, that of guessing; {} gives the head a table of its own.",
                        format_short(logits / std::sqrt(static_cast<double>(dim)), 2), format_short(logits, 2),
                        format_short(std::log(static_cast<double>(vocab)), 3), setting("untied")));
    }
}

}  // namespace

Initial initial_model(const Settings& settings, const scheme::Scheme& scheme, std::size_t vocab) {
    const scheme::Recipe& recipe = scheme::recipe_of(scheme);
    if (!settings.from.empty()) {
        return taken_from(settings, scheme, vocab);
    }
    Initial result{model::initialised<float>(architecture_of(settings, scheme, vocab), recipe, settings.seed), {}};
    Overriding(settings, recipe, result.model).apply();
    if (!settings.init.empty()) {
        model::scale_to_unit(result.model.layout(), recipe.training.unit_vectors, *result.model.parameters());
    }
    note_loud_head(settings, result);
    return result;
}

}  // namespace flyball::train
