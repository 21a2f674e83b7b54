#include "scheme/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::scheme {

namespace {

constexpr Draw xavier = {.kind = Draw::Kind::xavier};

Gain residual_by_depth() {
    return {{Matrix::output, Matrix::ffn_out}, "1/sqrt(2*L)"};
}

Initialisation post_ln_start(std::string_view note = {}) {
    return {.draw = xavier, .alternative = Draw{}, .note = note};
}

Recipe hybridnorm_recipe() {
    return {.initialisation = {.draw = {.deviation = "sqrt(2/(5*d))"},
                               .gains = {residual_by_depth()},
                               .note = "Megatron's, 0.014 at d = 2048"},
            .attention_norm = {.norm = "rmsnorm", .query = true, .key = true, .value = true}};
}

}  // namespace

const std::vector<CatalogueEntry>& catalogue() {
    static const std::vector<CatalogueEntry> table = {
        {.name = "post-ln",
         .title = "Post-LN",
         .equation = "norm(x + dt*f(x))",
         .reference = "Vaswani et al. 2017, arXiv:1706.03762",
         .remark = "the original Transformer, BERT, RoBERTa, GPT-1",
         .recipe = {.initialisation = post_ln_start(), .training = {.warm_up = Training::WarmUp::needed}},
         .colour = "#4269d0"},
        {.name = "pre-ln",
         .title = "Pre-LN",
         .equation = "x + dt*f(norm(x)) | norm(x)",
         .reference = "Xiong et al. 2020, arXiv:2002.04745",
         .remark = "GPT-2/3, Llama, Mistral, Qwen, DeepSeek; the stream grows with depth",
         .recipe = {.initialisation = {.gains = {residual_by_depth()}}},
         .colour = "#efb118"},
        {.name = "peri-ln",
         .title = "Peri-LN",
         .equation = "x + dt*norm(f(norm(x))) | norm(x)",
         .reference = "Kim et al. 2025, arXiv:2502.02732",
         .remark = "a norm on both sides of the sub-layer: Gemma 2 and 3, Grok-1, and CogView as Sandwich-LN",
         .recipe = {.training = {.learned_gains = true}},
         .aliases = {"sandwich"},
         .colour = "#ff725c"},
        {.name = "output-ln",
         .title = "Output-LN",
         .equation = "x + dt*norm(f(x)) | norm(x)",
         .reference = "OLMo 2, arXiv:2501.00656; Swin V2, arXiv:2111.09883",
         .remark = "norm on the branch's output only; the sub-layer sees the raw stream",
         .recipe = {.attention_norm = {.norm = "rmsnorm",
                                       .query = true,
                                       .key = true,
                                       .over = AttentionNorm::Over::projection,
                                       .gains = AttentionNorm::Gains::channel},
                    .attention_norm_user = "OLMo 2"},
         .colour = "#6cc5b0",
         .dash = "6 2"},
        {.name = "mix-ln",
         .title = "Mix-LN",
         .equation = "depth <= tau ? norm(x + dt*f(x)) : x + dt*f(norm(x)) | norm(x) where tau = 0.25",
         .reference = "Li et al. 2024, arXiv:2412.13795",
         .remark = "Post-LN in the first blocks, Pre-LN in the rest",
         .recipe = {.training = {.weight_decay = false, .clip = false}},
         .parameters = {{"tau", "share of the depth that is Post-LN"}},
         .colour = "#3ca951"},
        {.name = "ngpt",
         .title = "nGPT",
         .equation = "unit(x + dt*alpha*(unit(f(x)) - x)) where alpha = 1",
         .reference = "Loshchilov et al. 2024, arXiv:2410.01131",
         .remark = "interpolates on the sphere between the stream and the branch",
         .recipe = {.initialisation = {.draw = {.deviation = "1/sqrt(d)"}},
                    .training = {.unit_vectors = UnitVectors::all,
                                 .warm_up = Training::WarmUp::none,
                                 .weight_decay = false,
                                 .rates = {{Learned::equation, "0.05*sqrt(d)"},
                                           {Learned::attention_gain, "sqrt(d)"},
                                           {Learned::logit_gain, "sqrt(d)"}},
                                 .equation = "unit(x + dt*alpha*(unit(f(x)) - x)) where ~alpha[d] = 0.05"},
                    .attention_norm = {.norm = "unit",
                                       .query = true,
                                       .key = true,
                                       .gains = AttentionNorm::Gains::channel,
                                       .after_positions = true,
                                       .scores_times_root = true},
                    .ffn_scale = "sqrt(d)",
                    .logit_scale = true},
         .parameters = {{"alpha", "how far a step moves towards the branch"}},
         .colour = "#a463f2"},
        {.name = "sqrt-scaling",
         .title = "sqrt-scaling",
         .equation = "norm(x + dt*f(x)/sqrt(t+1))",
         .reference = "Karagodin et al. 2025, arXiv:2510.22026",
         .remark = "Post-LN whose branches shrink with depth; called LN-Scaling in the first version of the paper",
         .recipe = {.initialisation = post_ln_start()},
         .colour = "#97bbf5"},
        {.name = "ln-scaling",
         .title = "LN-Scaling",
         .equation = "x + dt*f(norm(x)/sqrt(t+1)) | norm(x)",
         .reference = "Sun et al. 2025, arXiv:2502.05795",
         .remark = "as released: the input of the sub-layer is divided, so attention is softened with depth too",
         .recipe = {.initialisation = {.note = "without the 1/sqrt(2*L) of Pre-LN"}},
         .colour = "#9c6b4e"},
        {.name = "ln-scaling-output",
         .title = "LN-Scaling, output form",
         .equation = "x + dt*f(norm(x))/sqrt(t+1) | norm(x)",
         .reference = "Sun et al. 2025, arXiv:2502.05795, with the factor moved to the output",
         .remark =
             "would be ln-scaling if half the input of a sub-layer gave half its output, which is not so for attention",
         .recipe = {.initialisation = {.note = "without the 1/sqrt(2*L) of Pre-LN"}},
         .colour = "#9c6b4e",
         .dash = "6 2"},
        {.name = "deepnorm",
         .title = "DeepNorm",
         .equation = "norm(a*x + dt*f(x)) where a = (2*L)^0.25",
         .reference = "Wang et al. 2022, arXiv:2203.00555",
         .remark = "Post-LN with a stronger skip; trained at 1000 layers",
         .recipe = {.initialisation = {.draw = xavier,
                                       .gains = {{{Matrix::value, Matrix::output, Matrix::ffn_in, Matrix::ffn_out},
                                                  "(8*L)^-0.25"}}}},
         .parameters = {{"a", "weight of the skip"}},
         .colour = "#4269d0",
         .dash = "6 2"},
        {.name = "keel",
         .title = "Keel",
         .equation = "norm(a*x + dt*f(norm(x))) where a = 2*L",
         .reference = "Keel 2026, arXiv:2601.19895",
         .remark = "Post-LN with a norm on the input and a skip as heavy as the number of sub-layers",
         .recipe = {.initialisation = {.prescribed = false}},
         .parameters = {{"a", "weight of the skip: the number of sub-layers"}},
         .colour = "#4269d0",
         .dash = "2 2"},
        {.name = "admin",
         .title = "Admin",
         .equation = "norm(omega*x + dt*f(x)) where ~omega[d] = 1",
         .reference = "Liu et al. 2020, arXiv:2004.08249",
         .remark = "Post-LN whose skip is weighted per channel by what a profiling pass measures",
         .recipe = {.initialisation = {.draw = xavier, .measured = "omega"}},
         .parameters = {{"omega", "weight of the skip per channel"}},
         .colour = "#4269d0",
         .dash = "8 2 2 2"},
        {.name = "rezero",
         .title = "ReZero",
         .equation = "h = x + dt*alpha*attn(x); x = h + dt*alpha*ffn(h) where ~alpha = 0",
         .reference = "Bachlechner et al. 2020, arXiv:2003.04887",
         .remark = "no norm; one gate per block, shared by both sub-layers, that opens from 0",
         .recipe = {.initialisation = {.draw = xavier}},
         .parameters = {{"alpha", "gate of both branches"}},
         .colour = "#9498a0"},
        {.name = "skipinit",
         .title = "SkipInit",
         .equation = "x + dt*alpha*f(x) where ~alpha = 1/sqrt(L)",
         .reference = "De and Smith 2020, arXiv:2002.10444",
         .remark = "no norm; a learned scalar at the end of each branch",
         .recipe = {.initialisation = {.prescribed = false, .note = "alpha = 0 or 1/sqrt(L)"}},
         .parameters = {{"alpha", "gate of the branch"}},
         .colour = "#9498a0",
         .dash = "6 2"},
        {.name = "layerscale",
         .title = "LayerScale",
         .equation = "x + dt*lambda*f(norm(x)) | norm(x) where ~lambda[d] = 1e-4",
         .reference = "Touvron et al. 2021, arXiv:2103.17239",
         .remark = "Pre-LN with a small learned gain per channel on each branch",
         .recipe = {.initialisation = {.prescribed = false, .note = "lambda = 1e-4 to 1e-6"}},
         .parameters = {{"lambda", "gain of the branch per channel"}},
         .colour = "#efb118",
         .dash = "6 2"},
        {.name = "scalenorm",
         .title = "ScaleNorm",
         .equation = "x + dt*f(g*unit(x)) | g*unit(x) where ~g = sqrt(d)",
         .reference = "Nguyen and Salazar 2019, arXiv:1910.05895",
         .remark = "Pre-LN whose norm has one learned length instead of a gain per channel",
         .recipe = {.initialisation = {.prescribed = false}, .training = {.unit_vectors = UnitVectors::embeddings}},
         .parameters = {{"g", "length of the normed vectors"}},
         .colour = "#efb118",
         .dash = "2 2"},
        {.name = "b2t",
         .title = "B2T connection",
         .equation = "m = norm(x + dt*attn(x)); x = norm(x + m + dt*ffn(m))",
         .reference = "Takase et al. 2022, arXiv:2206.00330",
         .remark = "Post-LN with one more skip from the bottom of the block to its top",
         .recipe = {.initialisation = {.draw = xavier,
                                       .gains = {{{block_matrices.begin(), block_matrices.end()}, "L^-0.5"}}}},
         .colour = "#97bbf5",
         .dash = "6 2"},
        {.name = "residual",
         .title = "ResiDual",
         .equation = "o = f(x); x = norm(x + dt*o); y = y + dt*o | x + norm(y)",
         .reference = "Xie et al. 2023, arXiv:2304.14802",
         .remark = "a Post-LN and a Pre-LN stream fed by the same sub-layer",
         .recipe = {.initialisation = post_ln_start()},
         .colour = "#ff8ab7"},
        {.name = "siamesenorm",
         .title = "SiameseNorm",
         .equation = "o = f(x + norm(y)); x = norm(x + dt*o); y = y + dt*o | x + norm(y)",
         .reference = "SiameseNorm 2026, arXiv:2602.08064",
         .remark = "ResiDual whose sub-layer sees both streams",
         .recipe = {.initialisation = {.prescribed = false, .note = "gains of the norms start at 1"}},
         .colour = "#ff8ab7",
         .dash = "6 2"},
        {.name = "spannorm",
         .title = "SpanNorm",
         .equation = "attn: norm(b + dt*f(t > 0 ? x : norm(x))); ffn: norm(b + dt*f(x))",
         .reference = "SpanNorm 2026, arXiv:2601.22580",
         .remark = "Post-LN in which both residual connections start at the block's input; beside an FFN, attention "
                   "has no effect in the limit dt -> 0",
         .recipe = {.initialisation = post_ln_start("the paper's scaling factors are not known")},
         .colour = "#3ca951",
         .dash = "6 2"},
        {.name = "hybridnorm",
         .title = "HybridNorm",
         .equation = "attn: x + dt*f(x); ffn: w = norm(x); x = w + dt*f(w) | norm(x)",
         .reference = "Zhuo et al. 2025, arXiv:2503.04598",
         .remark = "QKV-norm in attention, a normalised skip around the FFN",
         .recipe = hybridnorm_recipe(),
         .colour = "#6cc5b0"},
        {.name = "hybridnorm-star",
         .title = "HybridNorm*",
         .equation = "attn: x + dt*f(t > 0 ? x : norm(x)); "
                     "ffn: w = t > 0 ? norm(x) : x; x = w + dt*f(t > 0 ? w : norm(x)) | norm(x)",
         .reference = "Zhuo et al. 2025, arXiv:2503.04598",
         .remark = "HybridNorm whose first block is Pre-LN",
         .recipe = hybridnorm_recipe(),
         .colour = "#6cc5b0",
         .dash = "2 2"},
        {.name = "gpas",
         .title = "GPAS on Pre-LN",
         .equation = "h = x + dt*attn(norm(x)); h = h + dt*ffn(norm(h)); x = h - dt*g/(1+exp(-g))*detach(h) | norm(x) "
                     "where ~g = 0",
         .reference = "Chen et al. 2025, arXiv:2506.22049",
         .remark =
             "shrinks the stream after every block by a learned factor, through which no gradient flows to the stream",
         .recipe = {.initialisation = {.embedding = Draw{.deviation = "sqrt(2/5)"}},
                    .training = {.learned_clip = 0.01, .learned_clip_from = 1e9}},
         .parameters = {{"g", "gate; the stream shrinks by SiLU(g)"}},
         .colour = "#efb118",
         .dash = "8 2 2 2"},
        {.name = "dyt",
         .title = "Dynamic Tanh",
         .equation = "x + dt*f(gain*tanh(alpha*x)) | gain*tanh(alpha*x) where ~alpha = 0.5, ~gain[d] = 1",
         .reference = "Zhu et al. 2025, arXiv:2503.10622",
         .remark = "Pre-LN with a bounded curve, tanh, in place of the norm; a model can also use it as its norm",
         .recipe = {.initialisation = {.prescribed = false,
                                       .gains = {{{Matrix::embedding}, "sqrt(d)"}},
                                       .note = "alpha = 0.5, in Llama 0.05 to 0.8 by size and place"}},
         .parameters = {{"alpha", "steepness of the curve"}, {"gain", "gain per channel"}},
         .colour = "#9498a0",
         .dash = "2 2"},
        {.name = "derf",
         .title = "Dynamic erf",
         .equation =
             "x + dt*f(gain*erf(alpha*x + s)) | gain*erf(alpha*x + s) where ~alpha = 0.5, ~gain[d] = 1, ~s[d] = 0",
         .reference = "Derf 2025, arXiv:2512.10938",
         .remark = "Dynamic Tanh with erf and a shift",
         .recipe = {.initialisation = {.prescribed = false}},
         .parameters = {{"alpha", "steepness of the curve"},
                        {"gain", "gain per channel"},
                        {"s", "shift inside the curve"}},
         .colour = "#9498a0",
         .dash = "8 2 2 2"},
    };
    return table;
}

