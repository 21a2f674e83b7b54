// Equations of one's own: names that cannot be taken for statements, colours that no scheme has, labels that differ.
#include "scheme/own_equation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"

namespace flyball::scheme {
namespace {

using Split = std::pair<std::string, std::string>;

TEST(OwnEquation, AnythingButAStatementBeforeTheFirstEqualsSignIsAName) {
    EXPECT_EQ(split_name("mine=norm(x + dt*f(x))"), Split("mine", "norm(x + dt*f(x))"));
    EXPECT_EQ(split_name(" my-block.2 = norm(x)"), Split("my-block.2", " norm(x)"));
    EXPECT_EQ(split_name("mine=x + dt*a*f(x) where a = 2"), Split("mine", "x + dt*a*f(x) where a = 2"));
    EXPECT_EQ(split_name("mine=x = norm(x + dt*f(x))"), Split("mine", "x = norm(x + dt*f(x))"));
    EXPECT_EQ(split_name("mine=o = f(x); x = norm(x + dt*o)"), Split("mine", "o = f(x); x = norm(x + dt*o)"));
    EXPECT_EQ(split_name("mine=attn: x = x + dt*attn(x); ffn: x = x + dt*ffn(x)").first, "mine");
    EXPECT_EQ(split_name("mine=ffn: x = x + dt*ffn(x); attn: x = x + dt*attn(x)").first, "mine");
    EXPECT_EQ(split_name("mine= attn : x = x; ffn: x = x").first, "mine");
    EXPECT_EQ(split_name("mine=both: x = x; ffn: x = x").first, "") << "no section has that name";
    EXPECT_EQ(split_name("mine=depth == 1 ? x + dt*f(x) : norm(x + dt*f(x))").first, "mine");
    EXPECT_EQ(split_name("mine=depth <= 0.5 ? norm(x + dt*f(x)) : x + dt*f(x)").first, "mine");
    for (const char* end : {";", "; ", "; | norm(x)", "; where a = 2"}) {  // as the end of the one statement
        EXPECT_EQ(split_name(std::string("mine=x + dt*a*f(x)") + end).first, "mine") << end;
    }
    for (const char* text :
         {"norm(x + dt*f(x))", "x = norm(x + dt*f(x))", "o = f(x); x = norm(x + dt*o)", "x + dt*a*f(x) where a = 2",
          "attn: x = x + dt*attn(x); ffn: x = x + dt*ffn(x)", "depth <= 0.5 ? x + dt*f(x) : norm(x + dt*f(x))",
          "y = depth <= 0.5 ? f(x) : x; x = norm(x + dt*y)", "depth == 1 ? x + dt*f(x) : norm(x + dt*f(x))",
          "o = depth == 1 ? f(x) : f(norm(x)); x = x + dt*o", "2mine=norm(x)", "=norm(x)", "my block=norm(x)", ""}) {
        EXPECT_EQ(split_name(text), Split("", text));
    }
}

TEST(OwnEquation, EveryEquationOfTheCatalogueKeepsItsMeaningWithAndWithoutAName) {
    for (const CatalogueEntry& entry : catalogue()) {
        const Scheme plain = scheme_of_equation(entry.equation);
        EXPECT_FALSE(plain.named) << entry.name;
        EXPECT_EQ(plain.name, "equation");
        const Scheme named = scheme_of_equation("mine = " + std::string(entry.equation));
        EXPECT_TRUE(named.named) << entry.name;
        EXPECT_EQ(named.name, "mine");
        EXPECT_EQ(named.program.text(), plain.program.text());
    }
}

TEST(OwnEquation, NamesAreDifferentAndNotTheCatalogues) {
    const auto names = [](const std::vector<Scheme>& schemes) {
        std::vector<std::string> all;
        for (const Scheme& scheme : schemes) {
            all.push_back(scheme.name);
        }
        return all;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(names(find_schemes({"peri-ln"}, {"norm(x + dt*f(x))"})), Names({"peri-ln", "equation"}));
    EXPECT_EQ(names(find_schemes({"norm(x + dt*f(x))", "ngpt:alpha=2"}, {"mine=x + dt*f(x)", "x - dt*f(x)"})),
              Names({"equation-1", "ngpt:alpha=2", "mine", "equation-3"}));
    EXPECT_THROW(find_schemes({}, {"a=norm(x + dt*f(x))", "a=x + dt*f(x)"}), Error);
    EXPECT_THROW(find_schemes({}, {"equation-2=norm(x + dt*f(x))", "x + dt*f(x)"}), Error);
    EXPECT_THROW(find_schemes({}, {"peri-ln=norm(x + dt*f(x))"}), Error);
    EXPECT_THROW(find_schemes({}, {"peri-norm=norm(x + dt*f(x))", "mine=x +"}), Error);
}

TEST(OwnEquation, ColoursAreDifferentAndNeverASchemesOfTheCatalogue) {
    std::set<std::string_view> of_the_catalogue;
    for (const CatalogueEntry& entry : catalogue()) {
        of_the_catalogue.insert(entry.colour);
    }
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (std::size_t number = 1; number <= own_looks; ++number) {
        const Look look = own_look(number);
        EXPECT_EQ(of_the_catalogue.count(look.colour), 0U) << look.colour;
        EXPECT_TRUE(seen.emplace(look.colour, look.dash).second) << number;
        // As far from every colour of the catalogue as the eye needs: the sum of differences of the channels.
        for (const std::string_view other : of_the_catalogue) {
            int distance = 0;
            for (const std::size_t at : {1U, 3U, 5U}) {
                distance += std::abs(std::stoi(std::string(look.colour.substr(at, 2)), nullptr, 16) -
                                     std::stoi(std::string(other.substr(at, 2)), nullptr, 16));
            }
            EXPECT_GT(distance, 90) << look.colour << " and " << other;
        }
    }
    const auto found = find_schemes({"peri-ln"}, {"a=norm(x + dt*f(x))", "b=x + dt*f(x)"});
    EXPECT_EQ(look_of(found[0]).colour, find_entry("peri-ln")->colour);
    EXPECT_EQ(look_of(found[1]).colour, own_look(1).colour);
    EXPECT_EQ(look_of(found[2]).colour, own_look(2).colour);
}

TEST(OwnEquation, LabelsShowWhereEquationsDiffer) {
    const auto labels = [](const std::vector<std::string>& equations) {
        return labels_of(find_schemes({}, equations));
    };
    using Labels = std::vector<std::string>;
    EXPECT_EQ(labels({"norm(x + dt*f(x))"}), Labels({"norm(x + dt*f(x))"}));
    EXPECT_EQ(labels({"mine=norm(x + dt*f(x))", "yours=x + dt*f(x)"}), Labels({"mine", "yours"}));
    EXPECT_EQ(labels({"mine=norm(x + dt*f(x))", "x + dt*f(x)"}), Labels({"mine", "equation-2: x + dt*f(x)"}));
    EXPECT_EQ(labels({"norm(x + dt*f(x))", "x + dt*f(x)"}),
              Labels({"equation-1: norm(x + dt*f(x))", "equation-2: x + dt*f(x)"}));
    // They differ at the end alone, far beyond what fits.
    const std::string long_one = "x + dt*norm(f(norm(x)))*sqrt(1 + t)*exp(-0.1*t)*(1 + 1/";
    const Labels two = labels({long_one + "alpha) where alpha = 2", long_one + "alpha) where alpha = 3"});
    EXPECT_NE(two[0].find("alpha = 2"), std::string::npos) << two[0];
    EXPECT_NE(two[1].find("alpha = 3"), std::string::npos) << two[1];
    EXPECT_EQ(two[0].rfind("equation-1: ...", 0), 0U) << two[0];
    for (const std::string& label : two) {
        EXPECT_LE(label.size(), 32U + std::string("equation-1: ").size());
    }
    // One goes on where the other ends.
    const Labels longer = labels({long_one + "2)", long_one + "2) | norm(x)"});
    EXPECT_EQ(longer[0].substr(longer[0].size() - 4), "1/2)") << longer[0];
    EXPECT_NE(longer[1].find("| norm(x)"), std::string::npos) << longer[1];
    // One of three differs early, the two others late.
    const Labels three = labels({long_one + "2)", long_one + "3)", "norm(" + long_one + "2))"});
    EXPECT_NE(three[0].find("1/2"), std::string::npos) << three[0];
    EXPECT_NE(three[1].find("1/3"), std::string::npos) << three[1];
    EXPECT_NE(three[2].find("norm(x + dt"), std::string::npos) << three[2];
}

TEST(OwnEquation, LooksComeAgainAfterAllColoursWithAllDashes) {
    const auto look = [](std::size_t number) { return std::pair(own_look(number).colour, own_look(number).dash); };
    using Wanted = std::pair<std::string_view, std::string_view>;
    EXPECT_EQ(look(1), Wanted("#e10f96", ""));
    EXPECT_EQ(look(6), Wanted("#3c4b69", ""));
    EXPECT_EQ(look(7), Wanted("#e10f96", "6 2")) << "six colours";
    EXPECT_EQ(look(own_looks), Wanted("#3c4b69", "8 2 2 2"));
    EXPECT_EQ(look(own_looks + 2), look(2));
    EXPECT_EQ(look(0), look(1));
}

// Alone it differs from nothing: its beginning, as far as 32 characters go, and dots where it is longer.
TEST(OwnEquation, LabelOfOneAloneIsItsBeginning) {
    const auto label = [](const char* equation) { return labels_of(find_schemes({}, {equation})).at(0); };
    EXPECT_EQ(label("x + dt*norm(f(norm(x)))*sqrt(t+1)*exp(-0.1*t)"), "x + dt*norm(f(norm(x)))*sqrt(...");
    EXPECT_EQ(label("x + dt*norm(f(norm(x)))*sqrt(2*t)"), "x + dt*norm(f(norm(x)))*sqrt(...") << "33 characters";
    EXPECT_EQ(label("x + dt*norm(f(norm(x)))*sqrt(22)"), "x + dt*norm(f(norm(x)))*sqrt(22)") << "32 characters";
}

TEST(OwnEquation, FlagsGiveAnEquationWithoutANameNone) {
    using Flag = std::pair<std::string, std::vector<std::string>>;
    EXPECT_EQ(scheme_flags({find_scheme("pre-ln"), scheme_of_equation("x + dt*f(x)")}),
              (std::vector<Flag>{{"scheme", {"pre-ln"}}, {"equation", {"x + dt*f(x)"}}}));
    EXPECT_EQ(scheme_flags({scheme_of_equation("x + dt*f(x)")}), (std::vector<Flag>{{"equation", {"x + dt*f(x)"}}}));
}

// Schemes are read before equations: one that stood before a scheme is a scheme of the command too.
TEST(OwnEquation, FlagsKeepTheOrder) {
    const auto flags = scheme_flags(
        {scheme_of_equation("mine=x + dt*f(x)"), find_scheme("pre-ln"), scheme_of_equation("last=norm(x + dt*f(x))")});
    using Flag = std::pair<std::string, std::vector<std::string>>;
    EXPECT_EQ(flags, (std::vector<Flag>{{"scheme", {"mine=x + dt*f(x)", "pre-ln"}},
                                        {"equation", {"last=norm(x + dt*f(x))"}}}));
}

TEST(OwnEquation, WhatIsNoNameOfTheCatalogueIsRead) {
    for (const char* text : {"norm(x)", "x = x", "mine=norm(x)", "attn: x = attn(x); ffn: x = ffn(x)", "x|norm(x)",
                             "x - y", "a ? b : c"}) {
        EXPECT_TRUE(looks_like_equation(text)) << text;
    }
    for (const char* text : {"peri-ln", "ngpt:alpha=1/(1+t)", "mix-ln:tau=0.5", "atn", "ffn-ln:a=2", "HybridNorm*",
                             "Gemma 2", "Dynamic Tanh"}) {
        EXPECT_FALSE(looks_like_equation(text)) << text;
    }
}

TEST(OwnEquation, OfTheCatalogueAreFoundAsListedAndAsTrained) {
    for (const CatalogueEntry& entry : catalogue()) {
        ASSERT_NE(entry_of_equation(entry.equation), nullptr) << entry.name;
        EXPECT_EQ(entry_of_equation(entry.equation)->name, entry.name);
    }
    const CatalogueEntry* const ngpt = entry_of_equation("unit(x+dt*alpha*(unit(f(x)) - x)) where ~alpha[d] = 0.05");
    ASSERT_NE(ngpt, nullptr) << "as nGPT is trained, written with other blanks";
    EXPECT_EQ(ngpt->name, "ngpt");
    EXPECT_EQ(entry_of_equation("x + dt*f(norm(x))/2 | norm(x)"), nullptr);
}

}  // namespace
}  // namespace flyball::scheme
