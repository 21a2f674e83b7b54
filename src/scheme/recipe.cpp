#include "scheme/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "scheme/evaluate.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/syntax.hpp"
#include "scheme/typing.hpp"

namespace flyball::scheme {

namespace {

// Names of a parameter's value are quantities alone: assign_parameter_types has refused all others.
ExpressionPtr with_quantities(const Expression& e) {
    auto node = std::make_shared<Expression>(e);
    if (e.kind == Expression::Kind::name) {
        node->kind = Expression::Kind::quantity;
        node->quantity = find_quantity(e.text)->quantity;
    }
    for (ExpressionPtr& argument : node->arguments) {
        argument = with_quantities(*argument);
    }
    return node;
}

std::string shown(const Draw& draw) {
    switch (draw.kind) {
        case Draw::Kind::normal:
            return fmt::format("normal with deviation {}", draw.deviation);
        case Draw::Kind::xavier:
            return "Xavier";
    }
    unreachable();
}

std::string_view name(Matrix matrix) {
    switch (matrix) {
        case Matrix::embedding:
            return "embedding";
        case Matrix::query:
            return "query";
        case Matrix::key:
            return "key";
        case Matrix::value:
            return "value";
        case Matrix::output:
            return "output";
        case Matrix::ffn_in:
            return "FFN input";
        case Matrix::ffn_out:
            return "FFN output";
        case Matrix::head:
            return "head";
    }
    unreachable();
}

std::string listed(const std::vector<std::string>& words) {
    std::string text = words.front();
    for (std::size_t i = 1; i < words.size(); ++i) {
        text += (i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
}

std::string shown(const std::vector<Matrix>& matrices) {
    const auto has = [&](Matrix matrix) {
        return std::find(matrices.begin(), matrices.end(), matrix) != matrices.end();
    };
    if (std::all_of(block_matrices.begin(), block_matrices.end(), has)) {
        return "all matrices of the blocks";
    }
    if (matrices.size() == 2 && has(Matrix::output) && has(Matrix::ffn_out)) {
        return "residual projections";
    }
    const bool whole_ffn = has(Matrix::ffn_in) && has(Matrix::ffn_out);
    std::vector<std::string> words;
    for (const Matrix matrix : matrices) {
        if (!whole_ffn || matrix != Matrix::ffn_out) {
            words.emplace_back(whole_ffn && matrix == Matrix::ffn_in ? "FFN" : name(matrix));
        }
    }
    return listed(words) + " matrices";
}

std::string shown(const AttentionNorm& norm, std::string_view user) {
    std::vector<std::string> of;
    for (const auto& [on, letter] : {std::pair{norm.query, "q"}, {norm.key, "k"}, {norm.value, "v"}}) {
        if (on) {
            of.emplace_back(letter);
        }
    }
    const Normaliser& normaliser = find_normaliser(norm.norm);
    const bool each_head = norm.over == AttentionNorm::Over::head;
    std::string text =
        fmt::format("{}{} {} of {}", user.empty() ? "" : fmt::format("in {} ", user),
                    normaliser.function == RowFunction::sphere ? "unit" : fmt::format("{} on", normaliser.title),
                    listed(of), each_head ? "each head" : "all heads together");
    switch (norm.gains) {
        case AttentionNorm::Gains::none:
            text += " without gains";
            break;
        case AttentionNorm::Gains::head:
            break;  // what people expect of a norm
        case AttentionNorm::Gains::channel:
            text += each_head ? " times a learned gain for each channel of all heads" : "";
            break;
    }
    text += norm.after_positions ? ", after rotary positions" : "";
    return text + (norm.scores_times_root ? "; scores times sqrt(d/heads)" : "");
}

const char* shown(Learned of) {
    switch (of) {
        case Learned::equation:
            return "the equation's learned parameters";
        case Learned::attention_gain:
            return "the gains on q, k and v";
        case Learned::ffn_gain:
            return "the gains inside the FFN";
        case Learned::logit_gain:
            return "the scales of the logits";
    }
    unreachable();
}

}  // namespace

double scalar_value(std::string_view text, const Environment& env) {
    const ExpressionPtr typed = assign_parameter_types(text, *parse_expression(text));
    return evaluate(*with_quantities(*typed), Scope<double>{env.values(), {}});
}

std::string describe(const Initialisation& start) {
    std::string text = start.prescribed ? shown(start.draw) : fmt::format("no special one: {}", shown(start.draw));
    if (start.alternative) {
        text += fmt::format(" or {}", shown(*start.alternative));
    }
    if (start.embedding) {
        text += fmt::format("; embeddings {}", shown(*start.embedding));
    }
    for (const Gain& gain : start.gains) {
        text += fmt::format("; {} times {}", shown(gain.matrices), gain.factor);
    }
    if (!start.measured.empty()) {
        text += fmt::format("; {} = sqrt of the summed branch variances of a profiling pass", start.measured);
    }
    return start.note.empty() ? text : fmt::format("{}; {}", text, start.note);
}

std::string describe_attributes(const Recipe& recipe) {
    const Training& training = recipe.training;
    std::vector<std::string> parts;
    switch (training.unit_vectors) {
        case UnitVectors::none:
            break;
        case UnitVectors::embeddings:
            parts.emplace_back("word vectors have unit length at the start and after every step");
            break;
        case UnitVectors::all:
            parts.emplace_back(
                "embeddings and all matrices have vectors of unit length along the embedding axis, at "
                "the start and after every step");
            break;
    }
    if (recipe.attention_norm.any()) {
        parts.push_back(shown(recipe.attention_norm, recipe.attention_norm_user));
    }
    if (!recipe.ffn_scale.empty()) {
        parts.push_back(
            fmt::format("inner numbers of the FFN times {} and a learned gain for each channel", recipe.ffn_scale));
    }
    if (recipe.logit_scale) {
        parts.emplace_back("a learned scale for each token's logit");
    }
    if (training.learned_gains) {
        parts.emplace_back("gains of the norms start at 1 and stay learnable");
    }
    if (training.warm_up == Training::WarmUp::needed) {
        parts.emplace_back("needs learning-rate warm-up");
    } else if (training.warm_up == Training::WarmUp::none) {
        parts.emplace_back("no warm-up");
    }
    if (!training.weight_decay) {
        parts.emplace_back("no weight decay");
    }
    if (!training.clip) {
        parts.emplace_back("gradients are not clipped");
    }
    for (const Rate& rate : training.rates) {
        parts.push_back(fmt::format("learning rate of {} times {}", shown(rate.of), rate.factor));
    }
    if (training.learned_clip) {
        parts.push_back(
            fmt::format("gradients of its learned parameters clipped at {} in models of {} parameters and more",
                        format_double(*training.learned_clip), format_double(training.learned_clip_from)));
    }
    if (!training.equation.empty()) {
        std::vector<std::string> values;
        for (const ParameterSyntax& parameter : parse_syntax(training.equation).parameters) {
            values.push_back(print(parameter));
        }
        parts.push_back(fmt::format("trained with {}", fmt::join(values, ", ")));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace flyball::scheme
