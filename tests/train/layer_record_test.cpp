// The one list of what is recorded of a layer.
#include "train/layer_record.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/file.hpp"
#include "places.hpp"

namespace flyball::train {
namespace {

TEST(LayerFields, AreAllNumbersOfARecord) {
    EXPECT_EQ(sizeof(LayerRecord), layer_fields().size() * sizeof(double) + sizeof(LayerRecord::matrices))
        << "a member of LayerRecord without a row in layer_fields()";
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
