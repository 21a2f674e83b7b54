// What is said of shares of a head's weight where weights do not add up to 1, or are negative in part.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "limits/analysis.hpp"
#include "limits/diagnosis.hpp"
#include "limits/document.hpp"
#include "limits/row_report.hpp"
#include "model/tiny.hpp"

namespace flyball::limits::shares_test {
namespace {

constexpr std::size_t tokens = 24;

model::Model<float> small(std::uint64_t seed = 5) {
    model::Architecture a = model::test::tiny_architecture("x + dt*f(norm(x)) | norm(x)");
    a.layers = 1;
    a.positions = tokens;
    return model::test::tiny_model<float>(a, seed);
}

std::vector<std::int32_t> some_ids() {
    std::vector<std::int32_t> ids(tokens);
    for (std::size_t i = 0; i < tokens; ++i) {
        ids[i] = static_cast<std::int32_t>((i * i + 3 * i) % 11);
    }
    return ids;
}

Settings under(const std::vector<const char*>& kinds) {
    Settings settings;
    for (const char* const kind : kinds) {
        settings.attention.push_back(Normaliser::parse(kind));
    }
    return settings;
}

// The weights of every row that counts, one row after another, as `--row` tells them.
std::vector<std::vector<double>> rows_of_head(const model::Model<float>& model, Settings settings, std::size_t head) {
    std::vector<std::vector<double>> rows;
    settings.head = {0, head};
    for (std::size_t t = 2; t < tokens; ++t) {
        settings.row = t;
        rows.push_back(row_document(model, some_ids(), settings).at("weights").get<std::vector<double>>());
    }
    return rows;
}

double total(const std::vector<double>& weights) {
    return std::accumulate(weights.begin(), weights.end(), 0.0);
}

TEST(Shares, ASinkIsAShareAlsoWhereWeightsDoNotAddUpToOne) {
    const model::Model<float> model = small();
    const Settings settings = under({"sigmoid"});
    const Result result = analyse(model, some_ids(), settings, {tokens}).front();
    for (std::size_t head = 0; head < result.heads.size(); ++head) {
        const std::vector<std::vector<double>> rows = rows_of_head(model, settings, head);
        std::vector<double> share(tokens);
        std::vector<double> seen(tokens);
        double away_from_one = 0;
        for (const std::vector<double>& row : rows) {
            away_from_one = std::max(away_from_one, std::abs(total(row) - 1));
            for (std::size_t key = 0; key < row.size(); ++key) {
                share[key] += row[key] / total(row);
                seen[key] += 1;
            }
        }
        EXPECT_GT(away_from_one, 0.01) << "otherwise this says nothing";
        double most = 0;
        for (std::size_t key = 0; key < tokens; ++key) {
            most = 2 * seen[key] >= static_cast<double>(rows.size()) ? std::max(most, share[key] / seen[key]) : most;
        }
        EXPECT_NEAR(result.heads[head].sink, most, 1e-9);
    }
}

TEST(Shares, NegativeWeightsHaveNone) {
    const model::Model<float> model = small();
    const Settings settings = under({"sa-softmax"});
    const std::vector<Result> results = analyse(model, some_ids(), settings, {tokens});
    const Json json = parse_json(dump_json(document({}, tokens, settings, results, {})), "the document");
    for (std::size_t head = 0; head < results[0].heads.size(); ++head) {
        double least = 0;
        for (const std::vector<double>& row : rows_of_head(model, settings, head)) {
            least = std::min(least, *std::min_element(row.begin(), row.end()));
        }
        ASSERT_LT(least, 0) << "otherwise this says nothing";
        const HeadResult& found = results[0].heads[head];
        EXPECT_TRUE(std::isnan(found.active) && std::isnan(found.active_share) && std::isnan(found.sink));
        EXPECT_TRUE(json.at("heads")[head].at("active").is_null());
        EXPECT_TRUE(json.at("heads")[head].at("sink_key").is_null());
        const std::string text = diagnose(found).text;
        EXPECT_EQ(text.rfind("how many keys hold 90 % of the weight is not known, nor its entropy; ", 0), 0U) << text;
        EXPECT_NE(text.find("; what one key gets is not known"), std::string::npos) << text;
    }
    const std::vector<std::string> lines = summary(results);
    EXPECT_EQ(lines[0].rfind("How many heads are selective is not known: 2 of 2 have weights that are negative", 0), 0U)
        << lines[0];
    for (const std::string& line : lines) {
        EXPECT_EQ(line.find("are sinks"), std::string::npos) << line;
    }
}

TEST(Shares, OfSomeNegativeWeightsAreNoneThoughTheirSumIsPositive) {
    bool met = false;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const model::Model<float> model = small(seed);
        Settings settings = under({"sa-softmax"});
        const Result result = analyse(model, some_ids(), settings, {3}).front();
        for (std::size_t head = 0; head < 2; ++head) {
            settings.head = {0, head};
            settings.row = 2;  // the only one of three tokens that counts
            const auto row = row_document(model, some_ids(), settings).at("weights").get<std::vector<double>>();
            if (total(row) > 0 && *std::min_element(row.begin(), row.end()) < 0) {
                met = true;
                EXPECT_TRUE(std::isnan(result.heads[head].active) && std::isnan(result.heads[head].sink)) << seed;
            }
        }
    }
    EXPECT_TRUE(met) << "otherwise this says nothing";
}

// A mean over those heads that happen to have no negative weight would be of other heads than the means beside it.
TEST(Shares, AreNoMeanOverSomeOfTheHeads) {
    bool of_one_alone = false;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Result result = analyse(small(seed), some_ids(), under({"sa-softmax"}), {3}).front();
        const auto is_known = [](const HeadResult& head) { return std::isfinite(head.by_n.front().share); };
        const auto known = std::count_if(result.heads.begin(), result.heads.end(), is_known);
        EXPECT_EQ(std::isfinite(result.by_n.front().share), known == 2) << seed;
        EXPECT_TRUE(std::isfinite(result.by_n.front().distance)) << seed;
        of_one_alone = of_one_alone || known == 1;
    }
    EXPECT_TRUE(of_one_alone) << "otherwise this says nothing";
}

TEST(Shares, SpeedIsNotToldOfKindsForWhichItIsNotMeasured) {
    const model::Model<float> model = small();
    for (const char* const kind : {"sparsemax", "sigmoid", "ssmax"}) {
        const std::vector<std::string> lines = summary(analyse(model, some_ids(), under({kind}), {tokens}));
        EXPECT_EQ(lines.back().find("near a tie"), std::string::npos) << kind << ": " << lines.back();
        EXPECT_NE(lines.back().find("of heads are sinks"), std::string::npos) << kind << ": " << lines.back();
    }
    const std::vector<std::string> lines = summary(analyse(model, some_ids(), under({"softmax"}), {tokens}));
    EXPECT_NE(lines.back().find(" sit near a tie of two keys"), std::string::npos) << lines.back();
}

// At three tokens no row sees more than five keys: what is kept of their share is not known of any kind.
TEST(Shares, KindsAreComparedOnlyWhereTheirSharesAreKnown) {
    const model::Model<float> model = small();
    const Settings settings = under({"softmax", "sparsemax"});
    EXPECT_EQ(guidance(analyse(model, some_ids(), settings, {3, tokens})).find("under any other kind"),
              std::string::npos);
    EXPECT_NE(guidance(analyse(model, some_ids(), settings, {12, tokens})).find("under any other kind"),
              std::string::npos);
}

}  // namespace
}  // namespace flyball::limits::shares_test
