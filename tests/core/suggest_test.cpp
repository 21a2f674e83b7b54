#include "core/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace flyball {
namespace {

const std::vector<std::string> schemes = {"post-ln", "pre-ln", "peri-ln", "mix-ln", "ngpt", "deepnorm"};

TEST(Suggest, FindsTheWordBehindATypingError) {
    EXPECT_EQ(nearest("perri-ln", schemes), "peri-ln");   // insertion
    EXPECT_EQ(nearest("deepnrm", schemes), "deepnorm");   // deletion
    EXPECT_EQ(nearest("deepmorm", schemes), "deepnorm");  // substitution
    EXPECT_EQ(nearest("peri-ln", schemes), "peri-ln");
}

TEST(Suggest, ASwapCostsOne) {
    EXPECT_EQ(nearest("ngtp", schemes), "ngpt");
    EXPECT_EQ(nearest("ab", std::vector<std::string>{"ba"}), "ba");  // limit 1: two substitutions would be too far
}

TEST(Suggest, CaseCostsNothing) {
    EXPECT_EQ(nearest("NGPT", schemes), "ngpt");
}

TEST(Suggest, SaysNothingWhenNothingIsClose) {
    EXPECT_EQ(nearest("transformer", schemes), "");
    EXPECT_EQ(nearest("abcd", schemes), "");
    EXPECT_EQ(nearest("ngpt", {}), "");
    EXPECT_EQ(nearest("abcdef", std::vector<std::string>{"abcxyz"}), "");        // 3 > 6/3
    EXPECT_EQ(nearest("abcdef", std::vector<std::string>{"abcdyz"}), "abcdyz");  // 2 = 6/3
    EXPECT_EQ(nearest(std::string(100'000, 'a'), schemes), "");
}

TEST(Suggest, TheFirstOfEquallyCloseWins) {
    EXPECT_EQ(nearest("cat", std::vector<std::string>{"bat", "hat"}), "bat");
    EXPECT_EQ(nearest("cats", std::vector<std::string>{"bats", "cat", "cats"}), "cats");
}

}  // namespace
}  // namespace flyball
