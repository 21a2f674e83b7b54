#include "dynamics/start_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/half.hpp"
#include "core/number.hpp"
#include "core/safetensors.hpp"
#include "core/unreachable.hpp"
#include "dynamics/h5md_reader.hpp"
#include "dynamics/start_csv.hpp"
#include "measure/rows.hpp"
#include "record/folder.hpp"

namespace flyball::dynamics {

namespace {

[[noreturn]] void fail_start(const std::string& path, std::string_view got, std::string_view expected,
                             std::string_view hint = {}) {
    throw Error(ErrorKind::input, "dynamics.start_file", fmt::format("{} in {}", got, flyball::quoted(path)), expected,
                hint);
}

// Floating-point numbers in a mapped file, one after another, at any alignment.
struct Numbers {
    Dtype dtype = Dtype::f64;
    const std::byte* bytes = nullptr;

    double at(std::size_t i) const {
        if (dtype == Dtype::f64) {
            return load<double>(i);
        }
        if (dtype == Dtype::f32) {
            return static_cast<double>(load<float>(i));
        }
        const auto half = load<std::uint16_t>(i);
        return static_cast<double>(dtype == Dtype::f16 ? f16_to_float(half) : bf16_to_float(half));
    }

  private:
    template <class Value>
    Value load(std::size_t i) const {
        Value value;
        std::memcpy(&value, bytes + i * sizeof(Value), sizeof(Value));
        return value;
    }
};

// What a file holds before anybody has looked at its numbers.
struct Found {
    std::size_t systems = 1;
    std::size_t tokens = 0;
    std::size_t dim = 0;
    // Calls back with every row in turn.
    std::function<void(const std::function<void(std::span<const double>)>&)> walk;
};

Found walk_of(std::size_t systems, std::size_t tokens, std::size_t dim, const Numbers& numbers) {
    return {systems, tokens, dim, [=](const std::function<void(std::span<const double>)>& visit) {
                std::vector<double> row(dim);
                for (std::size_t j = 0; j < systems * tokens; ++j) {
                    for (std::size_t c = 0; c < dim; ++c) {
                        row[c] = numbers.at(j * dim + c);
                    }
                    visit(row);
                }
            }};
}

Found in_safetensors(const std::string& path, std::span<const std::byte> contents) {
    const SafeTensors file = SafeTensors::parse(contents, flyball::quoted(path));
    const std::vector<std::string> names = file.names();
    const std::string name = file.contains("x") || names.size() != 1 ? "x" : names.front();
    if (!file.contains(name)) {
        fail_start(path, fmt::format("{} tensors, none of which is called x", names.size()),
                   "one tensor, or one called x");
    }
    const TensorInfo& info = file.info(name);
    const std::string shown = fmt::format("the tensor {} of {} and shape [{}]", flyball::quoted(name),
                                          flyball::name(info.dtype), fmt::join(info.shape, ", "));
    if (!is_floating(info.dtype)) {
        fail_start(path, shown, "numbers of F64, F32, F16 or BF16");
    }
    std::vector<std::size_t> shape = info.shape;
    if (shape.size() == 2) {
        shape.insert(shape.begin(), 1);
    }
    if (shape.size() != 3 || info.elements() == 0) {
        fail_start(path, shown, "[tokens, dimensions] or [systems, tokens, dimensions]");
    }
    return walk_of(shape[0], shape[1], shape[2], {info.dtype, info.bytes.data()});
}

Found in_h5md(const std::string& path, std::span<const std::byte> contents, std::optional<std::size_t> frame) {
    const H5mdPositions found = read_h5md(contents, path);
    const std::size_t index = frame.value_or(found.samples - 1);
    if (index >= found.samples) {
        fail_start(path, fmt::format("no sample {}", index),
                   fmt::format("one of its {} samples, which count from 0", found.samples));
    }
    const Dtype dtype = found.number_size == 8 ? Dtype::f64 : Dtype::f32;
    const std::size_t size = found.rows * found.dim * found.number_size;
    return walk_of(found.systems, found.rows / found.systems, found.dim, {dtype, found.values.data() + index * size});
}

Found in_csv(const std::string& path, std::span<const std::byte> contents) {
    const std::string_view text(reinterpret_cast<const char*>(contents.data()), contents.size());
    const CsvShape shape = csv_shape(text, path);
    return {1, shape.rows, shape.columns,
            [text, path](const std::function<void(std::span<const double>)>& visit) { walk_csv(text, path, visit); }};
}

Found found_in(StartFormat format, const std::string& path, std::span<const std::byte> contents,
               std::optional<std::size_t> frame) {
    if (frame && format != StartFormat::h5md) {
        throw Error(ErrorKind::usage, "dynamics.start_file",
                    fmt::format("{} with {}", setting("start-frame"), setting("start", flyball::quoted(path))),
                    "a trajectory, which has several samples: a file that ends in .h5",
                    fmt::format("leave out {}", setting("start-frame")));
    }
    switch (format) {
        case StartFormat::safetensors:
            return in_safetensors(path, contents);
        case StartFormat::h5md:
            return in_h5md(path, contents, frame);
        case StartFormat::csv:
            return in_csv(path, contents);
    }
    unreachable();
}

// Every row has a direction; returns the mean length.
double check_rows(const std::string& path, const Found& found) {
    if (found.dim > most_start_dimensions) {
        fail_start(path, fmt::format("rows of {} numbers", found.dim),
                   fmt::format("at most {} dimensions", most_start_dimensions));
    }
    std::size_t j = 0;
    double sum = 0;
    found.walk([&](std::span<const double> row) {
        for (const double value : row) {
            if (!std::isfinite(value)) {
                fail_start(path, fmt::format("{} in row {}", format_double(value), j + 1), "finite numbers");
            }
        }
        const double length = measure::length(row.data(), row.size());
        if (length == 0) {
            fail_start(path, fmt::format("zeros alone in row {}", j + 1), "tokens that have a direction");
        }
        if (!std::isfinite(length)) {
            fail_start(path, fmt::format("row {} whose length is beyond the numbers", j + 1), "smaller numbers");
        }
        sum += length / static_cast<double>(found.systems * found.tokens);
        ++j;
    });
    return sum;
}

}  // namespace

std::optional<StartFormat> start_format(const std::string& path) {
    constexpr std::array<std::pair<std::string_view, StartFormat>, 5> ends = {
        {{".safetensors", StartFormat::safetensors},
         {".h5", StartFormat::h5md},
         {".hdf5", StartFormat::h5md},
         {".h5md", StartFormat::h5md},
         {".csv", StartFormat::csv}}};
    for (const auto& [end, format] : ends) {
        if (path.ends_with(end)) {
            return format;
        }
    }
    return std::nullopt;
}

std::shared_ptr<const StartFile> open_start_file(const std::string& path, std::optional<std::size_t> frame,
                                                 double most_bytes) {
    const auto format = start_format(path);
    if (!format) {
        throw Error(ErrorKind::usage, "dynamics.start_file", setting("start", flyball::quoted(path)),
                    "a file that ends in .safetensors, .h5 or .csv");
    }
    const auto mapped = std::make_shared<const MappedFile>(path);
    const Found found = found_in(*format, path, mapped->bytes(), frame);
    const double bytes = 8.0 * static_cast<double>(found.systems * found.tokens) * static_cast<double>(found.dim);
    if (bytes > most_bytes) {
        throw Error(ErrorKind::resource, "dynamics.start_file",
                    fmt::format("a start of {} x {} x {} numbers in {}", found.systems, found.tokens, found.dim,
                                flyball::quoted(path)),
                    fmt::format("rows that fit the {:.1f} GB of memory that are free", most_bytes * 1e-9));
    }
    auto file = std::make_shared<StartFile>();
    file->path = path;
    file->systems = found.systems;
    file->tokens = found.tokens;
    file->dim = found.dim;
    file->mean_length = check_rows(path, found);
    file->checksum = record::checksum(mapped->bytes());
    record::expect_as_recorded(path, file->checksum);
    file->rows = [mapped, found] {
        std::vector<double> rows;
        rows.reserve(found.systems * found.tokens * found.dim);
        found.walk([&](std::span<const double> row) { rows.insert(rows.end(), row.begin(), row.end()); });
        return rows;
    };
    return file;
}

void use_start_file(std::shared_ptr<const StartFile> file, const StartSaid& said, Settings& s) {
    if (said.r0) {
        throw Error(ErrorKind::usage, "dynamics.start_file",
                    fmt::format("{} with {}", setting("r0"), setting("start", flyball::quoted(file->path))),
                    "one of them, since the rows of a file have lengths of their own",
                    fmt::format("leave out {}", setting("r0")));
    }
    if (!said.tokens) {
        s.tokens = file->tokens;
    }
    if (!said.dim) {
        s.dim = file->dim;
    }
    if (!said.systems) {
        s.systems = file->systems;
    }
    s.started = std::move(file);
}

void check_start_file(const Settings& s) {
    if (s.started == nullptr) {
        throw Error(ErrorKind::usage, "dynamics.start_file",
                    fmt::format("a start from {}, which nobody has opened", flyball::quoted(s.start_file)),
                    "the rows of the file beside its name");
    }
    const StartFile& file = *s.started;
    struct Size {
        const char* key;
        const char* what;
        std::size_t said;
        std::size_t has;
    };
    for (const Size& size :
         {Size{"tokens", "tokens", s.tokens, file.tokens}, Size{"dim", "dimensions", s.dim, file.dim},
          Size{"systems", "systems", s.systems, file.systems}}) {
        if (size.said != size.has) {
            const bool of_model = size.said == s.dim && s.trained != nullptr && std::string_view(size.key) == "dim";
            throw Error(
                ErrorKind::usage, "dynamics.start_file",
                fmt::format("{} with a start from {}, which has {} {}", setting(size.key, std::to_string(size.said)),
                            flyball::quoted(file.path), size.has, size.what),
                of_model ? "rows of as many numbers as the model has channels" : "the same number in both",
                of_model ? "" : fmt::format("leave out {}", setting(size.key)));
        }
    }
}

}  // namespace flyball::dynamics
