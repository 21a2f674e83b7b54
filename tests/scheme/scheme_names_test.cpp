// Names as people write them: understood, or answered with the name that was meant.
#include "scheme/scheme_names.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/error.hpp"
#include "scheme/catalogue.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::scheme::test::names_test {
namespace {

std::string refusal(const std::string& text) {
    try {
        find_schemes({text}, {});
    } catch (const Error& error) {
        return error.what();
    }
    return "understood";
}

TEST(SchemeNames, AreReadInEverySpelling) {
    const std::map<std::string, std::vector<std::string>> spellings = {
        {"peri-ln",
         {"Peri-LN", "PERI-LN", "periln", "peri_ln", "peri ln", "peri-norm", "PeriNorm", "peri-layernorm", "sandwich",
          "Sandwich-LN", "sandwich-norm", "sandwichnorm"}},
        {"pre-ln", {"Pre-LN", "prenorm", "pre-norm", "PreLN", "pre_norm", "Pre-RMSNorm", "pre-layer-norm"}},
        {"post-ln", {"PostLN", "post-norm", "postnorm"}},
        {"output-ln", {"output-norm", "res-post-norm", "Swin-Norm"}},
        {"mix-ln", {"MixLN", "mix-norm"}},
        {"ngpt", {"nGPT", "NGPT", "n-gpt"}},
        {"ln-scaling", {"LN-Scaling", "LNS", "LayerNorm-Scaling"}},
        {"deepnorm", {"DeepNorm", "deep-norm"}},
        {"residual", {"ResiDual"}},
        {"hybridnorm-star", {"HybridNorm*"}},
        {"dyt", {"DyT", "Dynamic Tanh"}},
        {"b2t", {"B2T", "B2T connection"}},
    };
    for (const auto& [name, others] : spellings) {
        for (const std::string& text : others) {
            ASSERT_NE(find_entry(text), nullptr) << text;
            EXPECT_EQ(find_entry(text)->name, name) << text;
            EXPECT_EQ(find_schemes({text}, {}).at(0).name, name) << "runs are called as the catalogue calls them";
        }
    }
    EXPECT_EQ(find_scheme("Mix-LN:tau=0.5").name, "mix-ln:tau=0.5");
}

TEST(SchemeNames, NoTwoOfTheCatalogueAreOneSpelling) {
    std::map<std::string, std::string_view> owners;
    const auto add = [&](std::string_view name, const CatalogueEntry& entry) {
        const auto [place, is_new] = owners.emplace(folded(name), entry.name);
        EXPECT_TRUE(is_new || place->second == entry.name) << name << " is " << place->second << " and " << entry.name;
    };
    std::map<std::string, std::string_view> models;
    for (const CatalogueEntry& entry : catalogue()) {
        add(entry.name, entry);
        add(entry.title, entry);
        for (const std::string_view alias : entry.aliases) {
            add(alias, entry);
        }
        for (const std::string_view model : entry.models) {
            EXPECT_TRUE(models.emplace(folded(model), entry.name).second) << model << " has two schemes";
        }
    }
    for (const auto& [model, entry] : models) {
        EXPECT_FALSE(owners.contains(model)) << model << " is a scheme and a model";
    }
}

TEST(SchemeNames, OfModelsAreAnsweredWithTheSchemeTheyAreWiredAs) {
    for (const auto& [model, says] : std::vector<std::pair<std::string, std::string>>{
             {"gemma2", "Gemma 2 is wired as peri-ln"},
             {"gemma", "Gemma 1 is wired as pre-ln, Gemma 2 and Gemma 3 as peri-ln"},
             {"gpt2", "GPT-2 is wired as pre-ln"},
             {"GPT-1", "GPT-1 is wired as post-ln"},
             {"gpt", "GPT-1 is wired as post-ln, GPT-2 and GPT-3 as pre-ln"},
             {"llama", "Llama is wired as pre-ln"},
             {"llama3", "Llama is wired as pre-ln"},
             {"bert", "BERT is wired as post-ln"},
             {"olmo2", "OLMo 2 is wired as output-ln"},
             {"swin", "Swin V2 is wired as output-ln"},
             {"grok", "Grok-1 is wired as peri-ln"}}) {
        EXPECT_NE(refusal(model).find("hint: " + says + "."), std::string::npos) << refusal(model);
    }
    for (const CatalogueEntry& entry : catalogue()) {
        for (const std::string_view model : entry.models) {
            EXPECT_NE(refusal(std::string(model)).find(std::string(model) + " is wired as " + std::string(entry.name)),
                      std::string::npos)
                << model;
        }
    }
}

TEST(SchemeNames, ThatAreNoneGetTheNearestOrAReason) {
    for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
             {"layernorm", "LayerNorm is a norm, and a scheme says where norms stand"},
             {"RMSNorm", "RMSNorm is a norm"},
             {"subln", "SubLN is no scheme: its second norm sits inside the sub-layer"},
             {"qk-norm", "QK-norm is no scheme"},
             {"mhc", "mHC is no scheme"},
             {"peri", "did you mean peri-ln?"},
             {"perri-ln", "did you mean peri-ln?"},
             {"perlin", "did you mean peri-ln?"},
             {"prenrom", "did you mean pre-norm?"},
             {"frobnicate", "give an equation of your own"}}) {
        EXPECT_NE(refusal(text).find(says), std::string::npos) << refusal(text);
    }
}

