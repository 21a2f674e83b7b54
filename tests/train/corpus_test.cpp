#include "train/corpus.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include "at_most.hpp"
#include "core/error.hpp"
#include "tokenizer/support.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::train {
namespace {

using tokenizer::test::message_of;
using tokenizer::test::TemporaryFolder;

std::string repeated(std::size_t count) {
    std::string text(count, ' ');
    for (std::size_t i = 0; i < count; ++i) {
        text[i] = static_cast<char>('a' + i % 7);
    }
    return text;
}

// uint16, little endian.
std::string bin(const std::vector<int>& ids) {
    std::string bytes;
    for (const int id : ids) {
        bytes += static_cast<char>(id & 0xFF);
        bytes += static_cast<char>(id >> 8);
    }
    return bytes;
}

class CorpusOfFiles : public testing::Test {
  protected:
    Corpus load(const std::string& name) {
        settings.data = (folder.path() / name).string();
        return load_corpus(settings);
    }
    std::string refusal(const std::string& name) {
        return message_of([&] { static_cast<void>(load(name)); });
    }
    void expect_refused(const std::string& name, const std::string& with) {
        EXPECT_NE(refusal(name).find(with), std::string::npos) << refusal(name);
    }

    TemporaryFolder folder;
    CorpusSettings settings;
};

TEST_F(CorpusOfFiles, TheLastTenthOfATextIsForValidation) {
    settings.context = 8;
    folder.write("text.txt", repeated(1005));
    const Corpus corpus = load("text.txt");
    EXPECT_EQ(corpus.train.size(), 904U);  // int(1005 * 0.9), as nanoGPT's prepare.py has it
    EXPECT_EQ(corpus.validation.size(), 101U);
    EXPECT_EQ(corpus.vocab, 256U);
    EXPECT_EQ(corpus.train[0], 'a');
    EXPECT_EQ(corpus.validation[0], 'a' + 904 % 7);
    EXPECT_FALSE(corpus.floor.has_value());
    EXPECT_NE(corpus.description.find("text.txt': 904 to train on and 101 to validate"), std::string::npos);
    EXPECT_EQ(corpus.description.find("bytes of '"), 0U);
}

TEST_F(CorpusOfFiles, LargeNumbersOfTheDescriptionAreGrouped) {
    folder.write("text.txt", repeated(1115394));
    EXPECT_NE(load("text.txt").description.find(": 1,003,854 to train on and 111,540 to validate"), std::string::npos);
}

TEST_F(CorpusOfFiles, CharactersAndTheirTokenizerFollowTheSetting) {
    settings.context = 4;
    settings.encoding = "chars";
    folder.write("text.txt", "éa\n" + repeated(100));
    const Corpus corpus = load("text.txt");
    EXPECT_EQ(corpus.vocab, 9U);
    EXPECT_EQ(corpus.train[0], 8);
    EXPECT_EQ(corpus.train.size() + corpus.validation.size(), 103U);
    EXPECT_EQ(corpus.description.find("characters of '"), 0U);
    corpus.write_tokenizer(folder.path());
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder.path());
    EXPECT_EQ(tokenizer.encode("é\na"), (std::vector<Token>{8, 0, 1}));
    settings.encoding = "words";
    expect_refused("text.txt", "encoding = 'words', expected bytes or chars");
}

TEST_F(CorpusOfFiles, ATokenizerTakesTheEncodingsPlace) {
    settings.context = 4;
    settings.tokenizer = tokenizer::test::data("gpt2").string();
    folder.write("text.txt", "Hello world, hello world. " + repeated(200));
    const Corpus corpus = load("text.txt");
    const tokenizer::Tokenizer published = tokenizer::Tokenizer::load(settings.tokenizer);
    EXPECT_EQ(corpus.vocab, published.vocabulary_size());
    EXPECT_EQ(corpus.train[0], published.encode("Hello")[0]);
    EXPECT_EQ(corpus.description.find("tokens of '"), 0U);
    corpus.write_tokenizer(folder.path());
    EXPECT_EQ(tokenizer::Tokenizer::load(folder.path()).encode("some text"), published.encode("some text"));
}

TEST_F(CorpusOfFiles, AnyBytesAreBytes) {
    settings.context = 8;
    std::string text(4096, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<char>(i * 37);
    }
    folder.write("program", text);
    EXPECT_EQ(load("program").train[7], 7 * 37 % 256);
    settings.encoding = "chars";
    expect_refused("program", "is not UTF-8");
}

