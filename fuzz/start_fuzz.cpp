// Any bytes are either rows that particles can start from, or an Error of kind input: as a trajectory, and as text.
//     ./start_fuzz fuzz/corpus/start
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "dynamics/h5md_reader.hpp"
#include "dynamics/start_csv.hpp"

namespace {

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

template <class Read>
void read_or_refuse(const Read& read) {
    try {
        read();
    } catch (const flyball::Error& error) {
        require(error.kind() == flyball::ErrorKind::input);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace flyball::dynamics;
    const std::string path = "fuzz";
    read_or_refuse([&] {
        const H5mdPositions found = read_h5md(std::as_bytes(std::span(data, size)), path);
        require(found.samples > 0 && found.systems > 0 && found.rows % found.systems == 0);
        require(found.values.size() == found.samples * found.rows * found.dim * found.number_size);
        std::size_t sum = 0;  // every byte can be read
        for (const std::byte value : found.values) {
            sum += std::to_integer<std::size_t>(value);
        }
        require(sum <= 255 * size);
    });
    read_or_refuse([&] {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const CsvShape shape = csv_shape(text, path);
        std::size_t rows = 0;
        walk_csv(text, path, [&](std::span<const double> row) {
            require(row.size() == shape.columns);
            ++rows;
        });
        require(rows == shape.rows && rows > 0 && shape.columns > 0);
    });
    return 0;
}
