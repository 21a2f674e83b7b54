// Which tensors a model has, in the order of its parts, and where each begins in memory.
#include "model/layout.hpp"
#include "core/huge_pages.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "model/longest.hpp"
#include "scheme/coefficients.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/quantity_use.hpp"

namespace flyball::model {

namespace {

void mark_learned(const scheme::Expression& expression, std::vector<bool>& used) {
    if (expression.kind == scheme::Expression::Kind::learned) {
        used[static_cast<std::size_t>(expression.index)] = true;
    }
    for (const scheme::ExpressionPtr& argument : expression.arguments) {
        mark_learned(*argument, used);
    }
}

// Walks a model from its embedding to its head and hands out parameters in that order. Which norms and learned numbers
// a block has is read off its code, so a norm that a condition leaves out of a block has no tensor there. Conditions on
// n are the exception: every text decides them anew, so a block has what any outcome of them needs, what the longest
// sequence needs first.
class Builder {
  public:
    Builder(const Architecture& architecture, const scheme::Program& program, const Names& names)
        : a_(architecture), program_(program), names_(names), norm_(scheme::find_normaliser(architecture.norm)) {}

    Layout build() {
        if (a_.patches.any()) {
            patches();
        } else {
            layout_.tokens = add(names_.tokens, ".weight", {a_.vocab, a_.dim}, Role::embedding);
        }
        if (a_.learned_positions && !a_.patches.any()) {
            layout_.positions = add(names_.positions, ".weight", {a_.positions, a_.dim}, Role::embedding);
            layout_.parameters.back().unused_rows = names_.unused_positions;
        }
        if (a_.token_types > 0) {
            layout_.types = add(names_.types, ".weight", {a_.token_types, a_.dim}, Role::embedding);
        }
        if (a_.embedding_norm) {
            layout_.embedding_norm = norm(std::string(names_.embedding_norm));
        }
        for (std::size_t l = 0; l < a_.layers; ++l) {
            block(l);
        }
        const scheme::Environment env = block_of_the_longest(a_, a_.layers - 1);
        std::vector<scheme::Code> codes;
        for (const std::vector<bool>& decisions : outcomes(env)) {
            codes.push_back(scheme::lower_readout(program_, decisions));
        }
        layout_.readout_norms = norms(codes, "readout.", names_.readout_norms, "");
        layout_.readout_learned = learned(codes, env, "readout.");
        if (a_.has_head) {
            layout_.head = a_.tied ? layout_.tokens : add(names_.head, ".weight", {a_.vocab, a_.dim}, Role::head);
        }
        if (a_.logit_gains) {
            layout_.logit_gain = add(names_.logit_gain, ".weight", {a_.vocab}, Role::logit_gain, 1);
        }
        return std::move(layout_);
    }

  private:
    int add(std::string_view name, const char* ending, std::vector<std::size_t> shape, Role role, double start = 0,
            InFile in_file = InFile::plain) {
        ParameterSpec spec{fmt::format("{}{}", name, ending), std::move(shape), role, start, layout_.elements, in_file};
        constexpr std::size_t line = 16;  // parameters start at a multiple of a cache line of floats
        layout_.elements += (spec.elements() + line - 1) / line * line;
        layout_.parameters.push_back(std::move(spec));
        return static_cast<int>(layout_.parameters.size()) - 1;
    }

    Linear linear(const std::string& name, std::size_t in, std::size_t out, bool bias, Role role,
                  InFile in_file = InFile::plain) {
        Linear part;
        part.in = in;
        part.out = out;
        part.in_out = names_.in_out;
        const std::size_t rows = part.in_out ? in : out;
        part.weight = add(name, ".weight", {rows, part.in_out ? out : in}, role, 0, in_file);
        if (bias) {
            part.bias = add(name, ".bias", {out}, Role::bias, 0, in_file);
        }
        return part;
    }

    // Published with a dimension for the batch, and the projection as the convolution it is.
    void patches() {
        const Patches& p = a_.patches;
        layout_.class_token = add(names_.class_token, "", {1, 1, a_.dim}, Role::embedding);
        layout_.positions = add(names_.positions, "", {1, a_.positions, a_.dim}, Role::embedding);
        layout_.patches.in = p.numbers();
        layout_.patches.out = a_.dim;
        layout_.patches.weight =
            add(names_.patches, ".weight", {a_.dim, p.channels, p.patch_height, p.patch_width}, Role::embedding);
        layout_.patches.bias = add(names_.patches, ".bias", {a_.dim}, Role::bias);
    }

