// Scalars over steps as an event file, which TensorBoard opens.
//
//     file    = record*
//     record  = length (8 bytes) | masked CRC of those 8 | data | masked CRC of the data        all little-endian
//     data    = an Event of TensorFlow's event.proto in protocol-buffer encoding; the first says "brain.Event:2"
//     masked  = (crc >> 15 | crc << 17) + 0xa282ead8,      crc = CRC-32C (Castagnoli; RFC 3720, appendix B.4)
//
// Source: TensorFlow's lib/io/record_writer.h and util/event.proto; the test holds the bytes that TensorBoard's own
// writer makes. TensorBoard looks at files whose name contains "tfevents".
//
// A copy for a reader of pictures, not a record: values become 32-bit floats, and the file starts anew whenever it is
// opened. Whoever resumes a run writes it again from the lines that are the record (json_lines.hpp). A kill can tear
// the last event alone, which TensorBoard passes over.
//
// Not here: histograms, images, reading. Rejected: protobuf as a library, a compiler and a dependency for six fields;
// Debian 12 has no C or C++ library of CRC-32C alone, and Boost's (boost/crc.hpp) would bring Boost for ten lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "record/growing_file.hpp"

namespace flyball::record {

// Of the polynomial 0x1EDC6F41, reflected, starting from and inverted by all ones.
std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

// Seconds since 1970, as events have them.
double wall_clock();

class EventFile {
  public:
    // Makes the file, or empties the one that is there, and writes its first event.
    explicit EventFile(std::filesystem::path path, double wall_time = wall_clock());

    // One write to the system. When it throws (a full disk) the file is as it was before. NaN and infinity are values.
    void scalar(std::string_view tag, std::int64_t step, double value, double wall_time = wall_clock());

    // To the disk; a kill of the process alone loses nothing that scalar() has written.
    void flush() const { file_.flush(); }

  private:
    void append(std::string_view event);

    GrowingFile file_;
};

}  // namespace flyball::record
