// What `flyball simulate` shows: JSON, the terminal, and a folder of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/folder.hpp"
#include "core/json.hpp"
#include "dynamics/run.hpp"
#include "dynamics/trajectory.hpp"
#include "report/figure.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::cli {

struct Simulated {
    scheme::Scheme scheme;
    dynamics::Record record;
    std::vector<report::SphereFigure::Frame> frames;  // the first system, when dim = 3
};

Json simulate_json(const std::vector<Simulated>& runs);

// --out DIR. A folder that is not empty is refused before the work, not after it, unless it is to be overwritten or
// taken up.
//
//     config.toml provenance.json result.json samples.csv samples.safetensors, figures, trajectories
//     work/         restart points and samples while runs go on; removed at the end
class SimulateFolder {
  public:
    SimulateFolder(std::filesystem::path path, FolderUse use, bool trajectory, const dynamics::Settings& settings,
                   const std::vector<scheme::Scheme>& schemes);

    const std::filesystem::path& path() const { return path_; }
    const std::vector<std::string>& files() const { return files_; }

    // Run number i: where its restart point is, and its samples as far as figures and trajectories need them.
    std::filesystem::path restart_file(std::size_t i) const;
    void keep_sample(std::size_t i, std::size_t index, const dynamics::Sample& sample,
                     const dynamics::Particles& particles);

    void write(std::vector<Simulated>& runs);
    // The command that takes the run up.
    std::string resume_command() const;

  private:
    void write_figures(const std::vector<Simulated>& runs);
    void load_frames(std::size_t i, Simulated& run) const;
    dynamics::TrajectoryParts parts(std::size_t i) const;

    std::filesystem::path path_;
    bool trajectory_;
    dynamics::Settings settings_;
    std::vector<scheme::Scheme> schemes_;
    std::vector<std::size_t> frame_samples_;  // what the picture of the sphere shows; empty unless dim = 3
    std::vector<std::string> files_;
};

// A table of the ends and a plot of the cosine.
std::string simulate_text(const dynamics::Settings& settings, const std::vector<Simulated>& runs,
                          const SimulateFolder* folder);

// The settings in one line, for captions.
std::string describe(const dynamics::Settings& settings);

}  // namespace flyball::cli
