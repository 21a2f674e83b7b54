// An HDF5 file that is either the old one or the complete new one, whatever the disk does.
//
// HDF5's own driver is not made for a disk that fails: when a flush fails it keeps the file open, tries again from its
// exit handler, and ends in a segmentation fault. So HDF5 writes through a driver of ours into an AtomicFile. A failure
// is kept, HDF5 is told that all is well and lets go of everything it holds, and commit() throws what was kept.
// Memory: what HDF5 needs for its own tables, not the size of the file.
#pragma once

#include <hdf5.h>

#include <exception>
#include <filesystem>
#include <memory>

#include "core/file.hpp"

namespace flyball::dynamics {

// HDF5's handles, closed in the reverse order of opening.
class H5Handle {
  public:
    H5Handle(hid_t id, herr_t (*close)(hid_t), const char* what);
    ~H5Handle();
    H5Handle(H5Handle&& other) noexcept;
    H5Handle(const H5Handle&) = delete;
    H5Handle& operator=(const H5Handle&) = delete;
    operator hid_t() const { return id_; }  // NOLINT: a handle is its id

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

// Error(io) when HDF5 says that something did not work.
void h5_require(herr_t status, const char* what);

// Not for two threads at a time, as HDF5 itself.
class H5File {
  public:
    explicit H5File(const std::filesystem::path& path);
    ~H5File();
    H5File(const H5File&) = delete;
    H5File& operator=(const H5File&) = delete;

    operator hid_t() const { return *file_; }  // NOLINT: as H5Handle

    // All handles into the file must be closed. The file takes its place, or what went wrong first is thrown.
    void commit();

    // What our driver writes to.
    struct Target {
        explicit Target(const std::filesystem::path& path) : file(path) {}
        AtomicFile file;
        std::exception_ptr failure;  // the first; after it nothing reaches the disk
    };

  private:
    Target target_;
    std::unique_ptr<H5Handle> file_;
};

}  // namespace flyball::dynamics