namespace {

// Before main: GCC 12 destroys parts of such a table twice when memory runs out while it is made.
[[maybe_unused]] const std::vector<CatalogueEntry>& made_before_main = catalogue();

}  // namespace

const std::vector<NotExpressible>& not_expressible() {
    static const std::vector<NotExpressible> table = {
        {"SubLN / Magneto", "its second norm sits inside the sub-layer, before the output projection",
         "arXiv:2210.06423"},
        {"QK-norm", "acts on q and k inside attention: an attribute of a model family", "arXiv:2010.04245"},
        {"sigma-Reparam", "rescales weight matrices, not the residual stream", "arXiv:2303.06296"},
        {"FixNorm", "normalises the embedding table: an attribute of a model family", "arXiv:1910.05895"},
        {"T-Fixup, DS-Init, Mitchell init", "initialisations of a known equation", "arXiv:1908.11365"},
        {"ProRes", "its gate depends on the training step, which a residual block does not see", "arXiv:2603.05369"},
        {"Hyper-connections, mHC", "mixing weights between streams are computed from the streams",
         "arXiv:2409.19606, arXiv:2512.24880"},
    };
    return table;
}

const CatalogueEntry* find_entry(std::string_view name_or_alias) {
    for (const CatalogueEntry& entry : catalogue()) {
        const auto& aliases = entry.aliases;
        if (entry.name == name_or_alias || std::find(aliases.begin(), aliases.end(), name_or_alias) != aliases.end()) {
            return &entry;
        }
    }
    return nullptr;
}

