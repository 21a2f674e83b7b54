#include "dynamics/trajectory.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/parallel.hpp"
#include "core/safetensors.hpp"
#include "core/version.hpp"
#include "dynamics/h5_file.hpp"

namespace flyball::dynamics {

std::filesystem::path TrajectoryParts::path(std::size_t index) const {
    return folder_ / fmt::format("{}-{:05d}.safetensors", prefix_, index);
}

bool TrajectoryParts::has(std::size_t index) const {
    return std::filesystem::exists(path(index));
}

void TrajectoryParts::save(std::size_t index, const TrajectorySample& sample) const {
    std::filesystem::create_directories(folder_);
    const std::vector<TensorToWrite> tensors = {tensor("x", {sample.x.size()}, sample.x),
                                                tensor("theta", {sample.theta.size()}, sample.theta)};
    record::write_sealed(path(index), seal(index), tensors, {{"t", format_double(sample.t)}});
}

record::Seal TrajectoryParts::seal(std::size_t index) const {
    return {fmt::format("{}, sample {}", prefix_, index), run_};
}

TrajectorySample TrajectoryParts::load(std::size_t index) const {
    const SafeTensors file = record::open_sealed(path(index), seal(index));
    const auto t = file.metadata().find("t");
    const auto time = t == file.metadata().end() ? std::nullopt : parse_double(t->second);
    if (!time) {
        throw Error(ErrorKind::input, "dynamics.trajectory",
                    fmt::format("a part without its time in {}", flyball::quoted(path(index).string())),
                    "a part of this run's trajectory");
    }
    return {*time, file.read<double>("x"), file.read<double>("theta")};
}

namespace {

// Without time stamps: the same run gives the same bytes.
H5Handle timeless(hid_t kind) {
    H5Handle properties(H5Pcreate(kind), H5Pclose, "properties");
    h5_require(H5Pset_obj_track_times(properties, false), "properties");
    return properties;
}

H5Handle group(hid_t parent, const char* name) {
    return {H5Gcreate2(parent, name, H5P_DEFAULT, timeless(H5P_GROUP_CREATE), H5P_DEFAULT), H5Gclose, name};
}

void attribute(hid_t object, const char* name, const std::string& text) {
    const H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name);
    h5_require(H5Tset_size(type, text.size() + 1), name);
    const H5Handle space(H5Screate(H5S_SCALAR), H5Sclose, name);
    const H5Handle made(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    h5_require(H5Awrite(made, type, text.c_str()), name);
}

void attribute(hid_t object, const char* name, std::vector<long long> values) {
    const hsize_t size = values.size();
    const H5Handle space(values.size() == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr), H5Sclose,
                         name);
    const H5Handle made(H5Acreate2(object, name, H5T_NATIVE_LLONG, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    h5_require(H5Awrite(made, H5T_NATIVE_LLONG, values.data()), name);
}

template <class Value>
void series(hid_t parent, const char* name, hid_t type, const std::vector<Value>& values) {
    const hsize_t size = values.size();
    const H5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose, name);
    const H5Handle made(H5Dcreate2(parent, name, type, space, H5P_DEFAULT, timeless(H5P_DATASET_CREATE), H5P_DEFAULT),
                        H5Dclose, name);
    h5_require(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
}

void write_positions(hid_t parent, const TrajectoryParts& parts, std::size_t count, const Settings& s) {
    const std::size_t rows = s.systems * s.tokens;
    const hsize_t shape[3] = {count, rows, s.dim};
    const H5Handle space(H5Screate_simple(3, shape, nullptr), H5Sclose, "value");
    const H5Handle made(
        H5Dcreate2(parent, "value", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, timeless(H5P_DATASET_CREATE), H5P_DEFAULT),
        H5Dclose, "value");
    const hsize_t one[3] = {1, rows, s.dim};
    const H5Handle memory(H5Screate_simple(3, one, nullptr), H5Sclose, "value");
    std::vector<long long> steps;
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) {
        check_stop();
        const TrajectorySample sample = parts.load(i);
        if (sample.x.size() != rows * s.dim) {
            throw Error(ErrorKind::input, "dynamics.write_h5md", fmt::format("a part of {} numbers", sample.x.size()),
                        fmt::format("{}", rows * s.dim), "start anew with " + setting("force"));
        }
        const hsize_t begin[3] = {i, 0, 0};
        h5_require(H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, one, nullptr), "value");
        h5_require(H5Dwrite(made, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, sample.x.data()), "value");
        steps.push_back(static_cast<long long>(i));
        times.push_back(sample.t);
    }
    series(parent, "step", H5T_NATIVE_LLONG, steps);
    series(parent, "time", H5T_NATIVE_DOUBLE, times);
}

}  // namespace

void write_h5md(const std::filesystem::path& path, const TrajectoryParts& parts, std::size_t count, const Settings& s,
                const std::string& scheme, const std::string& equation) {
    H5File file(path);
    {
        const H5Handle h5md = group(file, "h5md");
        attribute(h5md, "version", std::vector<long long>{1, 1});
        {
            const H5Handle author = group(h5md, "author");
            attribute(author, "name", "flyball");
            const H5Handle creator = group(h5md, "creator");
            attribute(creator, "name", "flyball");
            attribute(creator, "version", version);
        }
        const H5Handle particles = group(file, "particles");
        const H5Handle tokens = group(particles, "tokens");
        {
            const H5Handle box = group(tokens, "box");
            attribute(box, "dimension", std::vector<long long>{static_cast<long long>(s.dim)});
            attribute(box, "boundary", "none");
            const H5Handle position = group(tokens, "position");
            write_positions(position, parts, count, s);
        }
        const H5Handle parameters = group(file, "parameters");
        attribute(parameters, "scheme", scheme);
        attribute(parameters, "equation", equation);
        attribute(parameters, "tokens", std::vector<long long>{static_cast<long long>(s.tokens)});
        attribute(parameters, "systems", std::vector<long long>{static_cast<long long>(s.systems)});
        attribute(parameters, "beta", format_double(s.beta));
        attribute(parameters, "seed", std::to_string(s.seed));
    }
    file.commit();
}

}  // namespace flyball::dynamics
