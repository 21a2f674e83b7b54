// `flyball forward` as a user runs it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "core/json.hpp"
#include "core/safetensors.hpp"
#include "program.hpp"

namespace flyball::cli::test {
namespace {

std::string golden(const std::string& name) {
    return std::string(flyball::test::source_folder) + "/tests/model/golden/" + name;
}

std::string temporary(const std::string& name) {
    return (std::filesystem::temp_directory_path() / (std::to_string(getpid()) + name)).string();
}

std::string ids_of(const std::string& name) {
    std::string text;
    for (const double id : SafeTensors::open(golden(name) + "/expected.safetensors").read<double>("ids")) {
        text += (text.empty() ? "" : ",") + std::to_string(static_cast<int>(id));
    }
    return text;
}

TEST(Forward, JsonFollowsTheContract) {
    const Outcome outcome = run_program("forward '" + golden("gpt2") + "' --ids " + ids_of("gpt2") + " --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json json = parse_json(outcome.out, "out");
    const double expected = SafeTensors::open(golden("gpt2") + "/expected.safetensors").read<double>("loss")[0];
    EXPECT_NEAR(json.at("loss").get<double>(), expected, 1e-5 * expected);
    EXPECT_EQ(json.at("tokens"), 19);
    EXPECT_GT(json.at("seconds").get<double>(), 0);
    EXPECT_EQ(json.at("model").at("family"), "gpt2");
    EXPECT_EQ(json.at("model").at("equation"), "x + dt*f(norm(x)) | norm(x)");
    EXPECT_EQ(json.at("model").at("layers"), 2);
}

TEST(Forward, SavesWhatTorchComputes) {
    for (const char* name : {"gpt2", "llama3-bf16", "bert"}) {
        const std::string file = temporary("saved.safetensors");
        const std::string list = temporary("ids.txt");
        std::ofstream(list) << "[" << ids_of(name) << "]\n";
        const Outcome outcome =
            run_program("forward '" + golden(name) + "' --ids '@" + list + "' --save '" + file + "'");
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const SafeTensors saved = SafeTensors::open(file);
        const SafeTensors expected = SafeTensors::open(golden(name) + "/expected.safetensors");
        std::size_t compared = 0;
        for (const std::string& tensor : expected.names()) {
            if (tensor != "logits" && !tensor.starts_with("hidden") && !tensor.starts_with("attention")) {
                continue;
            }
            ASSERT_EQ(saved.info(tensor).shape, expected.info(tensor).shape) << tensor;
            EXPECT_EQ(saved.info(tensor).dtype, Dtype::f32);
            const std::vector<float> a = saved.read<float>(tensor);
            const std::vector<float> b = expected.read<float>(tensor);
            float worst = 0;
            float size = 0;
            for (std::size_t i = 0; i < a.size(); ++i) {
                worst = std::max(worst, std::fabs(a[i] - b[i]));
                size = std::max(size, std::fabs(b[i]));
            }
            EXPECT_LE(worst, 1e-4F * size) << name << " " << tensor;
            ++compared;
        }
        EXPECT_EQ(saved.read<double>("ids"), expected.read<double>("ids"));
        EXPECT_EQ(saved.info("ids").dtype, Dtype::i64);
        EXPECT_EQ(saved.names().size(), compared + 1) << "nothing more and nothing less";
        std::filesystem::remove(file);
        std::filesystem::remove(list);
    }
}

// The weights are the softmax of the scores, and a stream is what was there before and what the branches add.
TEST(Forward, SavesScoresAndWhatBranchesAdd) {
    const std::string file = temporary("branches.safetensors");
    const Outcome outcome = run_program("forward '" + golden("gpt2") + "' --ids " + ids_of("gpt2") + " --save '" +
                                        file + "' --what hidden,attention,scores,branches --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_TRUE(parse_json(outcome.out, "json")["finite"].get<bool>()) << "a mask is no overflow";
    const SafeTensors saved = SafeTensors::open(file);
    const std::vector<std::size_t> shape = saved.info("scores.0").shape;
    ASSERT_EQ(shape, saved.info("attention.0").shape);
    const std::size_t n = shape[2];
    const std::vector<float> scores = saved.read<float>("scores.0");
    const std::vector<float> weights = saved.read<float>("attention.0");
    for (std::size_t row = 0; row < shape[0] * n; ++row) {
        double sum = 0;
        for (std::size_t k = 0; k < n; ++k) {
            EXPECT_EQ(scores[row * n + k] == -HUGE_VALF, k > row % n) << row << " " << k;
            sum += std::exp(static_cast<double>(scores[row * n + k]));
        }
        for (std::size_t k = 0; k < n; ++k) {
            EXPECT_NEAR(std::exp(static_cast<double>(scores[row * n + k])) / sum, weights[row * n + k], 1e-6);
        }
    }
    const std::vector<float> before = saved.read<float>("hidden.0");
    const std::vector<float> after = saved.read<float>("hidden.1");
    const std::vector<float> attn = saved.read<float>("attn_added.0");
    const std::vector<float> ffn = saved.read<float>("ffn_added.0");
    ASSERT_EQ(attn.size(), before.size());
    float attn_size = 0;
    float ffn_size = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_NEAR(after[i] - before[i], attn[i] + ffn[i], 2e-5);
        attn_size = std::max(attn_size, std::fabs(attn[i]));
        ffn_size = std::max(ffn_size, std::fabs(ffn[i]));
    }
    EXPECT_GT(std::min(attn_size, ffn_size), 1e-3F) << "nothing was tested";
    std::filesystem::remove(file);
}

SafeTensors torch_inside(const std::string& name) {
    return SafeTensors::open(std::string(flyball::test::source_folder) + "/tests/model/inside/" + name +
                             ".safetensors");
}

// -log softmax of torch's logits, aligned with the ids; NaN for the first.
std::vector<double> torch_losses(const std::string& name) {
    const SafeTensors expected = SafeTensors::open(golden(name) + "/expected.safetensors");
    const std::vector<double> ids = expected.read<double>("ids");
    const std::vector<double> logits = expected.read<double>("logits");
    const std::size_t vocab = logits.size() / ids.size();
    std::vector<double> losses = {NAN};
    for (std::size_t i = 1; i < ids.size(); ++i) {
        const double* const row = logits.data() + (i - 1) * vocab;
        double sum = 0;
        for (std::size_t v = 0; v < vocab; ++v) {
            sum += std::exp(row[v]);
        }
        losses.push_back(std::log(sum) - row[static_cast<std::size_t>(ids[i])]);
    }
    return losses;
}

TEST(Forward, LossOfEachTokenAndTheLikeliestAreThoseOfTorch) {
    const SafeTensors expected = torch_inside("gpt2");
    const std::vector<double> losses = torch_losses("gpt2");
    const std::vector<double> top = expected.read<double>("top_ids");
    const std::vector<double> log_p = expected.read<double>("top_log_probability");
    const std::string file = temporary("top.safetensors");
    const std::string base = "forward '" + golden("gpt2") + "' --ids " + ids_of("gpt2");
    const Outcome outcome = run_program(base + " --top 5 --json --save '" + file + "' --what hidden.0");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    const SafeTensors saved = SafeTensors::open(file);
    EXPECT_EQ(saved.names(),
              (std::vector<std::string>{"hidden.0", "ids", "token_loss", "top_ids", "top_log_probability"}));
    EXPECT_EQ(saved.read<double>("top_ids"), top);
    ASSERT_EQ(json.at("per_token").size(), losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const Json& one = json.at("per_token")[i];
        EXPECT_EQ(one.at("id"), expected.read<double>("ids")[i]);
        EXPECT_FALSE(one.contains("text")) << "there is no tokenizer";
        const float in_file = saved.read<float>("token_loss")[i];
        if (i == 0) {
            EXPECT_TRUE(one.at("loss").is_null());
            EXPECT_TRUE(one.at("expected").is_null());
            EXPECT_TRUE(std::isnan(in_file));
            continue;
        }
        EXPECT_NEAR(one.at("loss").get<double>(), losses[i], 1e-4) << i;
        EXPECT_NEAR(static_cast<double>(in_file), losses[i], 1e-4) << i;
        for (std::size_t k = 0; k < 5; ++k) {
            const Json& candidate = one.at("expected")[k];
            EXPECT_EQ(candidate.at("id"), top[(i - 1) * 5 + k]) << i << " " << k;
            EXPECT_NEAR(candidate.at("log_probability").get<double>(), log_p[(i - 1) * 5 + k], 1e-4);
            EXPECT_NEAR(saved.read<double>("top_log_probability")[i * 5 + k], log_p[i * 5 + k], 1e-4);
        }
    }
    EXPECT_EQ(json.at("next")[4].at("id"), top[18 * 5 + 4]);
    const Json plain = parse_json(run_program(base + " --per-token --json").out, "plain");
    EXPECT_EQ(plain.at("per_token")[3].at("loss"), json.at("per_token")[3].at("loss"));
    EXPECT_FALSE(plain.contains("next"));
    EXPECT_FALSE(parse_json(run_program(base + " --json").out, "neither").contains("per_token"));
    std::filesystem::remove(file);
}

TEST(Forward, TheTableOfTokensFitsEightyColumns) {
    const Outcome outcome =
        run_program("forward builtin:pre-ln --top 7 --string 'ROMEO:\nBut soft! \xc3\xa9 what light'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    std::size_t longest = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto marks = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) == 0x80; });
        longest = std::max(longest, line.size() - static_cast<std::size_t>(marks));
    }
    EXPECT_LE(longest, 80U) << outcome.out;
    EXPECT_GT(longest, 60U) << outcome.out;
    EXPECT_EQ(outcome.out.rfind("  place  token                 loss       p  expected there\n", 0), 0U) << outcome.out;
    EXPECT_NE(outcome.out.find("\n   next "), std::string::npos) << outcome.out;
}

// Of a model without a tokenizer the ids stand for the tokens.
TEST(Forward, TheTableSaysWhatTorchSays) {
    const SafeTensors expected = torch_inside("gpt2");
    const std::vector<double> ids = expected.read<double>("ids");
    const std::vector<double> top = expected.read<double>("top_ids");
    const std::vector<double> log_p = expected.read<double>("top_log_probability");
    const std::vector<double> losses = torch_losses("gpt2");
    const Outcome outcome = run_program("forward '" + golden("gpt2") + "' --top 2 --ids " + ids_of("gpt2"));
    std::istringstream lines(outcome.out);
    std::string line;
    std::getline(lines, line);
    const auto expected_behind = [&](std::size_t row) {
        std::string text;
        for (const std::size_t k : {row * 5, row * 5 + 1}) {
            char one[40];
            std::snprintf(one, sizeof one, "  %.0f %.1f%%", top[k], 100 * std::exp(log_p[k]));
            text += one;
        }
        return text;
    };
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ASSERT_TRUE(std::getline(lines, line));
        char start[60];
        std::snprintf(start, sizeof start, i == 0 ? "%7zu  %-16.0f         -" : "%7zu  %-16.0f  %8.4f", i, ids[i],
                      losses[i]);
        EXPECT_EQ(line.rfind(start, 0), 0U) << line;
        EXPECT_TRUE(i == 0 || line.ends_with(expected_behind(i - 1))) << line;
    }
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(line.starts_with("   next ") && line.ends_with(expected_behind(ids.size() - 1))) << line;
    double loss = 0;
    for (std::size_t i = 1; i < losses.size(); ++i) {
        loss += losses[i] / static_cast<double>(losses.size() - 1);
    }
    char perplexity[40];
    std::snprintf(perplexity, sizeof perplexity, "perplexity %.2f", std::exp(loss));
    EXPECT_NE(outcome.out.find(perplexity), std::string::npos) << outcome.out;
}

// An image by its pixels; torch's hidden states and attention.
TEST(Forward, AVisionTransformerReadsPixels) {
    const std::string folder = std::string(flyball::test::source_folder) + "/tests/model/vit/vit";
    const std::string file = temporary("vit.safetensors");
    const Outcome outcome = run_program("forward '" + folder + "' --json --embeddings '" + folder +
                                        "/expected.safetensors' --save '" + file + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const Json json = parse_json(outcome.out, "out");
    EXPECT_EQ(json.at("tokens"), 16);
    EXPECT_EQ(json.at("model").at("family"), "vit");
    EXPECT_TRUE(json.at("loss").is_null());
    const SafeTensors expected = SafeTensors::open(folder + "/expected.safetensors");
    const SafeTensors saved = SafeTensors::open(file);
    EXPECT_EQ(saved.names(),
              (std::vector<std::string>{"attention.0", "attention.1", "hidden.0", "hidden.1", "hidden.2"}));
    for (const std::string& tensor : saved.names()) {
        const std::vector<float> a = saved.read<float>(tensor);
        const std::vector<float> b = expected.read<float>(tensor);
        ASSERT_EQ(saved.info(tensor).shape, expected.info(tensor).shape);
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_NEAR(a[i], b[i], 1e-4) << tensor << " " << i;
        }
    }
    std::filesystem::remove(file);
    const Outcome ids = run_program("forward '" + folder + "' --ids 1,2,3");
    EXPECT_EQ(ids.exit, 2);
    EXPECT_NE(ids.err.find("whose tokens are patches of an image"), std::string::npos) << ids.err;
}

TEST(Forward, SavesTheTextOfEachToken) {
    const std::string file = temporary("texts.safetensors");
    const Outcome outcome =
        run_program("forward builtin:pre-ln --string 'To be, or' --what hidden.0 --save '" + file + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const SafeTensors saved = SafeTensors::open(file);
    EXPECT_EQ(saved.info("token_texts").dtype, Dtype::u8);
    const auto bytes = saved.info("token_texts").bytes;
    const Json texts =
        parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "the texts of the tokens");
    std::string all;
    for (const Json& text : texts) {
        all += text.get<std::string>();
    }
    EXPECT_EQ(all, "To be, or");
    EXPECT_EQ(texts.size(), saved.info("ids").shape[0]);
    std::filesystem::remove(file);
}

TEST(Forward, ABookIsScoredByStrides) {
    for (const auto& [name, length, stride] :
         std::vector<std::tuple<std::string, int, int>>{{"gpt2", 32, 16}, {"gpt2", 20, 20}, {"llama-gqa", 100, 30}}) {
        const SafeTensors expected = torch_inside(name);
        const std::vector<double> losses =
            expected.read<double>("losses." + std::to_string(length) + "." + std::to_string(stride));
        std::string text;
        for (const double id : expected.read<double>("text")) {
            text += std::to_string(static_cast<int>(id)) + ",";
        }
        double sum = 0;
        double squares = 0;
        double count = 0;
        for (const double loss : losses) {
            sum += std::isnan(loss) ? 0 : loss;
            count += std::isnan(loss) ? 0 : 1;
        }
        for (const double loss : losses) {
            squares += std::isnan(loss) ? 0 : std::pow(loss - sum / count, 2);
        }
        const std::string file = temporary("book.safetensors");
        const Outcome outcome = run_program("forward '" + golden(name) + "' --json --ids " + text + " --length " +
                                            std::to_string(length) + " --stride " + std::to_string(stride) +
                                            (length > 64 ? " --allow-long" : "") + " --save '" + file + "'");
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const Json json = parse_json(outcome.out, "out");
        EXPECT_EQ(json.at("tokens"), losses.size());
        EXPECT_EQ(json.at("scored"), count);
        EXPECT_EQ(json.at("length"), length);
        EXPECT_EQ(json.at("stride"), stride);
        EXPECT_NEAR(json.at("loss").get<double>(), sum / count, 1e-5 * sum / count);
        EXPECT_NEAR(json.at("perplexity").get<double>(), std::exp(sum / count), 1e-4 * std::exp(sum / count));
        const double error = std::sqrt(squares / (count - 1) / count);
        EXPECT_NEAR(json.at("standard_error").get<double>(), error, 1e-4 * error);
        EXPECT_FALSE(json.contains("per_token"));
        EXPECT_EQ(SafeTensors::open(file).names(), (std::vector<std::string>{"ids", "token_loss"}));
        const std::vector<float> saved = SafeTensors::open(file).read<float>("token_loss");
        EXPECT_NEAR(static_cast<double>(saved[50]), losses[50], 1e-4);
        EXPECT_TRUE(std::isnan(saved[0]));
        std::filesystem::remove(file);
    }
}

// Windows of 20 tokens that begin at 0, 10 and 20 cover 40 tokens; all but the first token have a loss.
TEST(Forward, TheLineOfScoredTokensNamesStrideAndWindow) {
    std::string ids;
    for (int id = 1; id <= 40; ++id) {
        ids += std::to_string(id) + ",";
    }
    const Outcome outcome = run_program("forward '" + golden("gpt2") + "' --length 20 --stride 10 --ids " + ids);
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("\nscored      39 of them, 10 apart in windows of 20 (3 windows)\n"), std::string::npos)
        << outcome.out;
}

// A rotary model beyond its 64 positions is what torch makes of it, with and without windows.
TEST(Forward, AllowLongGoesBeyondRotaryPositions) {
    const SafeTensors expected = torch_inside("llama-gqa");
    std::string text;
    for (const double id : expected.read<double>("text")) {
        text += std::to_string(static_cast<int>(id)) + ",";
    }
    const std::string base = "forward '" + golden("llama-gqa") + "' --json --ids " + text;
    const Outcome refused = run_program(base);
    EXPECT_EQ(refused.exit, 2);
    EXPECT_NE(refused.err.find("--allow-long of forward goes on beyond them"), std::string::npos) << refused.err;
    const Outcome outcome = run_program(base + " --allow-long");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const std::vector<double> losses = expected.read<double>("losses.150.150");
    double sum = 0;
    for (std::size_t i = 1; i < losses.size(); ++i) {
        sum += losses[i];
    }
    EXPECT_NEAR(parse_json(outcome.out, "out").at("loss").get<double>(), sum / 149, 1e-5 * sum / 149);
}

TEST(Forward, AnEncoderHasNoLoss) {
    const Outcome outcome = run_program("forward '" + golden("bert") + "' --ids 1,2,3 --json");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_TRUE(parse_json(outcome.out, "out").at("loss").is_null());
}

TEST(Forward, TextIsReadByTheModelsOwnTokenizer) {
    const char* models = std::getenv("FLYBALL_TEST_MODELS");
    if (models == nullptr || !std::filesystem::exists(std::string(models) + "/minilm-l6")) {
        GTEST_SKIP() << "set FLYBALL_TEST_MODELS to a folder with minilm-l6 to run this test";
    }
    const std::string file = temporary("text.txt");
    std::ofstream(file) << "the cat sat on the mat";
    const Outcome outcome = run_program("forward '" + std::string(models) + "/minilm-l6' --json --text '" + file + "'");
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(parse_json(outcome.out, "out").at("tokens"), 8) << "six words, [CLS] and [SEP]";
    const Outcome string =
        run_program("forward '" + std::string(models) + "/minilm-l6' --json --string \"$(cat '" + file + "')\"");
    EXPECT_EQ(parse_json(string.out, "string").at("tokens"), 8);
    std::filesystem::remove(file);
}

TEST(Forward, LengthTakesTheFirstTokens) {
    const std::string base = "forward '" + golden("gpt2") + "' --json --ids ";
    const Outcome cut = run_program(base + "1,2,3,4,5,6 --length 3");
    const Outcome three = run_program(base + "1,2,3");
    EXPECT_EQ(parse_json(cut.out, "cut").at("tokens"), 3);
    EXPECT_EQ(parse_json(cut.out, "cut").at("loss"), parse_json(three.out, "three").at("loss"));
    const Outcome longer = run_program(base + "1,2,3 --length 5");
    EXPECT_EQ(parse_json(longer.out, "longer").at("tokens"), 3) << "there are no more";
    EXPECT_EQ(parse_json(longer.out, "longer").at("loss"), parse_json(three.out, "three").at("loss"));
}

// BERT's golden with a vocabulary: [PAD] [UNK] [CLS] [SEP] [MASK] and the words w5 .. w52.
std::string bert_with_words() {
    std::string folder = temporary("bert");
    std::filesystem::remove_all(folder);
    std::filesystem::copy(golden("bert"), folder);
    std::ofstream vocabulary(folder + "/vocab.txt");
    vocabulary << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int i = 5; i < 53; ++i) {
        vocabulary << "w" << i << "\n";
    }
    return folder;
}

