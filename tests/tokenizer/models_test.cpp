// Real tokenizers, where FLYBALL_TEST_MODELS names a folder with them. Counts and checksums are those of PyPI's
// tokenizers, printed by data/checksums.py.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::tokenizer::test {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int32_t>;

class TokenizerModels : public testing::Test {
  protected:
    void SetUp() override {
        const char* const models = std::getenv("FLYBALL_TEST_MODELS");
        if (models == nullptr || *models == '\0') {
            GTEST_SKIP() << "FLYBALL_TEST_MODELS is not set";
        }
        models_ = models;
    }

    fs::path folder(const std::string& name) const { return models_ / name; }
    bool has(const std::string& name) const { return fs::is_directory(folder(name)); }

    struct Book {
        const char* name;
        std::size_t count;
        std::uint64_t checksum;
    };
    void expect_books(const Tokenizer& tokenizer, const std::vector<Book>& books) const {
        for (const Book& book : books) {
            const fs::path file = models_.parent_path() / "text" / (std::string(book.name) + ".txt");
            if (!fs::exists(file)) {
                continue;
            }
            const Ids ids = tokenizer.encode(read_text_file(file, std::size_t{1} << 30));
            Checksum sum;
            for (const std::int32_t id : ids) {
                sum.add(static_cast<std::uint64_t>(id));
            }
            EXPECT_EQ(ids.size(), book.count) << book.name;
            EXPECT_EQ(sum.value(), book.checksum) << book.name;
        }
    }

    fs::path models_;
};

TEST_F(TokenizerModels, Gpt2AgreesWithFivePublicTokenizers) {
    if (!has("gpt2-tokenizer")) {
        GTEST_SKIP() << "no gpt2-tokenizer";
    }
    const Tokenizer tokenizer = Tokenizer::load(folder("gpt2-tokenizer"));
    EXPECT_EQ(tokenizer.vocabulary_size(), 50257U);
    const Json vectors = read_json(folder("gpt2-tokenizer") / "test_vectors.json");
    ASSERT_EQ(vectors.at("vectors").size(), 32U);
    for (const Json& row : vectors.at("vectors")) {
        const std::string text = row.at("text");
        if (text == "<|endoftext|>") {
            EXPECT_EQ(tokenizer.encode(text), (Ids{50256}));  // found in text, unlike in ordinary encoding
            continue;
        }
        EXPECT_EQ(tokenizer.encode(text), row.at("ids").get<Ids>()) << row.at("text");
        EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    }
}

TEST_F(TokenizerModels, Gpt2sBooksAgree) {
    if (!has("gpt2-tokenizer")) {
        GTEST_SKIP() << "no gpt2-tokenizer";
    }
    const std::vector<Book> books = {{"tinyshakespeare", 338025, 0xb547ad363c19676eU},
                                     {"war_and_peace_body", 845764, 0x6f1f8310d9bc8fb2U},
                                     {"wikitext_1000", 112474, 0x5186a0dabbb7e109U}};
    expect_books(Tokenizer::load(folder("gpt2-tokenizer")), books);
    // The same without tokenizer.json.
    const TemporaryFolder older;
    for (const char* name : {"vocab.json", "merges.txt", "tokenizer_config.json"}) {
        fs::copy(folder("gpt2-tokenizer") / name, older.path() / name);
    }
    expect_books(Tokenizer::load(older.path()), books);
}

TEST_F(TokenizerModels, MiniLmsBooksAgree) {
    if (!has("minilm-l6")) {
        GTEST_SKIP() << "no minilm-l6";
    }
    const std::vector<Book> books = {{"tinyshakespeare", 288721, 0xc141ac70fe7b6337U},
                                     {"war_and_peace_body", 732882, 0xeb03d2e53271580eU},
                                     {"wikitext_1000", 113696, 0x142009f1491a5e7aU}};
    const Tokenizer tokenizer = Tokenizer::load(folder("minilm-l6"));
    EXPECT_EQ(tokenizer.vocabulary_size(), 30522U);
    EXPECT_EQ(tokenizer.kind(), "WordPiece");
    expect_books(tokenizer, books);
    const TemporaryFolder older;
    fs::copy(folder("minilm-l6") / "vocab.txt", older.path() / "vocab.txt");
    expect_books(Tokenizer::load(older.path()), books);
}

}  // namespace
}  // namespace flyball::tokenizer::test