TEST_F(CorpusOfFiles, TooShortATextIsRefusedWithTheLengthItNeeds) {
    settings.context = 16;
    folder.write("empty", "");
    expect_refused("empty", "got the empty file");
    folder.write("one", "x");
    expect_refused("one", "' with 1 byte, 0 of them to train on and 1 to validate, expected at least");
    // 17 in the last tenth: int(161 * 0.9) = 144, 161 - 144 = 17, and 160 leaves 16.
    folder.write("short", repeated(160));
    expect_refused(
        "short",
        "with 160 bytes, 144 of them to train on and 16 to validate, expected at least 161 bytes, so that there "
        "are 17 in each part, one more than context = 16");
    folder.write("enough", repeated(161));
    EXPECT_EQ(load("enough").validation.size(), 17U);
    // The other way round, the training part is the short one.
    settings.validation_share = 0.75;
    folder.write("other", repeated(67));
    expect_refused("other", "16 of them to train on and 51 to validate, expected at least 68 bytes");
    folder.write("enough", repeated(68));
    EXPECT_EQ(load("enough").train.size(), 17U);
}

TEST_F(CorpusOfFiles, OnlyRegularFilesAreRead) {
    const flyball::test::AtMost limit(60);
    ASSERT_EQ(mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    expect_refused("pipe", "which is not a regular file");
    ASSERT_EQ(mkfifo((folder.path() / "pipe.bin").c_str(), 0600), 0);
    expect_refused("pipe.bin", "which is not a regular file");
    expect_refused("absent", "No such file");
    std::filesystem::create_directories(folder.path() / "some");
    expect_refused("some", "got the folder");
    folder.write("some/train.bin", bin({1, 2}));
    expect_refused("some", "hint: name the file");
}

TEST_F(CorpusOfFiles, NanoGptsFilesAreReadAsTheyAre) {
    settings.context = 2;
    folder.write("train.bin", bin({1, 2, 300, 4, 5}));
    folder.write("val.bin", bin({7, 65535, 9}));
    const Corpus corpus = load("train.bin");
    EXPECT_EQ(corpus.train, (std::vector<Token>{1, 2, 300, 4, 5}));
    EXPECT_EQ(corpus.validation, (std::vector<Token>{7, 65535, 9}));
    EXPECT_EQ(corpus.vocab, 65536U);
    EXPECT_NE(corpus.description.find("train.bin' and '"), std::string::npos);
    corpus.write_tokenizer(folder.path());
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "tokenizer.json"));
}

TEST_F(CorpusOfFiles, WithoutAValBinTheLastPartOfTheFileIsForValidation) {
    settings.context = 2;
    settings.validation_share = 0.5;
    folder.write("train.bin", bin({1, 2, 3, 4, 5, 6, 7}));
    Corpus corpus = load("train.bin");
    EXPECT_EQ(corpus.train, (std::vector<Token>{1, 2, 3}));
    EXPECT_EQ(corpus.validation, (std::vector<Token>{4, 5, 6, 7}));
    EXPECT_EQ(corpus.vocab, 8U);
    // Another file's partner is not val.bin.
    folder.write("other.bin", bin({1, 2, 3, 4, 5, 6, 9}));
    folder.write("val.bin", bin({70, 71, 72}));
    corpus = load("other.bin");
    EXPECT_EQ(corpus.validation, (std::vector<Token>{4, 5, 6, 9}));
    EXPECT_EQ(corpus.vocab, 10U);
}

TEST_F(CorpusOfFiles, DamagedBinFilesAreRefused) {
    settings.context = 2;
    folder.write("odd.bin", bin({1, 2, 3}) + "x");
    expect_refused("odd.bin", "with 7 bytes, an odd number");
    folder.write("empty.bin", "");
    expect_refused("empty.bin", "got the empty file");
    folder.write("train.bin", bin({1, 2, 3}));
    folder.write("val.bin", bin({1, 2}));
    expect_refused("train.bin", "3 of them to train on and 2 to validate, expected at least 3 in each part");
}

TEST_F(CorpusOfFiles, IdsThatTheNamedTokenizerDoesNotHaveAreRefused) {
    settings.context = 2;
    settings.tokenizer = tokenizer::test::data("gpt2").string();
    const std::size_t vocab = tokenizer::Tokenizer::load(settings.tokenizer).vocabulary_size();
    const int last = static_cast<int>(vocab) - 1;
    folder.write("train.bin", bin({1, last, 3}));
    folder.write("val.bin", bin({1, 2, 3}));
    const Corpus corpus = load("train.bin");
    EXPECT_EQ(corpus.vocab, vocab);
    EXPECT_FALSE(corpus.tokenizer.empty());
    folder.write("val.bin", bin({1, 2, last + 1}));
    expect_refused("train.bin", fmt::format("the id {} at place 2 of ", last + 1));
}