// Ids need no tokenizer, but where there is one their texts are saved with them.
TEST(Forward, SavesTheTextsOfIdsThatVocabTxtHas) {
    const std::string folder = bert_with_words();
    const std::string file = temporary("bert-texts.safetensors");
    const Outcome outcome = run_program("forward '" + folder + "' --ids 2,7,9,3 --what hidden.0 --save '" + file + "'");
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const SafeTensors saved = SafeTensors::open(file);
    const auto bytes = saved.info("token_texts").bytes;
    EXPECT_EQ(parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "token_texts"),
              Json({"[CLS]", "w7", "w9", "[SEP]"}));
    std::filesystem::remove_all(folder);
    std::filesystem::remove(file);
}

TEST(Forward, LengthKeepsTheSpecialTokensAroundAText) {
    const std::string folder = bert_with_words();
    const std::string text = temporary("words.txt");
    const std::string file = temporary("hidden.safetensors");
    std::ofstream(text) << "w7 w9 w11 w13";
    const auto hidden = [&](const std::string& input) {
        const Outcome outcome =
            run_program("forward '" + folder + "' " + input + " --save '" + file + "' --what hidden");
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        return SafeTensors::open(file).read<float>("hidden.2");
    };
    const std::string from_text = "--text '" + text + "' --length ";
    EXPECT_EQ(hidden(from_text + "4"), hidden("--ids 2,7,9,3"));
    EXPECT_EQ(hidden(from_text + "2"), hidden("--ids 2,3"));
    EXPECT_EQ(hidden(from_text + "6"), hidden("--ids 2,7,9,11,13,3"));
    EXPECT_EQ(hidden(from_text + "60"), hidden("--ids 2,7,9,11,13,3"));
    EXPECT_EQ(hidden("--ids 2,7,9,3 --length 2"), hidden("--ids 2,7")) << "ids are taken as they are";
    const Outcome none = run_program("forward '" + folder + "' " + from_text + "1");
    EXPECT_EQ(none.exit, 2);
    EXPECT_NE(none.err.find("at least 2"), std::string::npos) << none.err;
    std::filesystem::remove_all(folder);
    std::filesystem::remove(text);
    std::filesystem::remove(file);
}

