// Names and numbers below are those of the "HDF5 File Format Specification", version 2.0 and 3.0.
#include "dynamics/h5md_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace flyball::dynamics {

namespace {

using Bytes = std::span<const std::byte>;

// Messages of object headers.
constexpr unsigned dataspace_message = 0x01, datatype_message = 0x03, external_message = 0x07, layout_message = 0x08,
                   attribute_message = 0x0c, continuation_message = 0x10, symbol_table_message = 0x11;
constexpr std::size_t most_nodes = 4096;    // and names, of all groups together: those of ours have a handful
constexpr std::uint64_t longest_name = 64;  // that we look for, and longer
constexpr std::size_t most_rank = 8;        // of a data set; ours have three
constexpr std::size_t most_messages = 512;  // of an object header

struct Message {
    unsigned type = 0;
    bool shared = false;
    Bytes data;
};

struct Datatype {
    bool floating = false;
    std::size_t size = 0;
};

class H5mdFile {
  public:
    H5mdFile(Bytes contents, const std::string& path) : contents_(contents), path_(path) {}

    [[noreturn]] void fail(std::string_view got, std::string_view expected, std::string_view hint = {}) const {
        throw Error(ErrorKind::input, "dynamics.start_file", fmt::format("{} in {}", got, flyball::quoted(path_)),
                    expected, hint);
    }
    [[noreturn]] void damaged(std::string_view what) const {
        fail(fmt::format("a damaged {}", what), "a whole HDF5 file, as a run with a trajectory leaves it");
    }

