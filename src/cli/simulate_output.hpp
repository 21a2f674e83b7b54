// What `flyball simulate` shows: JSON, the terminal, and a folder of files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "dynamics/run.hpp"
#include "dynamics/trajectory.hpp"
#include "record/folder.hpp"
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
//     work/         restart points and samples while runs go on; removed at the end (record/folder.hpp)
class SimulateFolder {
  public:
    SimulateFolder(std::filesystem::path path, record::FolderUse use, bool trajectory,
                   const dynamics::Settings& settings, const std::vector<scheme::Scheme>& schemes);

    const std::filesystem::path& path() const { return folder_.path(); }
    const std::vector<std::string>& files() const { return files_; }

    // Taken up, and nothing was left to do; what it says is in result.json.
    bool finished() const { return folder_.finished(); }
    std::string stored_result() const;

    // Run number i: where its restart point is, and its samples as far as figures and trajectories need them.
    std::filesystem::path restart_file(std::size_t i) const;
    const record::Identity& identity(std::size_t i) const { return identities_[i]; }
    void keep_sample(std::size_t i, std::size_t index, const dynamics::Sample& sample,
                     const dynamics::Particles& particles);

    // Before a run goes on: the first `count` samples it will need at the end are there, whole and its own.
    void check_samples(std::size_t i, std::size_t count) const;

    void write(std::vector<Simulated>& runs);
    // The command that takes the run up.
    std::string resume_command() const;

  private:
    void write_figures(const std::vector<Simulated>& runs);
    void load_frames(std::size_t i, Simulated& run) const;
    dynamics::TrajectoryParts parts(std::size_t i) const;
    bool is_kept(std::size_t index) const;  // as a file: for the trajectory, or as a frame

    bool trajectory_;
    dynamics::Settings settings_;
    std::vector<scheme::Scheme> schemes_;
    std::vector<record::Identity> identities_;  // of each run
    record::Folder folder_;
    std::vector<std::size_t> frame_samples_;  // what the picture of the sphere shows; empty unless dim = 3
    std::vector<std::string> files_;
};

// A table of the ends and a plot of the cosine.
std::string simulate_text(const dynamics::Settings& settings, const std::vector<Simulated>& runs,
                          const SimulateFolder* folder);

// The settings in one line, for captions.
std::string describe(const dynamics::Settings& settings);

}  // namespace flyball::cli
