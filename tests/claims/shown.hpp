// What a claim shows has to bear out what it says.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <regex>
#include <string>

#include "core/json.hpp"

namespace flyball::claims::test {

// How far the measured number may be from the predicted one, where both are numbers and the tolerance is one too, a share ("0.002 of it") or a factor
// ("a factor 1.5"), or says that it is below ("below it, by ..").
inline bool shown_agree(const Json& claim) {
    if (!claim.at("predicted").is_number() || !claim.at("measured").is_number()) {
        return true;
    }
    const double predicted = claim["predicted"].get<double>();
    const double off = std::fabs(claim["measured"].get<double>() - predicted);
    if (claim["tolerance"].is_number()) {
        return off <= claim["tolerance"].get<double>();
    }
    const std::string tolerance = claim["tolerance"].get<std::string>();
    if (tolerance.rfind("below it", 0) == 0) {
        return claim["measured"].get<double>() < predicted;
    }
    const std::string factor = "a factor ";
    if (tolerance.rfind(factor, 0) == 0) {
        const double most = std::stod(tolerance.substr(factor.size()));
        const double ratio = claim["measured"].get<double>() / predicted;
        return ratio <= most && ratio >= 1 / most;
    }
    const std::string share = " of it";
    const bool relative = tolerance.size() > share.size() && tolerance.substr(tolerance.size() - share.size()) == share;
    return !relative || off <= std::stod(tolerance) * std::fabs(predicted);
}

// `claims`: those of claims.json.
inline void expect_that_claims_bear_out_what_they_say(const Json& claims) {
    std::size_t numbers = 0;
    const std::regex nothing(R"(\+- 0\.000(?![0-9]))");  // not +- 0.0002
    for (const Json& claim : claims) {
        numbers += claim["measured"].is_number() ? 1 : 0;
        if (claim["verdict"] != "undecided") {
            EXPECT_EQ(shown_agree(claim), claim["verdict"] != "fails") << claim.dump(1);
        }
        // Intervals come from draws that differ.
        EXPECT_FALSE(std::regex_search(claim["note"].get<std::string>(), nothing)) << claim.dump(1);
    }
    EXPECT_GT(numbers, 4U) << "claims that show numbers";
}

}  // namespace flyball::claims::test
