// An HDF5 file read back with the HDF5 library itself.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

namespace flyball::test {

class Hdf5File {
  public:
    explicit Hdf5File(const std::filesystem::path& path) : id_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
        EXPECT_GE(id_, 0) << path << " is not an HDF5 file";
    }
    ~Hdf5File() { H5Fclose(id_); }
    Hdf5File(const Hdf5File&) = delete;
    Hdf5File& operator=(const Hdf5File&) = delete;

    std::vector<hsize_t> shape(const char* path) const {
        const hid_t data = H5Dopen2(id_, path, H5P_DEFAULT);
        const hid_t space = H5Dget_space(data);
        std::vector<hsize_t> sizes(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
        H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
        H5Sclose(space);
        H5Dclose(data);
        return sizes;
    }

    std::vector<double> numbers(const char* path) const {
        hsize_t count = 1;
        for (const hsize_t size : shape(path)) {
            count *= size;
        }
        std::vector<double> values(count);
        const hid_t data = H5Dopen2(id_, path, H5P_DEFAULT);
        EXPECT_GE(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << path;
        H5Dclose(data);
        return values;
    }

    std::string text(const char* object, const char* name) const {
        const hid_t attribute = H5Aopen_by_name(id_, object, name, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(attribute, 0) << object << " " << name;
        const hid_t type = H5Aget_type(attribute);
        std::string value(H5Tget_size(type), '\0');
        EXPECT_GE(H5Aread(attribute, type, value.data()), 0) << object << " " << name;
        H5Tclose(type);
        H5Aclose(attribute);
        return value.c_str();  // without the closing zero
    }

    std::vector<long long> integers(const char* object, const char* name) const {
        const hid_t attribute = H5Aopen_by_name(id_, object, name, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(attribute, 0) << object << " " << name;
        const hid_t space = H5Aget_space(attribute);
        std::vector<long long> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        EXPECT_GE(H5Aread(attribute, H5T_NATIVE_LLONG, values.data()), 0) << object << " " << name;
        H5Sclose(space);
        H5Aclose(attribute);
        return values;
    }

  private:
    hid_t id_;
};

}  // namespace flyball::test
