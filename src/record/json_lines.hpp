// A file that grows by one JSON object a line while a run goes on (metrics.jsonl), and survives a kill at any moment.
//
//     {"step":1,"loss":4.1,"seal":"93c0f5a2e11b7d08"}
//     {"step":2,"loss":3.9,"seal":"5e0d1c9b7aa3f642"}
//
// Every line is a plain record, for whatever program reads it, with one field of ours at its end: the seal is the
// checksum (XXH3, 64 bits) of the line's other bytes and of the seal before it; before the first line stands a checksum
// of what the run is (kind and identity, as in sealed.hpp). So a changed byte, a line that is missing, exchanged or of
// another run is noticed, without a first line that is no record.
//
// What a crash leaves: a line is one write that ends with its newline, so that only the last line can be torn. Opening
// the file cuts such an end off. Anything else that is not as it was written is refused, with the number of the line.
//
// Not here: who may open the file (the folder's lock, folder.hpp), and readers that do not know the run: to them it is
// JSON lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "record/growing_file.hpp"
#include "record/sealed.hpp"

namespace flyball::record {

class JsonLines {
  public:
    using Reach = GrowingFile::Reach;

    // Opens or makes the file; what is there is checked, which reads it once. 8 bytes of memory a line.
    JsonLines(std::filesystem::path path, const Seal& seal, Reach reach = Reach::system);

    std::size_t size() const { return ends_.size() - 1; }

    // `record` is an object with at least one field and none that is called "seal". When it throws (a full disk) the
    // file is as it was before (growing_file.hpp).
    void append(const Json& record);

    Json line(std::size_t i) const;  // from 0; without its seal

    // For a run that goes on from an earlier point: keeps the first `count` lines and cuts the rest. Fewer lines than
    // that are an Error: the file has lost some that the run had written.
    void keep(std::size_t count);
    // Keeps the lines before the first for which `is_kept` says no; returns how many.
    //     lines.keep_while([&](const Json& line) { return line.at("step") <= step; });
    std::size_t keep_while(const std::function<bool(const Json&)>& is_kept);

  private:
    void read_what_is_there();
    std::string text_of(std::size_t i) const;  // of a line, without its newline

    GrowingFile file_;
    std::string first_seal_;           // what stands for the seal before the first line
    std::string last_seal_;            // of the last line
    std::vector<std::uint64_t> ends_;  // where lines begin and end: 0, then one after each line
};

}  // namespace flyball::record
