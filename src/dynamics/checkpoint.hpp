// Restart points and finished runs on disk, so that a run killed at any instant can be taken up with the same bits.
//
// One safetensors file per run, replaced atomically: streams and samples as F64, counters in the metadata.
#pragma once

#include <filesystem>
#include <optional>

#include "dynamics/run.hpp"

namespace flyball::dynamics {

struct Saved {
    RestartPoint point;            // where to go on
    std::optional<Record> record;  // or the result of a run that has ended
};

void save_restart_point(const std::filesystem::path& path, const RestartPoint& point);
void save_record(const std::filesystem::path& path, const Record& record);

// Nothing when there is no such file; Error(input) when it is not one of ours or belongs to another run.
std::optional<Saved> load_checkpoint(const std::filesystem::path& path, std::size_t numbers);

}  // namespace flyball::dynamics
