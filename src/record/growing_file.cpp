#include "record/growing_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.hpp"
#include "core/file.hpp"

namespace flyball::record {

GrowingFile::GrowingFile(std::filesystem::path path, Found found, Reach reach, std::string_view where,
                         std::string_view expected)
    : path_(std::move(path)), reach_(reach), where_(where), expected_(expected) {
    struct stat status {};
    if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        throw Error(ErrorKind::io, where_, fmt::format("{}, which is no regular file", flyball::quoted(path_.string())),
                    expected_);
    }
    descriptor_ =
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (found == Found::emptied ? O_TRUNC : 0), 0666);
    if (descriptor_ < 0) {
        fail(errno);
    }
    if (::fstat(descriptor_, &status) != 0) {
        const int error = errno;
        ::close(descriptor_);
        fail(error);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (reach_ == Reach::disk) {  // that there is such a file must reach the disk as well; not every system can do it
        const std::filesystem::path folder = path_.parent_path();
        const int entry = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (entry >= 0) {
            static_cast<void>(::fsync(entry));
            ::close(entry);
        }
    }
}

GrowingFile::~GrowingFile() {
    ::close(descriptor_);
}

// size_ counts whole pieces. What a failed write left behind it is cut off at once or, where that fails too, before the
// next piece.
void GrowingFile::append(std::string_view piece) {
    if (is_torn_) {
        truncate(size_);
        is_torn_ = false;
    }
    try {
        write_all(descriptor_, std::as_bytes(std::span(piece)), path_);
        settle();
    } catch (...) {
        is_torn_ = ::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0;
        throw;
    }
    size_ += piece.size();
}

void GrowingFile::cut(std::uint64_t size) {
    truncate(size);
    size_ = size;
    is_torn_ = false;
}

void GrowingFile::flush() const {
    if (::fdatasync(descriptor_) != 0) {
        fail(errno);
    }
}

void GrowingFile::truncate(std::uint64_t size) const {
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
        fail(errno);
    }
}

void GrowingFile::settle() const {
    if (reach_ == Reach::disk) {
        flush();
    }
}

void GrowingFile::fail(int error) const {
    throw_file_error(where_, path_, error, expected_);
}

}  // namespace flyball::record