const Recipe& recipe_of(const Scheme& scheme) {
    static const Recipe usual = {.initialisation = {.prescribed = false}};
    return scheme.entry == nullptr ? usual : scheme.entry->recipe;
}

Scheme find_scheme(std::string_view name_and_settings) {
    const std::size_t colon = name_and_settings.find(':');
    const std::string_view name = name_and_settings.substr(0, colon);
    const CatalogueEntry* entry = find_entry(name);
    if (entry == nullptr) {
        std::vector<std::string> names;
        for (const CatalogueEntry& row : catalogue()) {
            names.emplace_back(row.name);
            names.insert(names.end(), row.aliases.begin(), row.aliases.end());
        }
        std::string near = nearest(name, names);
        for (const std::string& candidate : names) {  // "peri" means peri-ln
            if (near.empty() && name.size() >= 3 && candidate.find(name) != std::string::npos) {
                near = candidate;
            }
        }
        throw Error(ErrorKind::usage, "scheme.find_scheme", fmt::format("the unknown scheme {}", quoted(name)),
                    "a name that `flyball schemes` lists",
                    near.empty() ? fmt::format("give an equation of your own as {}", setting("equation"))
                                 : fmt::format("did you mean {}?", near));
    }
    Program program = Program::parse(entry->equation);
    if (colon != std::string_view::npos) {
        program = program.with_settings(name_and_settings.substr(colon + 1));
    }
    return {std::string(name_and_settings), std::move(program), entry};
}

}  // namespace flyball::scheme