TEST(Forward, ATextMayComeFromTheStandardInput) {
    const std::string folder = bert_with_words();
    const std::string text = temporary("words.txt");
    const std::string file = temporary("hidden.safetensors");
    std::ofstream(text) << "w7 w9\nw11";
    const auto hidden = [&](const std::string& input) {
        const Outcome outcome = run_program("forward '" + folder + "' --save '" + file + "' --what hidden " + input);
        EXPECT_EQ(outcome.exit, 0) << outcome.err;
        return SafeTensors::open(file).read<float>("hidden.2");
    };
    EXPECT_EQ(hidden("--text - <'" + text + "'"), hidden("--ids 2,7,9,11,3"));
    const Outcome piped = run_program("forward '" + folder + "' --json --text -", "printf 'w7 w9 w11 w13' |");
    EXPECT_EQ(parse_json(piped.out, "piped").at("tokens"), 6) << piped.err;
    const Outcome broken = run_program("forward '" + folder + "' --json --text -", "printf 'w7 \\377 w11' |");
    EXPECT_NE(broken.err.find("not UTF-8 in 1 places"), std::string::npos) << broken.err;
    const Outcome closed = run_program("forward '" + folder + "' --text - <&-");
    EXPECT_EQ(closed.exit, 2);
    EXPECT_NE(closed.err.find("standard input"), std::string::npos) << closed.err;
    std::filesystem::remove_all(folder);
    std::filesystem::remove(text);
    std::filesystem::remove(file);
}