    // `size` bytes from an address of the file; inside a part of it, from a place in that part.
    Bytes at(std::uint64_t address, std::uint64_t size, const char* what) const {
        return part(contents_, address, size, what);
    }
    Bytes part(Bytes of, std::uint64_t begin, std::uint64_t size, const char* what) const {
        if (begin > of.size() || size > of.size() - begin) {
            damaged(what);
        }
        return of.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size));
    }
    std::uint64_t number(Bytes of, std::uint64_t begin, std::size_t size, const char* what) const {
        const Bytes bytes = part(of, begin, size, what);
        std::uint64_t value = 0;
        for (std::size_t i = size; i-- > 0;) {
            value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
        }
        return value;
    }
    void expect_signature(Bytes of, std::string_view signature, const char* what) const {
        if (of.size() < signature.size() || std::memcmp(of.data(), signature.data(), signature.size()) != 0) {
            damaged(what);
        }
    }

    // The address of the root group's object header.
    std::uint64_t root() const {
        constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
        if (contents_.size() < 96 || std::memcmp(contents_.data(), signature.data(), signature.size()) != 0) {
            fail("no HDF5 file", "a trajectory in HDF5, as a run with a trajectory leaves it");
        }
        const std::uint64_t version = number(contents_, 8, 1, "superblock");
        if (version > 1) {
            newer(fmt::format("a superblock of version {}", version));
        }
        const std::uint64_t more = version == 1 ? 4 : 0;
        if (number(contents_, 13, 1, "superblock") != 8 || number(contents_, 14, 1, "superblock") != 8 ||
            number(contents_, 24 + more, 8, "superblock") != 0) {
            newer("addresses of another size, or a user block");
        }
        return number(contents_, 64 + more, 8, "superblock");
    }

    [[noreturn]] void newer(std::string_view what) const {
        fail(what, "an HDF5 file of the kind that HDF5 writes unless asked for a newer one",
             "write the rows as safetensors or CSV");
    }

    std::vector<Message> messages(std::uint64_t header) const {
        const Bytes head = at(header, 16, "object header");
        if (number(head, 0, 1, "object header") != 1) {
            newer("an object header of another version");
        }
        const std::uint64_t count = number(head, 2, 2, "object header");
        std::vector<Bytes> blocks = {at(header + 16, number(head, 8, 4, "object header"), "object header")};
        std::vector<Message> found;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            std::uint64_t place = 0;
            while (place + 8 <= blocks[b].size() && found.size() < count) {
                const std::uint64_t size = number(blocks[b], place + 2, 2, "object header");
                const std::uint64_t flags = number(blocks[b], place + 4, 1, "object header");
                found.push_back({static_cast<unsigned>(number(blocks[b], place, 2, "object header")), (flags & 2U) != 0,
                                 part(blocks[b], place + 8, size, "object header")});
                if (found.size() > most_messages) {
                    damaged("object header");
                }
                if (found.back().type == continuation_message) {
                    const Bytes data = found.back().data;
                    blocks.push_back(
                        at(number(data, 0, 8, "object header"), number(data, 8, 8, "object header"), "object header"));
                }
                place += 8 + size;
            }
        }
        return found;
    }

    std::optional<Message> message(const std::vector<Message>& all, unsigned type) const {
        const auto found =
            std::find_if(all.begin(), all.end(), [type](const Message& message) { return message.type == type; });
        if (found == all.end()) {
            return std::nullopt;
        }
        if (found->shared) {
            newer("a message that several objects share");
        }
        return *found;
    }

    // Names in a group and the addresses of their object headers.
    using Visit = std::function<void(std::string_view name, std::uint64_t header)>;
    void walk_group(std::uint64_t header, const Visit& visit) {
        const auto table = message(messages(header), symbol_table_message);
        if (!table) {
            newer("a group without a symbol table");
        }
        const std::uint64_t heap = number(table->data, 8, 8, "group");
        const Bytes heap_head = at(heap, 32, "local heap");
        expect_signature(heap_head, "HEAP", "local heap");
        const Bytes names =
            at(number(heap_head, 24, 8, "local heap"), number(heap_head, 8, 8, "local heap"), "local heap");
        walk_tree(number(table->data, 0, 8, "group"), std::nullopt, names, visit);
    }

    std::optional<std::uint64_t> child(std::uint64_t group, std::string_view wanted) {
        std::optional<std::uint64_t> found;
        walk_group(group, [&](std::string_view name, std::uint64_t header) {
            if (name == wanted) {
                found = header;
            }
        });
        return found;
    }

    std::vector<std::uint64_t> dimensions(Bytes data) const {
        const std::uint64_t version = number(data, 0, 1, "data space");
        const std::uint64_t rank = number(data, 1, 1, "data space");
        if (version < 1 || version > 2 || rank > most_rank) {
            damaged("data space");
        }
        std::vector<std::uint64_t> sizes;
        for (std::uint64_t i = 0; i < rank; ++i) {
            sizes.push_back(number(data, (version == 1 ? 8 : 4) + 8 * i, 8, "data space"));
        }
        return sizes;
    }

    // Little-endian whole numbers and IEEE numbers; nothing for others.
    std::optional<Datatype> datatype(Bytes data) const {
        const std::uint64_t kind = number(data, 0, 1, "data type") & 15U;
        const std::uint64_t bits = number(data, 1, 1, "data type");
        const std::size_t size = static_cast<std::size_t>(number(data, 4, 4, "data type"));
        if ((bits & 1U) != 0 || (size != 4 && size != 8) || kind > 1) {
            return std::nullopt;
        }
        if (kind == 1) {
            // Bit offset, precision; places and sizes of exponent and mantissa; bias of the exponent.
            const bool wide = size == 8;
            const bool ieee = (bits & 0x40U) == 0 && number(data, 8, 2, "data type") == 0 &&
                              number(data, 10, 2, "data type") == size * 8 &&
                              number(data, 12, 1, "data type") == (wide ? 52U : 23U) &&
                              number(data, 13, 1, "data type") == (wide ? 11U : 8U) &&
                              number(data, 14, 1, "data type") == 0 &&
                              number(data, 15, 1, "data type") == (wide ? 52U : 23U) &&
                              number(data, 16, 4, "data type") == (wide ? 1023U : 127U);
            return ieee ? std::optional(Datatype{true, size}) : std::nullopt;
        }
        return Datatype{false, size};
    }

    // A whole number among the attributes of an object.
    std::optional<std::uint64_t> attribute(const std::vector<Message>& all, std::string_view wanted) const {
        for (const Message& message : all) {
            if (message.type != attribute_message || message.shared) {
                continue;
            }
            const Bytes data = message.data;
            const std::uint64_t version = number(data, 0, 1, "attribute");
            if (version < 1 || version > 3) {
                damaged("attribute");
            }
            // Name, type and space follow each other; in version 1 each fills a multiple of eight bytes.
            const auto room = [version](std::uint64_t size) { return version == 1 ? (size + 7) / 8 * 8 : size; };
            const std::uint64_t name_size = number(data, 2, 2, "attribute");
            const std::uint64_t type_size = number(data, 4, 2, "attribute");
            const std::uint64_t space_size = number(data, 6, 2, "attribute");
            const std::uint64_t name_begin = version == 3 ? 9 : 8;
            const std::uint64_t type_begin = name_begin + room(name_size);
            const std::uint64_t space_begin = type_begin + room(type_size);
            const Bytes name = part(data, name_begin, name_size, "attribute");
            if (text_of(name) != wanted) {
                continue;
            }
            const auto type = datatype(part(data, type_begin, type_size, "attribute"));
            std::uint64_t count = 1;
            for (const std::uint64_t size : dimensions(part(data, space_begin, space_size, "attribute"))) {
                count = size == 1 ? count : 0;
            }
            if (!type || type->floating || count != 1) {
                fail(fmt::format("an attribute {} that is not a whole number", wanted), "a number of them");
            }
            return number(data, space_begin + room(space_size), type->size, "attribute");
        }
        return std::nullopt;
    }

  private:
    // Up to the first zero.
    static std::string_view text_of(Bytes bytes) {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return text.substr(0, text.find('\0'));
    }

    // Levels fall by one from a node to its children, so that no walk goes round in circles.
    void walk_tree(std::uint64_t address, std::optional<std::uint64_t> level, Bytes names, const Visit& visit) {
        count_nodes(1);
        const Bytes head = at(address, 24, "B-tree");
        expect_signature(head, "TREE", "B-tree");
        const std::uint64_t depth = number(head, 5, 1, "B-tree");
        const std::uint64_t children = number(head, 6, 2, "B-tree");
        if (number(head, 4, 1, "B-tree") != 0 || (level && depth != *level)) {
            damaged("B-tree");
        }
        const Bytes body = at(address + 24, 8 + 16 * children, "B-tree");  // keys and children in turn
        for (std::uint64_t i = 0; i < children; ++i) {
            const std::uint64_t below = number(body, 8 + 16 * i, 8, "B-tree");
            if (depth > 0) {
                walk_tree(below, depth - 1, names, visit);
            } else {
                walk_leaf(below, names, visit);
            }
        }
    }

    void walk_leaf(std::uint64_t address, Bytes names, const Visit& visit) {
        const Bytes head = at(address, 8, "symbol table");
        expect_signature(head, "SNOD", "symbol table");
        const std::uint64_t count = number(head, 6, 2, "symbol table");
        const Bytes entries = at(address + 8, 40 * count, "symbol table");
        count_nodes(1 + count);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t name = number(entries, 40 * i, 8, "symbol table");
            const std::uint64_t left = names.size() - std::min<std::uint64_t>(name, names.size());
            visit(text_of(part(names, name, std::min(left, longest_name), "local heap")),
                  number(entries, 40 * i + 8, 8, "symbol table"));
        }
    }

    void count_nodes(std::uint64_t more) {
        nodes_ += more;
        if (nodes_ > most_nodes) {
            fail("groups of more names than a trajectory has", "a trajectory in the H5MD layout");
        }
    }

    Bytes contents_;
    const std::string& path_;
    std::uint64_t nodes_ = 0;
};

