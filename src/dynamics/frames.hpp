// What a moving picture shows of runs from one start: some tokens at some times, as points that an eye can follow.
//
//     frames.safetensors     run.I [frames, shown, 3] F32, time.I [frames] F64, for runs I = 0, 1, ..
//     its metadata           tokens, dim, and share
//
// In two and three dimensions a point is the direction of a token's readout. In more it is that direction as seen along
// the three directions in which the points of all runs reach farthest: the leading eigenvectors of the second moments
// (1/N) sum theta theta' of some tokens and frames, the same for all runs so that pictures side by side can be
// compared. `share` is how much of the mean squared length 1 they show. Of an ensemble the first system is shown, of
// many tokens some, evenly.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "dynamics/settings.hpp"
#include "record/sealed.hpp"

namespace flyball::dynamics {

inline constexpr std::size_t most_frames = 61;
inline constexpr std::size_t most_shown = 400;

// Indices of the samples that become frames: evenly, the first and the last among them, and as many as keep what a run
// holds of them below 16 MB. Empty where not even two fit.
std::vector<std::size_t> frame_samples(const Settings& settings);

// The tokens that are shown, evenly.
std::vector<std::size_t> shown_tokens(std::size_t tokens, std::size_t most = most_shown);

// Those of a picture of the sphere or the circle at so many times: all but where there are more than it has dots, or
// where a film of them would be too large to open.
std::vector<std::size_t> pictured_tokens(std::size_t tokens, std::size_t times);

// Directions of the shown tokens, [shown, dim], at one time.
struct Frame {
    double t = 0;
    std::vector<float> theta;
};

// The frames of one run while it goes on. They are kept in memory and saved as one file with every restart point: a
// file each would cost a run of a second another one.
class FrameFile {
  public:
    FrameFile(std::filesystem::path path, record::Seal seal, const Settings& settings);

    void add(double t, std::span<const double> theta);  // of all tokens
    void save() const;                                  // what was added
    void load(std::size_t count);                       // the first of those that were saved; fewer are an Error
    const std::vector<Frame>& frames() const { return frames_; }

  private:
    std::filesystem::path path_;
    record::Seal seal_;
    std::vector<std::size_t> tokens_;
    std::size_t dim_;
    std::vector<Frame> frames_;
};

// The three orthonormal directions along which rows of `dim` numbers reach farthest, by falling sum of squares, by
// subspace iteration from a fixed start: the same rows give the same directions. Signs: the largest entry is positive.
std::array<std::vector<double>, 3> leading_directions(std::span<const float> rows, std::size_t dim);

// The frames of all runs, one run at a time: each is asked for twice.
void write_frames(const std::filesystem::path& path, const Settings& settings, std::size_t runs,
                  const std::function<std::vector<Frame>(std::size_t run)>& load);

}  // namespace flyball::dynamics
