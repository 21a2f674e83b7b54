// The models that ship with the program: each opens by its name and has learned something.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/file.hpp"
#include "model/locate.hpp"
#include "model/pass.hpp"
#include "places.hpp"

namespace flyball::model {
namespace {

// Guessing bytes by how often each occurs in the text costs 3.3 nats; the models reach 2.1 to 2.6.
TEST(ShippedModels, OpenByTheirNamesAndKnowTheirText) {
    const std::filesystem::path data = std::filesystem::path(flyball::test::source_folder) / "data";
    const std::string text = read_text_file(data / "text" / "shakespeare.txt", 1U << 24U);
    const std::string end = text.substr(text.size() - 1024);  // of the part that was not trained on
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data / "models")) {
        const std::string name = entry.path().filename().string();
        const Model<float> model = load_model(locate("builtin:" + name));
        EXPECT_EQ(model.architecture().vocab, 256U) << name;
        EXPECT_EQ(model.architecture().positions, 256U) << name;
        EXPECT_LT(std::filesystem::file_size(entry.path() / "model.safetensors"), 800'000U) << name;
        Pass<float> pass(model, {4, 256});
        std::vector<std::int32_t> ids;
        for (const char c : end) {
            ids.push_back(static_cast<unsigned char>(c));
        }
        pass.forward(ids);
        EXPECT_LT(pass.loss(next_tokens(ids, 4)), 2.9) << name;
        ++count;
    }
    EXPECT_GE(count, 8U);
}

}  // namespace
}  // namespace flyball::model
