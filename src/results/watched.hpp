// Which files a document was made of and how they were, so that it is made again only when one of them has changed.
//
// A file counts as changed when it came, went, grew, was written to or replaced by another one: its size, its time of
// writing or its number on the disk (inode) differ. A folder has changed when a name in it came or went. Only what was
// looked at counts: the restart point of a training run, which no page shows, may change every second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>

namespace flyball::results {

class Watched {
  public:
    // Before it is read: what changes while it is read has then changed. The first look counts.
    void look(const std::filesystem::path& path);
    bool changed() const;
    std::size_t size() const { return seen_.size(); }

  private:
    struct State {
        bool exists = false;
        std::uint64_t device = 0, number = 0, bytes = 0;
        std::int64_t seconds = 0, nanoseconds = 0;  // when it was written
        bool operator==(const State&) const = default;
    };
    static State state_of(const std::filesystem::path& path);

    std::map<std::filesystem::path, State> seen_;
};

}  // namespace flyball::results
