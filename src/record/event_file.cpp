#include "record/event_file.hpp"

#include <array>
#include <bit>
#include <chrono>

namespace flyball::record {

namespace {

constexpr std::string_view where = "record.event_file";
constexpr std::string_view expected = "a file that events can be added to";

constexpr std::array<std::uint32_t, 256> make_table() {
    constexpr std::uint32_t polynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits reversed
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t rest = i;
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest >> 1U) ^ ((rest & 1U) != 0 ? polynomial : 0U);
        }
        table[i] = rest;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

std::uint32_t masked_crc(std::string_view text) {
    return std::rotr(crc32c(std::as_bytes(std::span(text))), 15) + 0xa282ead8U;
}

// Protocol buffers: a field is its number and wire type in one varint, then its content. Fields that are 0 are left
// out, as every writer of proto3 does, except inside a oneof (simple_value).
enum class Wire : unsigned char { varint = 0, eight_bytes = 1, text = 2, four_bytes = 5 };

void put_varint(std::string& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
        to.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
    }
    to.push_back(static_cast<char>(value));
}

void put_key(std::string& to, unsigned field, Wire wire) {
    put_varint(to, (std::uint64_t{field} << 3U) | static_cast<unsigned>(wire));
}

template <class Unsigned>
void put_little_endian(std::string& to, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
        to.push_back(static_cast<char>((value >> (8 * i)) & 0xFFU));
    }
}

void put_text(std::string& to, unsigned field, std::string_view text) {
    put_key(to, field, Wire::text);
    put_varint(to, text.size());
    to.append(text);
}

// Event: 1 wall_time, 2 step, 3 file_version, 5 summary. Summary: 1 value, of which 1 tag, 2 simple_value.
std::string event_at(double wall_time, std::int64_t step) {
    std::string event;
    if (std::bit_cast<std::uint64_t>(wall_time) != 0) {
        put_key(event, 1, Wire::eight_bytes);
        put_little_endian(event, std::bit_cast<std::uint64_t>(wall_time));
    }
    if (step != 0) {
        put_key(event, 2, Wire::varint);
        put_varint(event, static_cast<std::uint64_t>(step));
    }
    return event;
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const std::byte byte : bytes) {
        crc = (crc >> 8U) ^ table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
    }
    return crc ^ 0xFFFFFFFFU;
}

double wall_clock() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

EventFile::EventFile(std::filesystem::path path, double wall_time)
    : file_(std::move(path), GrowingFile::Found::emptied, GrowingFile::Reach::system, where, expected) {
    std::string first = event_at(wall_time, 0);
    put_text(first, 3, "brain.Event:2");
    append(first);
}

void EventFile::scalar(std::string_view tag, std::int64_t step, double value, double wall_time) {
    std::string one;
    put_text(one, 1, tag);
    put_key(one, 2, Wire::four_bytes);
    put_little_endian(one, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    std::string summary;
    put_text(summary, 1, one);
    std::string event = event_at(wall_time, step);
    put_text(event, 5, summary);
    append(event);
}

void EventFile::append(std::string_view event) {
    std::string record;
    put_little_endian(record, static_cast<std::uint64_t>(event.size()));
    put_little_endian(record, masked_crc(record));
    record.append(event);
    put_little_endian(record, masked_crc(event));
    file_.append(record);
}

}  // namespace flyball::record