// The published embedding in place of the ids behind it.
TEST(Forward, EmbeddingsTakeThePlaceOfAText) {
    for (const char* name : {"gpt2", "bert"}) {
        const SafeTensors expected = SafeTensors::open(golden(name) + "/expected.safetensors");
        const std::string rows = temporary("rows.safetensors");
        const std::string file = temporary("saved.safetensors");
        const std::vector<float> x0 = expected.read<float>("hidden.0");
        write_safetensors(rows, std::vector{tensor("embeddings", expected.info("hidden.0").shape, x0)});
        const std::string base = "forward '" + golden(name) + "' --embeddings '" + rows + "' ";
        const Outcome outcome = run_program(base + "--json --save '" + file + "' --what hidden,attention");
        ASSERT_EQ(outcome.exit, 0) << outcome.err;
        const Json json = parse_json(outcome.out, "out");
        EXPECT_TRUE(json.at("loss").is_null());
        EXPECT_EQ(json.at("finite"), true);
        EXPECT_EQ(json.at("tokens"), expected.info("hidden.0").shape[0]);
        const SafeTensors saved = SafeTensors::open(file);
        EXPECT_EQ(saved.read<float>("hidden.0"), x0);
        for (const char* tensor : {"hidden.1", "hidden.2", "attention.1"}) {
            const std::vector<float> a = saved.read<float>(tensor);
            const std::vector<float> b = expected.read<float>(tensor);
            ASSERT_EQ(a.size(), b.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                ASSERT_NEAR(a[i], b[i], 1e-4) << name << " " << tensor << " " << i;
            }
        }
        const Outcome cut = run_program(base + "--json --length 3");
        EXPECT_EQ(parse_json(cut.out, "cut").at("tokens"), 3);
        const Outcome text = run_program(base);
        EXPECT_EQ(text.out.find("nan"), std::string::npos) << text.out;
        std::filesystem::remove(rows);
        std::filesystem::remove(file);
    }
}