TEST_F(CorpusOfFiles, TheChecksumSeesEverything) {
    settings.context = 2;
    folder.write("train.bin", bin({1, 2, 3, 4}));
    folder.write("val.bin", bin({1, 2, 3}));
    const std::string first = load("train.bin").checksum;
    EXPECT_EQ(first.size(), 16U);
    EXPECT_EQ(load("train.bin").checksum, first);
    folder.write("train.bin", bin({1, 2, 4, 3}));
    EXPECT_NE(load("train.bin").checksum, first);
    folder.write("train.bin", bin({1, 2, 3, 4}));
    folder.write("val.bin", bin({1, 2, 4}));
    EXPECT_NE(load("train.bin").checksum, first);
    folder.write("val.bin", bin({1, 2, 3}));
    EXPECT_EQ(load("train.bin").checksum, first);
    settings.tokenizer = tokenizer::test::data("gpt2").string();
    EXPECT_NE(load("train.bin").checksum, first);
    // The same ids for other characters.
    settings.tokenizer.clear();
    settings.encoding = "chars";
    folder.write("one", "ababababababababababababababab");
    folder.write("other", "acacacacacacacacacacacacacacac");
    const Corpus one = load("one");
    const Corpus other = load("other");
    EXPECT_EQ(one.train, other.train);
    EXPECT_NE(one.checksum, other.checksum);
}

TEST_F(CorpusOfFiles, SettingsWithoutMeaningAreRefused) {
    folder.write("text", repeated(1000));
    settings.context = 0;
    expect_refused("text", "context = 0, expected at least 1");
    settings.context = 4;
    for (const double share : {0.0, 1.0, -0.5, 1e-300, std::nan("")}) {
        settings.validation_share = share;
        expect_refused("text", "validation = ");
        expect_refused("text", "expected a share of the data, from 1e-6 to 0.999999");
    }
}

TEST(CorpusOfSyntheticText, IsRefusedWhenTooShortOrTooLong) {
    CorpusSettings settings;
    settings.data = "synthetic";
    settings.tokens = 2570;
    const auto message = [&] { return message_of([&] { static_cast<void>(load_corpus(settings)); }); };
    EXPECT_EQ(message(), "");  // 257 in the last tenth
    settings.tokens = 2560;
    EXPECT_NE(message().find("synthetic text with 2,560 tokens, 2,304 of them to train on and 256 to validate"),
              std::string::npos);
    // 2^17 = 131,072 to validate unless a number is given, and then a tenth of it: 1,500,001 - int(1,350,000.9).
    settings.tokens = 0;
    settings.context = 150000;
    EXPECT_NE(
        message().find("2,097,152 of them to train on and 131,072 to validate, expected tokens = 1500001 or more, "
                       "so that there are 150,001 in each part, one more than context = 150000"),
        std::string::npos)
        << message();
    settings.context = 256;
    settings.tokens = (std::size_t{1} << 32U) + 1;
    EXPECT_NE(message().find("tokens = 4294967297, expected at most 4294967296"), std::string::npos);
}

TEST(CorpusOfSyntheticText, HasATokenizerOfItsCharacters) {
    CorpusSettings settings;
    settings.data = "synthetic";
    settings.context = 16;
    settings.tokens = 2000;
    const Corpus corpus = load_corpus(settings);
    const TemporaryFolder folder;
    corpus.write_tokenizer(folder.path());
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder.path());
    EXPECT_EQ(tokenizer.encode(tokenizer.decode(corpus.train)), corpus.train);
    EXPECT_EQ(tokenizer.decode(std::vector<Token>{0, 1, 5, 31, 56}), "\n Aaz");
    EXPECT_EQ(corpus.description.find("characters of synthetic text with an entropy of 0.75"), 0U);
    settings.seed = 2;
    EXPECT_NE(load_corpus(settings).checksum, corpus.checksum);
}

// 2^62: the fewest tokens that would do have more digits than numbers of the machine.
TEST(Corpus, ContextsBeyondAnyTextAreRefused) {
    for (const std::size_t context : {std::size_t{1} << 62U, (std::size_t{1} << 32U) + 1}) {
        CorpusSettings settings;
        settings.data = "synthetic";
        settings.tokens = 2000;
        settings.context = context;
        try {
            load_corpus(settings);
            FAIL() << context;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("expected at most 4294967296"), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace flyball::train
