// A file that grows at its end by whole pieces: a piece is written as a whole or not at all.
//
// When a write fails (a full disk) what was written of it is cut off again. Where even that fails, the half piece
// stays, and the next append() cuts it off or throws: nothing is ever written behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace flyball::record {

class GrowingFile {
  public:
    enum class Found { kept, emptied };  // what becomes of a file that is there
    // How far a piece is when append() returns: with the system, which is enough for a kill of the process, or on the
    // disk, which is enough for a power failure and costs an fsync.
    enum class Reach { system, disk };

    // `where` and `expected` are for messages, and must live as long as the file: literals.
    GrowingFile(std::filesystem::path path, Found found, Reach reach, std::string_view where,
                std::string_view expected);
    ~GrowingFile();
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    int descriptor() const { return descriptor_; }
    std::uint64_t size() const { return size_; }  // of whole pieces

    void append(std::string_view piece);
    // Afterwards it has `size` bytes, no more than it had; settle() says so to the disk.
    void cut(std::uint64_t size);
    void settle() const;  // as far as its reach
    // To the disk, whatever its reach.
    void flush() const;

  private:
    void truncate(std::uint64_t size) const;
    [[noreturn]] void fail(int error) const;

    std::filesystem::path path_;
    Reach reach_;
    std::string_view where_;
    std::string_view expected_;
    std::uint64_t size_ = 0;
    bool is_torn_ = false;  // a part of a piece behind size_, that could not be cut off
    int descriptor_ = -1;
};

}  // namespace flyball::record
