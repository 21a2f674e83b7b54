// Where particles start when a file says so: `--start FILE`.
//
//     .safetensors       the tensor x, or the only one: [tokens, dim] or [systems, tokens, dim], F64, F32, F16 or BF16
//     .h5 .hdf5 .h5md    a trajectory in the H5MD layout, as `--trajectory` writes it: one sample of it
//     (h5md_reader.hpp) .csv               one row of numbers a token, commas between them; a first line of words is a
//     header
//
// Files come from strangers. Promises: only regular files are opened; a file is looked through before anything is
// allocated in its size, and a shape that is none, a number that is not finite or a row of zeros is an Error(input)
// that says where; checksum and numbers are of the same mapping. Lengths of rows are kept.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dynamics/settings.hpp"

namespace flyball::dynamics {

enum class StartFormat { safetensors, h5md, csv };

// By the end of the name; nothing where that is none of the above.
std::optional<StartFormat> start_format(const std::string& path);

struct StartFile {
    std::string path;  // as a user wrote it
    std::size_t systems = 1;
    std::size_t tokens = 0;
    std::size_t dim = 0;
    double mean_length = 1;                     // of all rows: the scale of lengths of the run
    std::string checksum;                       // of the whole file
    std::function<std::vector<double>()> rows;  // [systems*tokens, dim]
};

// `frame`: of a trajectory the sample to start from, counted from 0; the last unless given. `most_bytes`: rows that
// need more memory are an Error(resource) before the file is looked through.
std::shared_ptr<const StartFile> open_start_file(const std::string& path, std::optional<std::size_t> frame,
                                                 double most_bytes = std::numeric_limits<double>::infinity());

// What was not said follows from the file; a length r0 beside it is an Error(usage).
struct StartSaid {
    bool tokens = false;
    bool dim = false;
    bool systems = false;
    bool r0 = false;
};
void use_start_file(std::shared_ptr<const StartFile> file, const StartSaid& said, Settings& settings);

// Error(usage) where settings say something else than the file.
void check_start_file(const Settings& settings);

}  // namespace flyball::dynamics
