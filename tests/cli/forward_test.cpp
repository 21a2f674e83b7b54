// `flyball forward` as a user runs it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

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
        EXPECT_EQ(saved.names().size(), compared) << "nothing more and nothing less";
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

TEST(Forward, BadInputExitsTwoWithOneSentence) {
    struct Case {
        std::string arguments;
        const char* part;
    };
    const std::string gpt2 = "'" + golden("gpt2") + "' ";
    const std::vector<Case> cases = {
        {"/nowhere --ids 1", "/nowhere"},
        {gpt2, "none of --ids, --text and --string"},
        {gpt2 + "--ids 1 --text x", "--ids and --text together"},
        {gpt2 + "--ids 1 --string x", "--ids and --string together"},
        {gpt2 + "--string x", "tokenizer"},
        {gpt2 + "--text x", "tokenizer"},
        {gpt2 + "--ids 1,x", "the token id 'x'"},
        {gpt2 + "--ids 1,-2", "the token id '-2'"},
        {gpt2 + "--ids ,", "no token ids"},
        {gpt2 + "--ids @/nowhere", "/nowhere"},
        {gpt2 + "--ids 99", "the token id 99"},
        {gpt2 + "--ids 1 --what logits", "--what without --save"},
        {gpt2 + "--ids 1 --save /tmp/x --what logit", "some of logits, hidden, attention"},
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
}

}  // namespace
}  // namespace flyball::cli::test
