// The folder of one or several runs from the same start: `simulate --out DIR`.
//
//     config.toml provenance.json result.json samples.csv samples.safetensors frames.safetensors, trajectories;
//     figures by the front end
//     work/         restart points and samples while runs go on; removed at the end (record/folder.hpp)
//
// A run killed at any instant and taken up again ends with the same bits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dynamics/document.hpp"
#include "dynamics/frames.hpp"
#include "dynamics/trajectory.hpp"
#include "record/folder.hpp"

namespace flyball::dynamics {

// At how many times at most pictures show a run when dim is 3 or 2: 16, evenly, or, for a moving picture, 600. Never
// otherwise.
std::size_t picture_times(const Settings& settings, bool all_frames);

class RunFolder {
  public:
    struct Plan {
        Settings settings;
        std::vector<scheme::Scheme> schemes;
        bool trajectory = false;     // all samples of x as HDF5
        std::string resume_command;  // what a user types to take the run up; for messages
        bool all_frames = false;     // for a moving picture
    };

    // A folder that is not empty is refused before the work, not after it, unless its results are to be replaced or
    // the run in it is to be taken up.
    RunFolder(std::filesystem::path path, record::FolderUse use, Plan plan);

    const std::filesystem::path& path() const { return folder_.path(); }
    const std::vector<std::string>& files() const { return files_; }  // what was written
    const std::string& resume_command() const { return plan_.resume_command; }

    // Taken up, and nothing was left to do; what it says is in result.json.
    bool finished() const { return folder_.finished(); }
    std::string stored_result() const;

    // Run number i, or what is left of it: the restart point on disk every few seconds, samples as far as figures and
    // trajectories need them. `watch` may hear of its progress; `sampled` and `restart_point` are ours.
    Record run(std::size_t i, const Control& control, Watch watch) const;

    // What a picture of the sphere or the circle shows of run i when dim is 3 or 2: theta of pictured_tokens of the
    // first system, without x. Empty otherwise.
    std::vector<TrajectorySample> frames(std::size_t i, const Record& record) const;

    // Document, tables, arrays and trajectories of the finished runs; after that figures may be added and named. Here
    // and in finish() a stop signal (parallel.hpp) is looked at: whoever is stopped takes the folder up and writes all
    // of it anew.
    void write(const std::vector<SchemeRun>& runs);
    void add_file(std::string name) { files_.push_back(std::move(name)); }
    // The last act: from now on the folder is a finished run.
    void finish(const std::vector<SchemeRun>& runs);

  private:
    Record run_or_stop(std::size_t i, const Control& control, Watch watch) const;  // throws Stopped before it begins
    std::filesystem::path restart_file(std::size_t i) const;
    std::filesystem::path sample_log(std::size_t i) const;
    TrajectoryParts parts(std::size_t i) const;
    FrameFile frame_file(std::size_t i) const;
    std::size_t frame_count(std::size_t samples) const;  // how many of the first samples are frames
    bool is_kept(std::size_t index) const;               // as a file: for the trajectory, or as a frame
    // Before a run goes on: the first `count` samples it will need at the end are there, whole and its own.
    void check_samples(std::size_t i, std::size_t count) const;

    Plan plan_;
    bool resumes_;
    std::vector<record::Identity> identities_;  // of each run
    record::Folder folder_;
    std::vector<std::size_t> panel_samples_;  // what the picture of the sphere shows; empty unless dim is 2 or 3
    std::vector<std::size_t> frame_samples_;  // what the moving picture shows (frames.hpp)
    std::vector<std::string> files_;
};

}  // namespace flyball::dynamics
