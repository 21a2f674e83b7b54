// The samples of a run as they come, for whoever watches it (`flyball report` of a run that goes on).
//
//     {"scheme":"post-ln","equation":"norm(x + dt*f(x))","columns":["t","cosine.mean",..]}
//     [0.0,0.0123,..]
//     {"outcome":"done"}
//
// One line a sample, with the system as soon as it is written and never flushed to the disk: a copy for readers. Nothing
// is ever taken up from it, so that it has no seal, and a line that cannot be written (a full disk) ends the copy and not
// the run. The last line may be torn.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dynamics/sample.hpp"
#include "record/growing_file.hpp"

namespace flyball::dynamics {

class SampleLog {
  public:
    // A file that is there is emptied: a run that is taken up gives what it had so far as `before`.
    SampleLog(const std::filesystem::path& path, const std::string& scheme, const std::string& equation,
              const std::vector<Sample>& before);

    void add(const Sample& sample);
    void end(const std::string& outcome);

  private:
    void write(const std::string& line);
    std::optional<record::GrowingFile> file_;  // none once a line could not be written
};

}  // namespace flyball::dynamics
