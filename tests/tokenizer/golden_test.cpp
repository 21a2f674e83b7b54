// Small tokenizers of every kind on awkward texts: the ids and texts of PyPI's tokenizers (data/make.py).
#include <gtest/gtest.h>

#include "support.hpp"
#include "tokenizer/steps.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::tokenizer::test {
namespace {

using Ids = std::vector<std::int32_t>;

void expect_vectors(const std::string& folder, const std::string& vectors) {
    const Tokenizer tokenizer = Tokenizer::load(data(folder));
    const Json rows = read_json(data(vectors) / "vectors.json");
    ASSERT_GT(rows.size(), 80U);
    for (const Json& row : rows) {
        const std::string text = row.at("text");
        const Ids ids = row.at("ids");
        EXPECT_EQ(tokenizer.encode(text), ids) << folder << ": " << dump_json(row.at("text"));
        EXPECT_EQ(tokenizer.encode(text, false), row.at("plain").get<Ids>())
            << folder << ": " << dump_json(row.at("text"));
        EXPECT_EQ(tokenizer.decode(ids), row.at("decoded")) << folder << ": " << dump_json(row.at("text"));
        EXPECT_EQ(tokenizer.decode(ids, false), row.at("decoded_all")) << folder << ": " << dump_json(row.at("text"));
    }
}

TEST(TokenizerGolden, ByteLevelBpeWithGpt2sPatternAgrees) {
    expect_vectors("gpt2", "gpt2");
}

TEST(TokenizerGolden, VocabJsonAndMergesTxtAreTheSameTokenizer) {
    expect_vectors("gpt2-files", "gpt2");
}

TEST(TokenizerGolden, Llama3sPatternWithIgnoredMergesAgrees) {
    expect_vectors("llama3", "llama3");
}

TEST(TokenizerGolden, SentencePieceBpeWithByteFallbackAgrees) {
    expect_vectors("sentencepiece", "sentencepiece");
}

TEST(TokenizerGolden, MetaspaceWithEverySwitchOfAddedTokensAgrees) {
    expect_vectors("metaspace", "metaspace");
}

TEST(TokenizerGolden, PrefixSpaceDigitsAndRobertaProcessingAgree) {
    expect_vectors("roberta", "roberta");
}

TEST(TokenizerGolden, SuffixesAndPrefixesOfPiecesAgree) {
    expect_vectors("suffixed", "suffixed");
}

TEST(TokenizerGolden, WordPieceWithBertsNormaliserAgrees) {
    expect_vectors("wordpiece", "wordpiece");
}

TEST(TokenizerGolden, VocabTxtIsTheSameTokenizer) {
    expect_vectors("bert-files", "wordpiece");
}

TEST(TokenizerGolden, EveryNormaliserAgrees) {
    const Json document = read_json(data("normalizers.json"));
    const std::string what = "normalizers.json";
    for (const Json& row : document.at("steps")) {
        std::vector<NormaliseStep> steps;
        append_normaliser(steps, JsonNode(row.at("step"), what));
        for (std::size_t i = 0; i < document.at("texts").size(); ++i) {
            const std::string text = document.at("texts")[i];
            EXPECT_EQ(normalised(text, steps), row.at("out").at(i)) << row.at("step") << " " << document.at("texts")[i];
        }
    }
}

TEST(TokenizerGolden, EveryPretokenizerAgrees) {
    const Json document = read_json(data("pre_tokenizers.json"));
    const std::string what = "pre_tokenizers.json";
    for (const Json& row : document.at("steps")) {
        std::vector<PretokenizeStep> steps;
        append_pretokenizer(steps, JsonNode(row.at("step"), what));
        for (std::size_t i = 0; i < document.at("texts").size(); ++i) {
            const std::string text = document.at("texts")[i];
            std::vector<std::string> pieces;
            Pretokenizer(steps, 0, [&](std::string_view piece) { pieces.emplace_back(piece); }).run(text, true);
            EXPECT_EQ(pieces, row.at("out").at(i).get<std::vector<std::string>>())
                << row.at("step") << " " << document.at("texts")[i];
        }
    }
}

}  // namespace
}  // namespace flyball::tokenizer::test
