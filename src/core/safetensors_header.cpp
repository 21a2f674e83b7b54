#include "core/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/json_events.hpp"

namespace flyball {

namespace {

constexpr std::string_view where_header = "core.safetensors";
constexpr std::size_t most_dimensions = 64;  // keeps "[1,1,1,..." from becoming eight bytes for two

class HeaderReader : public JsonEvents {
  public:
    HeaderReader(std::string_view text, std::string_view what)
        : JsonEvents(text, what, where_header, {.max_depth = 3, .max_bytes = std::numeric_limits<std::size_t>::max()}) {
    }

    Header take() { return std::move(header_); }

  protected:
    std::string expected_here() const override {
        if (depth() <= 1 || name_.empty()) {
            return "an object {name: {dtype, shape, data_offsets}}";
        }
        if (in_metadata()) {
            return "texts in __metadata__";
        }
        const std::string of = " of tensor " + flyball::quoted(name_);
        switch (field_) {
            case Field::dtype:
                return "a text as dtype" + of;
            case Field::shape:
                return "an array of non-negative integers as shape" + of;
            case Field::data_offsets:
                return "two non-negative integers as data_offsets" + of;
            case Field::none:
                break;
        }
        return "dtype, shape and data_offsets" + of;
    }

    void on_start_object() override {
        if (depth() > 2) {
            fail("an object", expected_here());
        }
        if (depth() == 2) {
            entry_ = {};
            offsets_.clear();
            has_dtype_ = false;
            has_shape_ = false;
        }
    }

    void on_key(std::string& value) override {
        if (depth() == 1) {
            name_ = value;
            field_ = Field::none;
        } else if (in_metadata()) {
            metadata_key_ = value;
        } else if (value == "dtype") {
            field_ = Field::dtype;
        } else if (value == "shape") {
            field_ = Field::shape;
        } else if (value == "data_offsets") {
            field_ = Field::data_offsets;
        } else {
            fail(fmt::format("the field {} of tensor {}", flyball::quoted(value), flyball::quoted(name_)),
                 "dtype, shape and data_offsets");
        }
    }

    void on_string(std::string& value) override {
        if (depth() == 2 && in_metadata()) {
            header_.metadata.emplace(metadata_key_, std::move(value));
            return;
        }
        if (depth() != 2 || field_ != Field::dtype) {
            fail(flyball::quoted(value), expected_here());
        }
        const auto dtype = parse_dtype(value);
        if (!dtype) {
            fail(fmt::format("the dtype {} of tensor {}", flyball::quoted(value), flyball::quoted(name_)),
                 "F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 or BOOL");
        }
        entry_.dtype = *dtype;
        has_dtype_ = true;
    }

    void on_start_array() override {
        if (depth() != 3 || in_metadata() || (field_ != Field::shape && field_ != Field::data_offsets)) {
            fail("an array", expected_here());
        }
        has_shape_ = has_shape_ || field_ == Field::shape;
    }

    void on_unsigned(std::uint64_t value) override {
        if (depth() != 3) {
            fail(fmt::format("{}", value), expected_here());
        }
        if (field_ == Field::shape) {
            if (entry_.shape.size() == most_dimensions) {
                fail(fmt::format("more than {} dimensions of tensor {}", most_dimensions, flyball::quoted(name_)),
                     "fewer dimensions");
            }
            entry_.shape.push_back(value);
        } else {
            if (offsets_.size() == 2) {
                fail("more than two numbers", expected_here());
            }
            offsets_.push_back(value);
        }
    }

    void on_end_object() override {
        if (depth() != 2 || in_metadata()) {
            return;
        }
        if (!has_dtype_ || !has_shape_ || offsets_.size() != 2) {
            fail(fmt::format("an incomplete entry for tensor {}", flyball::quoted(name_)),
                 "dtype, shape and two data_offsets");
        }
        entry_.begin = offsets_[0];
        entry_.end = offsets_[1];
        header_.entries.emplace(std::move(name_), std::move(entry_));
        name_.clear();
    }

  private:
    enum class Field { none, dtype, shape, data_offsets };

    bool in_metadata() const { return name_ == "__metadata__"; }

    Header header_;
    std::string name_;
    std::string metadata_key_;
    Field field_ = Field::none;
    HeaderEntry entry_;
    std::vector<std::uint64_t> offsets_;
    bool has_dtype_ = false;
    bool has_shape_ = false;
};

// Sorted by where they begin, tensors have to follow each other exactly: no overlap, which could show one tensor's
// bytes as another's, and no hole, which could hide something.
void check_layout(const Header& header, std::string_view what, std::uint64_t data_size) {
    const auto fail = [what](const std::string& got, const std::string& expected) {
        throw Error(ErrorKind::input, where_header, fmt::format("{} in {}", got, what), expected,
                    "the file is damaged or was not written by a safetensors library");
    };
    using Item = std::pair<const std::string, HeaderEntry>;
    std::vector<const Item*> order;
    order.reserve(header.entries.size());
    for (const Item& item : header.entries) {
        const auto& [name, entry] = item;
        if (entry.begin > entry.end || entry.end > data_size) {
            fail(fmt::format("data_offsets [{}, {}] of tensor {}", entry.begin, entry.end, flyball::quoted(name)),
                 fmt::format("a range within the {} bytes of data", data_size));
        }
        const auto bytes = byte_count(entry.dtype, entry.shape);
        if (!bytes) {
            fail(fmt::format("a shape whose size overflows for tensor {}", flyball::quoted(name)),
                 "a shape that fits the file");
        }
        if (*bytes != entry.end - entry.begin) {
            fail(fmt::format("{} bytes for tensor {}", entry.end - entry.begin, flyball::quoted(name)),
                 fmt::format("{} for its shape and dtype", *bytes));
        }
        order.push_back(&item);
    }
    std::sort(order.begin(), order.end(), [](const Item* a, const Item* b) {
        return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
    });
    std::uint64_t position = 0;
    for (const Item* const item : order) {
        if (item->second.begin != position) {
            fail(fmt::format("tensor {} at offset {}", flyball::quoted(item->first), item->second.begin),
                 fmt::format("offset {}, without {} the tensor before it", position,
                             item->second.begin < position ? "overlapping" : "a hole after"));
        }
        position = item->second.end;
    }
    if (position != data_size) {
        fail(fmt::format("{} bytes after the last tensor", data_size - position), "none");
    }
}

}  // namespace

std::optional<std::uint64_t> byte_count(Dtype dtype, const std::vector<std::size_t>& shape) {
    // Zeros are left out of the product so that [2^40, 2^40, 0] is refused in any order.
    std::uint64_t product = size_of(dtype);
    bool empty = false;
    for (const std::size_t extent : shape) {
        if (extent == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(product, extent, &product)) {
            return std::nullopt;
        }
    }
    return empty ? 0 : product;
}

Header parse_header(std::string_view text, std::string_view what, std::uint64_t data_size) {
    HeaderReader reader(text, fmt::format("the header of {}", what));
    reader.read();
    Header header = reader.take();
    check_layout(header, what, data_size);
    return header;
}

}  // namespace flyball