TEST(Forward, NotANumberIsSaidAndItsTensorNamed) {
    const std::string folder = temporary("nan");
    for (const char* name : {"gpt2", "bert"}) {
        std::filesystem::remove_all(folder);
        std::filesystem::copy(golden(name), folder);
        std::vector<TensorToWrite> list;
        const SafeTensors good = SafeTensors::open(golden(name) + "/model.safetensors");
        std::map<std::string, std::vector<float>> values;
        for (const std::string& tensor_name : good.names()) {
            std::vector<float>& numbers = values[tensor_name] = good.read<float>(tensor_name);
            if (tensor_name.find("mlp.c_fc.bias") != std::string::npos ||
                tensor_name.find("intermediate.dense.bias") != std::string::npos) {
                numbers[0] = std::nanf("");
            }
            list.push_back(tensor(tensor_name, good.info(tensor_name).shape, numbers));
        }
        write_safetensors(folder + "/model.safetensors", list);
        const Outcome outcome = run_program("forward '" + folder + "' --ids 1,2,3 --json");
        EXPECT_EQ(outcome.exit, 0);
        EXPECT_NE(outcome.err.find("the result is not finite, because of NaN or infinities in 2 of its"),
                  std::string::npos)
            << outcome.err;
        EXPECT_NE(outcome.err.find(std::string(name) == "gpt2" ? "h.0.mlp.c_fc.bias"
                                                               : "encoder.layer.0.intermediate.dense.bias"),
                  std::string::npos)
            << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        EXPECT_TRUE(parse_json(outcome.out, "out").at("loss").is_null());
        EXPECT_EQ(parse_json(outcome.out, "out").at("finite"), false);
    }
    std::filesystem::remove_all(folder);
    const Outcome good = run_program("forward '" + golden("bert") + "' --ids 1,2,3 --json");
    EXPECT_EQ(good.err, "");
    EXPECT_EQ(parse_json(good.out, "out").at("finite"), true);
}

