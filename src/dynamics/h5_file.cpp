#include "dynamics/h5_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "core/error.hpp"

namespace flyball::dynamics {

namespace {

// What HDF5 keeps of an open file: its own part first, then ours.
struct OpenFile {
    H5FD_t base;
    H5File::Target* target;
    haddr_t allocated;  // end of the addresses HDF5 has given out
    haddr_t written;    // end of what was written
};

OpenFile* ours(H5FD_t* file) {
    return reinterpret_cast<OpenFile*>(file);
}

const OpenFile* ours(const H5FD_t* file) {
    return reinterpret_cast<const OpenFile*>(file);
}

// C code calls these: no exception may leave them, and none of them fails.
template <class Action>
void keep_failure(H5File::Target& target, Action action) {
    if (target.failure) {
        return;
    }
    try {
        action();
    } catch (...) {
        target.failure = std::current_exception();
    }
}

// `info` of the property list is a pointer to the target.
H5FD_t* open_file(const char* /*name*/, unsigned /*flags*/, hid_t properties, haddr_t /*most*/) {
    const void* const info = H5Pget_driver_info(properties);
    auto* const file = info == nullptr ? nullptr : new (std::nothrow) OpenFile{};
    if (file != nullptr) {
        file->target = *static_cast<H5File::Target* const*>(info);
    }
    return reinterpret_cast<H5FD_t*>(file);
}

herr_t close_file(H5FD_t* file) {
    delete ours(file);
    return 0;
}

herr_t query(const H5FD_t* /*file*/, unsigned long* features) {
    *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
                H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

haddr_t allocated_end(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return ours(file)->allocated;
}

herr_t set_allocated_end(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
    ours(file)->allocated = end;
    return 0;
}

haddr_t written_end(const H5FD_t* file, H5FD_mem_t /*type*/) {
    return ours(file)->written;
}

herr_t read(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t offset, std::size_t size, void* bytes) {
    const std::span<std::byte> wanted(static_cast<std::byte*>(bytes), size);
    std::fill(wanted.begin(), wanted.end(), std::byte{0});
    H5File::Target& target = *ours(file)->target;
    keep_failure(target, [&] { target.file.read_at(offset, wanted); });
    return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*properties*/, haddr_t offset, std::size_t size,
             const void* bytes) {
    H5File::Target& target = *ours(file)->target;
    keep_failure(target, [&] { target.file.write_at(offset, {static_cast<const std::byte*>(bytes), size}); });
    ours(file)->written = std::max(ours(file)->written, offset + size);
    return 0;
}

// A file ends where HDF5's addresses end, also when nothing was written to the last of them.
herr_t truncate(H5FD_t* file, hid_t /*properties*/, hbool_t /*closing*/) {
    OpenFile& open = *ours(file);
    if (open.written < open.allocated) {
        constexpr std::array<std::byte, 1> zero{};
        keep_failure(*open.target, [&] { open.target->file.write_at(open.allocated - 1, zero); });
        open.written = open.allocated;
    }
    return 0;
}

// The methods that HDF5 calls for a file of ours; those that are not set have defaults.
hid_t driver() {
    // Registered anew each time and released with the file: nothing of ours is left for HDF5's exit handler.
    static const H5FD_class_t description = [] {
        H5FD_class_t d{};  // by name: later versions of HDF5 have more fields
        d.name = "flyball";
        d.maxaddr = std::numeric_limits<std::int64_t>::max();
        d.fc_degree = H5F_CLOSE_STRONG;
        d.fapl_size = sizeof(H5File::Target*);
        d.open = open_file;
        d.close = close_file;
        d.query = query;
        d.get_eoa = allocated_end;
        d.set_eoa = set_allocated_end;
        d.get_eof = written_end;
        d.read = read;
        d.write = write;
        d.truncate = truncate;
        constexpr H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
        std::copy(std::begin(map), std::end(map), d.fl_map);
        return d;
    }();
    return H5FDregister(&description);
}

}  // namespace

void h5_require(herr_t status, const char* what) {
    if (status < 0) {
        throw Error(ErrorKind::io, "dynamics.write_h5md", fmt::format("an HDF5 failure while writing {}", what),
                    "memory and a disk with room for the trajectory");
    }
}

H5Handle::H5Handle(hid_t id, herr_t (*close)(hid_t), const char* what) : id_(id), close_(close) {
    h5_require(id < 0 ? -1 : 0, what);
}

H5Handle::~H5Handle() {
    if (id_ >= 0) {
        close_(id_);
    }
}

H5Handle::H5Handle(H5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}

H5File::H5File(const std::filesystem::path& path) : target_(path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library does not print
    const H5Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "the file");
    const H5Handle ours(driver(), H5FDunregister, "the file");
    const Target* const target = &target_;
    h5_require(H5Pset_driver(properties, ours, &target), "the file");
    file_ = std::make_unique<H5Handle>(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, properties), H5Fclose,
                                       "the file");
}

H5File::~H5File() = default;

void H5File::commit() {
    const herr_t flushed = H5Fflush(*file_, H5F_SCOPE_GLOBAL);
    file_.reset();
    if (target_.failure) {
        std::rethrow_exception(target_.failure);
    }
    h5_require(flushed, "the file");
    target_.file.commit();
}

}  // namespace flyball::dynamics