    // Consecutive parts write consecutive columns.
    std::vector<Linear> parts(const std::string& block, const std::vector<std::string_view>& parts_names,
                              const std::vector<std::size_t>& widths, bool bias, InFile in_file = InFile::plain) {
        std::vector<Linear> result;
        std::size_t offset = 0;
        if (parts_names.size() == 1) {
            std::size_t total = 0;
            for (const std::size_t width : widths) {
                total += width;
            }
            return {linear(fmt::format("{}{}", block, parts_names[0]), a_.dim, total, bias, Role::weight, in_file)};
        }
        for (std::size_t i = 0; i < widths.size(); ++i) {
            result.push_back(linear(fmt::format("{}{}", block, parts_names[i]), a_.dim, widths[i], bias, Role::weight));
            result.back().offset = offset;
            offset += widths[i];
        }
        return result;
    }

    InFile gains_in_file() const { return names_.gains_less_one ? InFile::less_one : InFile::plain; }

    NormPlace norm(const std::string& name) {
        NormPlace place;
        if (norm_.gain) {
            place.gain = add(name, ".weight", {a_.dim}, Role::gain, 1, gains_in_file());
        }
        if (norm_.bias && a_.norm_bias) {
            place.bias = add(name, ".bias", {a_.dim}, Role::norm_bias);
        }
        if (norm_.shape) {
            place.alpha = add(name, ".alpha", {1}, Role::curve, norm_.alpha);
        }
        if (norm_.shift) {
            place.shift = add(name, ".shift", {1}, Role::curve);
        }
        return place;
    }

    std::vector<std::vector<bool>> outcomes(const scheme::Environment& env) const {
        constexpr std::size_t most = 8;
        std::vector<std::vector<bool>> all = {program_.decide(env)};
        std::size_t open = 0;
        for (std::size_t i = 0; i < program_.conditions().size(); ++i) {
            if (!scheme::asks_for(*program_.conditions()[i], scheme::Quantity::n)) {
                continue;
            }
            if (++open > most) {
                throw Error(ErrorKind::input, "model.layout",
                            fmt::format("an equation with more than {} conditions on n", most),
                            "fewer, since a block has the norms of every outcome");
            }
            for (std::size_t k = 0, count = all.size(); k < count; ++k) {
                all.push_back(all[k]);
                all.back()[i] = !all[k][i];
            }
        }
        return all;
    }

    // In the order in which the code evaluates them, which is the order of published names; ones beyond those get our
    // own.
    std::vector<NormPlace> norms(const std::vector<scheme::Code>& codes, const std::string& own_prefix,
                                 const std::vector<std::string_view>& published, const std::string& prefix) {
        std::vector<NormPlace> places(codes.front().norm_count);
        std::vector<bool> seen(places.size(), false);
        std::size_t count = 0;
        for (const scheme::Code& code : codes) {
            for (const scheme::Instruction& instruction : code.instructions) {
                if (instruction.norm < 0 || seen[scheme::index(instruction.norm)]) {
                    continue;
                }
                seen[scheme::index(instruction.norm)] = true;
                places[scheme::index(instruction.norm)] =
                    norm(count < published.size() ? fmt::format("{}{}", prefix, published[count])
                                                  : fmt::format("{}norm.{}", own_prefix, count));
                ++count;
            }
        }
        return places;
    }

    std::vector<int> learned(const std::vector<scheme::Code>& codes, const scheme::Environment& env,
                             const std::string& prefix) {
        std::vector<bool> used(codes.front().learned_count, false);
        for (const scheme::Code& code : codes) {
            for (const scheme::ExpressionPtr& coefficient : code.coefficients) {
                mark_learned(*coefficient, used);
            }
        }
        const scheme::LearnedValues start = scheme::initial_learned(program_, codes.front(), env);
        std::vector<int> places(used.size(), absent);
        const std::size_t count = program_.learned().size();
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (used[i]) {
                const scheme::Parameter& parameter = program_.learned()[i % count];
                places[i] = add(fmt::format("{}scheme.{}.{}", prefix, i / count, parameter.name), "",
                                {parameter.per_channel ? a_.dim : 1}, Role::learned, start[i][0]);
            }
        }
        return places;
    }

