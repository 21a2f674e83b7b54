#include "core/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace flyball {
namespace {

using Names = std::vector<std::string>;

TEST(Ranking, NamesTheFirstAndTheLast) {
    const Ranking order = rank({{"a", 2}, {"b", 1}, {"c", 3}});
    EXPECT_EQ(order.smallest, Names({"b"}));
    EXPECT_EQ(order.largest, Names({"c"}));
    EXPECT_EQ(order.least, 1);
    EXPECT_EQ(order.most, 3);
    EXPECT_FALSE(order.all_alike);
}

TEST(Ranking, WhatAgreesToOnePercentIsATie) {
    const Ranking order = rank({{"a", 1}, {"b", 1.009}, {"c", 5}, {"d", 4.9}});
    EXPECT_EQ(order.smallest, Names({"a", "b"}));
    EXPECT_EQ(order.largest, Names({"c"})) << "2 % is no tie";
    EXPECT_TRUE(rank({{"a", 0}, {"b", 0}}).all_alike);
    EXPECT_FALSE(rank({{"a", -1}, {"b", 1}}).all_alike);
}

TEST(Ranking, WhatIsNotFiniteTakesNoPart) {
    const Ranking order = rank({{"a", std::nan("")}, {"b", 1}, {"c", std::numeric_limits<double>::infinity()}});
    EXPECT_EQ(order.smallest, Names({"b"}));
    EXPECT_EQ(order.largest, Names({"b"}));
    EXPECT_TRUE(rank({{"a", std::nan("")}}).empty());
    EXPECT_TRUE(rank({}).empty());
}

TEST(Ranking, ListsAreWords) {
    EXPECT_EQ(names_in_words({"a"}), "a");
    EXPECT_EQ(names_in_words({"a", "b"}), "a and b");
    EXPECT_EQ(names_in_words({"a", "b", "c", "d", "e", "f"}), "a, b, c, d, e and f");
    EXPECT_EQ(names_in_words({"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e and 2 more");
    EXPECT_STREQ(verb_for({"a"}, "moves", "move"), "moves");
    EXPECT_STREQ(verb_for({"a", "b"}, "moves", "move"), "move");
}

}  // namespace
}  // namespace flyball
