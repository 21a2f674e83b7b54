// Restart points and finished runs on disk, so that a run killed at any instant can be taken up with the same bits.
//
// One sealed file per run (record/sealed.hpp), replaced atomically: streams and samples as F64, counters in the
// metadata.
#pragma once

#include <filesystem>
#include <optional>

#include "dynamics/run.hpp"
#include "record/sealed.hpp"

namespace flyball::dynamics {

// What decides the bits of a run of this program: version, instruction set, every setting, the equation, and the
// contents of the weight file and of the start file.
record::Identity identity_of(const Settings& settings, const scheme::Program& program);

struct Saved {
    RestartPoint point;            // where to go on
    std::optional<Record> record;  // or the result of a run that has ended
};

void save_restart_point(const std::filesystem::path& path, const record::Identity& run, const RestartPoint& point);
void save_record(const std::filesystem::path& path, const record::Identity& run, const Record& record);

// Nothing when there is no such file; Error(input) when it was damaged, is not one of ours or belongs to another run.
std::optional<Saved> load_checkpoint(const std::filesystem::path& path, const record::Identity& run,
                                     std::size_t numbers);

}  // namespace flyball::dynamics