TEST(SchemeNames, SettingsOutsideTheirRangeAreRefused) {
    for (const char* text : {"mix-ln:tau=2", "mix-ln:tau=-0.1", "ngpt:alpha=-1", "deepnorm:a=-2", "mix-ln:tau=1+1"}) {
        EXPECT_NE(refusal(text).find("expected 0 "), std::string::npos) << refusal(text);
    }
    EXPECT_NE(refusal("mix-ln:tau=2").find("got tau = 2 for mix-ln, expected 0 to 1 (share of the depth"),
              std::string::npos)
        << refusal("mix-ln:tau=2");
    EXPECT_NE(refusal("ngpt:alpha=-1")
                  .find("got alpha = -1 for ngpt, expected 0 or more (how far a step moves towards the branch)"),
              std::string::npos)
        << refusal("ngpt:alpha=-1");
    for (const char* text : {"mix-ln:tau=0", "mix-ln:tau=1", "ngpt:alpha=1/(1+t)", "mix-ln:tau=1/L", "deepnorm:a=3"}) {
        EXPECT_EQ(refusal(text), "understood");
    }
}

TEST(SchemeNames, WordsThatAreNoFunctionHereAreAnsweredWithWhatToWrite) {
    EXPECT_EQ(function_hint("Pow"), "powers are written with ^, as in x^2");
    EXPECT_EQ(function_hint("soft_max"), "attention is attn(x), or f(x) where the sub-layer may be either");
    EXPECT_EQ(function_hint("layer_norm"), "did you mean ln, or norm for the norm that the model has?");
    EXPECT_EQ(function_hint("tahn"), "did you mean tanh?");
    EXPECT_EQ(function_hint("frobnicate"), "");
}

TEST(SchemeNames, FunctionsOfPapersAreAnsweredWithOurs) {
    for (const auto& [word, ours] : std::vector<std::pair<std::string, std::string>>{{"layernorm", "ln"},
                                                                                     {"LayerNorm", "ln"},
                                                                                     {"layer_norm", "ln"},
                                                                                     {"LN", "ln"},
                                                                                     {"rmsnorm", "rms"},
                                                                                     {"RMSNorm", "rms"},
                                                                                     {"RMS", "rms"},
                                                                                     {"mlp", "ffn"},
                                                                                     {"MLP", "ffn"},
                                                                                     {"feed_forward", "ffn"},
                                                                                     {"attention", "attn"},
                                                                                     {"SelfAttention", "attn"},
                                                                                     {"mha", "attn"},
                                                                                     {"normalize", "norm"},
                                                                                     {"l2norm", "unit"},
                                                                                     {"stop_gradient", "detach"},
                                                                                     {"sublayer", "f"},
                                                                                     {"F", "f"}}) {
        const std::string said = refusal("x + dt*" + word + "(x)");
        EXPECT_NE(said.find("the unknown function '" + word + "'"), std::string::npos) << said;
        const std::size_t at = said.find("did you mean " + ours);
        ASSERT_NE(at, std::string::npos) << said;
        const char next = said.at(at + std::string("did you mean " + ours).size());
        EXPECT_TRUE(next == '?' || next == ',') << said;
    }
}

}  // namespace
}  // namespace flyball::scheme::test::names_test
