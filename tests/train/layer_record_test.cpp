// The one list of what is recorded of a layer.
#include "train/layer_record.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "core/file.hpp"
#include "places.hpp"

namespace flyball::train {
namespace {

TEST(LayerFields, AreAllNumbersOfARecord) {
    EXPECT_EQ(sizeof(LayerRecord), layer_fields().size() * sizeof(double) + sizeof(LayerRecord::matrices))
        << "a member of LayerRecord without a row in layer_fields()";
}

TEST(LayerFields, AreWrittenUnderTheirOwnNames) {
    LayerRecord record;
    record.norm = 1;
    record.mean_abs = 2;
    record.entry_variance = 3;
    record.data_variance = 4;
    record.attention_norm = 5;
    record.attention_ratio = 6;
    record.ffn_norm = 7;
    record.ffn_ratio = 8;
    record.gradient = 9;
    record.entropy = 10;
    record.largest_logit = 11;
    record.angle = 12;
    record.angle_predicted = 13;
    record.angle_ratio = 14;
    const Json json = to_json(record);
    const char* const names[] = {
        "norm",      "mean_abs", "entry_variance", "data_variance", "attention_norm", "attention_ratio", "ffn_norm",
        "ffn_ratio", "gradient", "entropy",        "largest_logit", "angle",          "angle_predicted", "angle_ratio"};
    ASSERT_EQ(std::size(names), layer_fields().size());
    for (std::size_t i = 0; i < std::size(names); ++i) {
        EXPECT_EQ(json.at(names[i]), static_cast<double>(i + 1)) << names[i];
    }
}

TEST(LayerFields, AreDefinedInTheManual) {
    const std::string manual = read_text_file(std::string(flyball::test::source_folder) + "/docs/train.md", 1 << 20);
    for (const LayerField& field : layer_fields()) {
        const std::string name = "`" + std::string(field.name) + "`";
        bool defined = false;
        for (std::size_t at = manual.find(name); at != std::string::npos && !defined; at = manual.find(name, at + 1)) {
            defined = manual.compare(manual.rfind('\n', at) + 1, 3, "| `") == 0;
        }
        EXPECT_TRUE(defined) << name << " has no row in a table of docs/train.md";
    }
}

}  // namespace
}  // namespace flyball::train