// The group of particles: called tokens, or the only one.
std::uint64_t particles_group(H5mdFile& file, std::uint64_t particles) {
    std::optional<std::uint64_t> tokens;
    std::optional<std::uint64_t> first;
    std::size_t groups = 0;
    file.walk_group(particles, [&](std::string_view name, std::uint64_t header) {
        tokens = name == "tokens" ? std::optional(header) : tokens;
        first = first.value_or(header);
        ++groups;
    });
    if (!tokens && groups != 1) {
        file.fail(fmt::format("{} groups in /particles, none of which is called tokens", groups),
                  "one group, or tokens");
    }
    return tokens ? *tokens : *first;
}

void read_values(const H5mdFile& file, std::uint64_t header, H5mdPositions& found) {
    const std::vector<Message> all = file.messages(header);
    const auto space = file.message(all, dataspace_message);
    const auto type = file.message(all, datatype_message);
    const auto layout = file.message(all, layout_message);
    if (!space || !type || !layout) {
        file.damaged("data set of positions");
    }
    const std::vector<std::uint64_t> sizes = file.dimensions(space->data);
    const bool empty = std::find(sizes.begin(), sizes.end(), 0U) != sizes.end();
    if (sizes.size() != 3 || empty) {
        file.fail(fmt::format("positions of shape [{}]", fmt::join(sizes, ", ")), "[samples, tokens, dimensions]");
    }
    const auto numbers = file.datatype(type->data);
    if (!numbers || !numbers->floating) {
        file.fail("positions that are no floating-point numbers of 4 or 8 bytes, little-endian", "such numbers");
    }
    const std::uint64_t version = file.number(layout->data, 0, 1, "data layout");
    const std::uint64_t kind = file.number(layout->data, 1, 1, "data layout");
    if (version < 3 || version > 4 || kind != 1 || file.message(all, external_message)) {
        file.fail("positions that are not stored in one piece", "a contiguous data set",
                  "rewrite it with h5repack -l CONTI");
    }
    std::uint64_t bytes = numbers->size;
    for (const std::uint64_t size : sizes) {
        if (__builtin_mul_overflow(bytes, size, &bytes)) {
            file.damaged("data set of positions");
        }
    }
    found.samples = static_cast<std::size_t>(sizes[0]);
    found.rows = static_cast<std::size_t>(sizes[1]);
    found.dim = static_cast<std::size_t>(sizes[2]);
    found.number_size = numbers->size;
    found.values = file.at(file.number(layout->data, 2, 8, "data layout"), bytes, "data set of positions");
}

}  // namespace

H5mdPositions read_h5md(std::span<const std::byte> contents, const std::string& path) {
    H5mdFile file(contents, path);
    const std::uint64_t root = file.root();
    const auto particles = file.child(root, "particles");
    if (!particles) {
        file.fail("no group /particles", "a trajectory in the H5MD layout");
    }
    const auto position = file.child(particles_group(file, *particles), "position");
    const auto value = position ? file.child(*position, "value") : std::nullopt;
    if (!value) {
        file.fail("particles without position/value", "a trajectory in the H5MD layout");
    }
    H5mdPositions found;
    read_values(file, *value, found);
    if (const auto parameters = file.child(root, "parameters")) {
        const std::uint64_t systems = file.attribute(file.messages(*parameters), "systems").value_or(1);
        if (systems == 0 || found.rows % systems != 0) {
            file.fail(fmt::format("{} rows for {} systems", found.rows, systems), "as many rows for each of them");
        }
        found.systems = static_cast<std::size_t>(systems);
    }
    return found;
}

}  // namespace flyball::dynamics