// A row of the head that is -3e38 everywhere makes one logit overflow; no token of the text is that one, so the readout
// and the loss are finite. Whoever saves the logits gets the infinity, and is told.
TEST(Forward, WhatIsOnlySavedIsFiniteToo) {
    const std::string folder = temporary("overflow");
    const std::string file = temporary("overflow.safetensors");
    std::filesystem::remove_all(folder);
    std::filesystem::copy(golden("olmo2"), folder);
    const SafeTensors good = SafeTensors::open(golden("olmo2") + "/model.safetensors");
    std::map<std::string, std::vector<float>> values;
    std::vector<TensorToWrite> list;
    for (const std::string& name : good.names()) {
        std::vector<float>& numbers = values[name] = good.read<float>(name);
        if (name == "lm_head.weight") {
            const std::size_t dim = good.info(name).shape[1];
            std::fill_n(numbers.begin() + static_cast<std::ptrdiff_t>(7 * dim), dim, -3e38F);
        }
        list.push_back(tensor(name, good.info(name).shape, numbers));
    }
    write_safetensors(folder + "/model.safetensors", list);
    const std::string call = "forward '" + folder + "' --ids 5 --json";
    const Outcome unsaved = run_program(call);
    ASSERT_EQ(unsaved.exit, 0) << unsaved.err;
    EXPECT_EQ(parse_json(unsaved.out, "out").at("finite"), true) << "nobody sees that logit";
    const Outcome other = run_program(call + " --what hidden --save '" + file + "'");
    EXPECT_EQ(parse_json(other.out, "out").at("finite"), true);
    const Outcome saved = run_program(call + " --what logits --save '" + file + "'");
    ASSERT_EQ(saved.exit, 0) << saved.err;
    EXPECT_FALSE(std::isfinite(SafeTensors::open(file).read<float>("logits")[7]));
    EXPECT_EQ(parse_json(saved.out, "out").at("finite"), false);
    EXPECT_NE(saved.err.find("is not finite"), std::string::npos) << saved.err;
    std::filesystem::remove_all(folder);
    std::filesystem::remove(file);
}