    std::array<int, 3> attention_gains(const std::string& prefix) {
        const scheme::AttentionNorm& norm = a_.attention_norm;
        std::array<int, 3> places = {absent, absent, absent};
        const std::array<bool, 3> on = {norm.query, norm.key, norm.value};
        const std::array<std::size_t, 3> widths = {a_.query_width(), a_.key_width(), a_.key_width()};
        for (std::size_t part = 0; part < 3; ++part) {
            if (norm.any() && on[part] && norm.gains != scheme::AttentionNorm::Gains::none) {
                const bool shared = norm.gains == scheme::AttentionNorm::Gains::head;
                places[part] = add(fmt::format("{}{}", prefix, names_.attention_norms[part]), ".weight",
                                   {shared ? a_.head_dim : widths[part]}, Role::attention_gain, 1, gains_in_file());
            }
        }
        return places;
    }

    void block(std::size_t l) {
        const std::string prefix = fmt::format(fmt::runtime(names_.block), l);
        BlockLayout block;
        block.qkv = parts(prefix, names_.qkv, {a_.query_width(), a_.key_width(), a_.key_width()}, a_.qkv_bias,
                          names_.qkv_by_head ? InFile::by_head : InFile::plain);
        block.output = linear(fmt::format("{}{}", prefix, names_.attention_output), a_.query_width(), a_.dim,
                              a_.output_bias, Role::residual_weight);
        std::vector<std::size_t> widths(a_.gated ? 2 : 1, a_.ffn_dim);
        block.ffn_in = parts(prefix, names_.ffn_in, widths, a_.ffn_bias);
        block.ffn_out =
            linear(fmt::format("{}{}", prefix, names_.ffn_out), a_.ffn_dim, a_.dim, a_.ffn_bias, Role::residual_weight);
        block.attention_gains = attention_gains(prefix);
        if (a_.ffn_gains) {
            block.ffn_gain =
                add(fmt::format("{}{}", prefix, names_.ffn_gain), ".weight", {a_.inner_width()}, Role::ffn_gain, 1);
        }
        const scheme::Environment env = block_of_the_longest(a_, l);
        std::vector<std::vector<bool>> decisions = outcomes(env);
        if (codes_.empty() || decisions != decisions_) {
            codes_.clear();
            for (const std::vector<bool>& one : decisions) {
                codes_.push_back(scheme::lower_block(program_, scheme::SubLayers::attention_and_ffn, one));
            }
            decisions_ = std::move(decisions);
        }
        block.norms = norms(codes_, prefix, names_.norms, prefix);
        block.learned = learned(codes_, env, prefix);
        layout_.blocks.push_back(std::move(block));
    }

    const Architecture& a_;
    const scheme::Program& program_;
    const Names& names_;
    const scheme::Normaliser& norm_;
    Layout layout_;
    std::vector<scheme::Code> codes_;  // of the last block, one for each of its outcomes
    std::vector<std::vector<bool>> decisions_;
};

}  // namespace

std::size_t ParameterSpec::elements() const {
    std::size_t product = 1;
    for (const std::size_t size : shape) {
        product *= size;
    }
    return product;
}

std::size_t Layout::count() const {
    std::size_t total = 0;
    for (const ParameterSpec& spec : parameters) {
        total += spec.elements();
    }
    return total;
}

Layout make_layout(const Architecture& architecture, const scheme::Program& program, const Names& names) {
    return Builder(architecture, program, names).build();
}

template <class Real>
Parameters<Real>::Parameters(const Layout& layout) {
    reserve_in_huge_pages(values_, layout.elements);
    values_.resize(layout.elements);
    for (const ParameterSpec& spec : layout.parameters) {
        offsets_.push_back(spec.offset);
    }
    offsets_.push_back(layout.elements);
    cleared_.assign(layout.parameters.size(), 0);
}

template <class Real>
void Parameters<Real>::clear() {
    std::fill(cleared_.begin(), cleared_.end(), char{1});
    cleared_left_ = cleared_.size();
}

template <class Real>
bool Parameters<Real>::overwrites(int parameter) {
    char& cleared = cleared_[static_cast<std::size_t>(parameter)];
    if (cleared == 0) {
        return false;
    }
    cleared = 0;
    --cleared_left_;
    return true;
}

template <class Real>
void Parameters<Real>::fill(std::size_t parameter) {
    std::fill(values_.begin() + static_cast<std::ptrdiff_t>(offsets_[parameter]),
              values_.begin() + static_cast<std::ptrdiff_t>(offsets_[parameter + 1]), Real{0});
    cleared_[parameter] = 0;
    --cleared_left_;
}

template class Parameters<float>;
template class Parameters<double>;

}  // namespace flyball::model
