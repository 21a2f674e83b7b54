// Trajectories on disk. While a run goes on, every sample is a file of its own, written atomically, so that a kill
// loses nothing; at the end they become one HDF5 file in the H5MD layout:
//
//     /h5md                                  version, author, creator
//     /particles/tokens/position/value       [samples, systems*tokens, dim]: the stream x
//     /particles/tokens/position/step, time  [samples]
//     /particles/tokens/box                  dimension; boundary none
//     /parameters                            scheme, equation, tokens, systems, beta, seed
#pragma once

#include <filesystem>
#include <vector>

#include "dynamics/settings.hpp"
#include "record/sealed.hpp"

namespace flyball::dynamics {

struct TrajectorySample {
    double t = 0;
    std::vector<double> x;      // [systems*tokens, dim]
    std::vector<double> theta;  // the readout's directions
};

class TrajectoryParts {
  public:
    // Files folder/PREFIX-00000.safetensors and on, sealed as parts of this run.
    TrajectoryParts(std::filesystem::path folder, std::string prefix, record::Identity run)
        : folder_(std::move(folder)), prefix_(std::move(prefix)), run_(std::move(run)) {}

    void save(std::size_t index, const TrajectorySample& sample) const;
    TrajectorySample load(std::size_t index) const;
    bool has(std::size_t index) const;

  private:
    std::filesystem::path path(std::size_t index) const;
    record::Seal seal(std::size_t index) const;
    std::filesystem::path folder_;
    std::string prefix_;
    record::Identity run_;
};

// One H5MD file from parts 0..count-1, written beside and renamed.
void write_h5md(const std::filesystem::path& path, const TrajectoryParts& parts, std::size_t count,
                const Settings& settings, const std::string& scheme, const std::string& equation);

}  // namespace flyball::dynamics