TEST(Forward, BadInputExitsTwoWithOneSentence) {
    struct Case {
        std::string arguments;
        const char* part;
    };
    const std::string gpt2 = "'" + golden("gpt2") + "' ";
    const std::string narrow = temporary("narrow.safetensors");
    const std::string text = temporary("text.safetensors");
    write_safetensors(narrow, std::vector{tensor("embeddings", {2, 5}, std::vector<float>(10))});
    std::ofstream(text) << "this is no safetensors file";
    const std::vector<Case> cases = {
        {gpt2 + "--ids ''", "--ids ''"},
        {gpt2 + "--ids 1 --save ''", "--save ''"},
        {gpt2 + "--ids 1 --save x --what ''", "--what ''"},
        {gpt2 + "--ids 1 --top 99999999999", "--top 99999999999, expected from 1 to 53"},
        {gpt2 + "--embeddings /nowhere.safetensors", "/nowhere.safetensors"},
        {gpt2 + "--embeddings '" + narrow + "'", "embeddings of shape [2, 5]"},
        {gpt2 + "--embeddings '" + text + "'", "not a safetensors file"},
        {gpt2 + "--embeddings '" + golden("gpt2") + "/model.safetensors'", "no tensor 'embeddings'"},
        {gpt2 + "--embeddings x --text x", "--text and --embeddings together"},
        {"/nowhere --ids 1", "/nowhere"},
        {gpt2, "none of --text, --string, --ids and --embeddings"},
        {gpt2 + "--ids 1 --text x", "--text and --ids together"},
        {gpt2 + "--ids 1 --string x", "--string and --ids together"},
        {gpt2 + "--string x", "tokenizer"},
        {gpt2 + "--text x", "tokenizer"},
        {gpt2 + "--ids 1,x", "the token id 'x'"},
        {gpt2 + "--ids 1,-2", "the token id '-2'"},
        {gpt2 + "--ids ,", "no token ids"},
        {gpt2 + "--ids @/nowhere", "/nowhere"},
        {gpt2 + "--ids 99", "the token id 99"},
        // The largest number that an id can be is one; the next is none.
        {gpt2 + "--ids 2147483647", "the token id 2147483647, expected a number from 0 to 52"},
        {gpt2 + "--ids 2147483648", "the token id '2147483648', expected whole numbers"},
        {gpt2 + "--ids 1 --what logits", "--what without --save"},
        {gpt2 + "--ids 1 --save /tmp/x --what logit", "some of logits, hidden, attention"},
        {gpt2 + "--ids 1 --save /tmp/x --what attention.99", "--what 'attention.99', expected a block from 0 to 1"},
        {gpt2 + "--ids 1 --save /tmp/x --what attention.1.3", "a head from 0 to 2"},
        {gpt2 + "--ids 1 --save /tmp/x --what stream.x", "from 0 to 2"},
        {gpt2 + "--ids 1,2 --stride 0", "--stride '0', expected a whole number, 1 or more"},
        {gpt2 + "--ids 1,2 --stride 9 --length 8", "--stride 9, expected from 1 to 8, the length of a window"},
        {gpt2 + "--ids 1,2 --stride 1 --length 1", "at least 2"},
        {gpt2 + "--ids 1,2 --stride 1 --length 40", "from 1 to 32"},
        {gpt2 + "--ids 1,2 --stride 4 --what hidden --save x", "--what with --stride"},
        {gpt2 + "--ids 1,2 --stride 4 --top 3", "--top with --stride"},
        {gpt2 + "--ids 1,2 --top 0", "--top '0', expected a whole number, 1 or more"},
        {gpt2 + "--ids 1,2 --top 54", "--top 54, expected from 1 to 53"},
        {gpt2 + "--embeddings x --per-token", "--per-token with --embeddings"},
        {gpt2 + "--embeddings x --stride 3", "--stride with --embeddings"},
        {"'" + golden("bert") + "' --ids 1,2 --per-token", "without a language-model head"},
        {"'" + golden("bert") + "' --ids 1,2 --stride 1", "predicts the next token"},
        {gpt2 + "--allow-long --ids 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "learned"},
        {gpt2 + "--ids 1 --save /nowhere/x.safetensors", "/nowhere"},
        {gpt2 + "--ids 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "--length 32"},
        {"'" + golden("bert") + "' --ids 1 --save /tmp/x --what logits", "without a language-model head"},
    };
    for (const Case& tried : cases) {
        const Outcome outcome = run_program("forward " + tried.arguments);
        EXPECT_EQ(outcome.exit, 2) << tried.arguments;
        EXPECT_EQ(outcome.out, "") << tried.arguments;
        EXPECT_NE(outcome.err.find(tried.part), std::string::npos) << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    }
    std::filesystem::remove(narrow);
    std::filesystem::remove(text);
}

}  // namespace
}  // namespace flyball::cli::test
