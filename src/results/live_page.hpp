// The page of folders whose runs go on: made again when a file that it shows has changed, and when there is time for it.
//
// refresh() costs a look at the times of the files where nothing has changed. Making a document of a long run takes tenths
// of a second, which the run itself would miss: after one that took s seconds of a processor the next is not begun for
// another nine s, so that watching takes at most a tenth of one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "results/document.hpp"

namespace flyball::results {

struct Clocks {  // seconds from any fixed start, never going back; empty: the system's
    std::function<double()> now = {};
    std::function<double()> spent = {};  // of a processor, by this thread
};

class LivePage {
  public:
    using Text = std::shared_ptr<const std::string>;

    // Where the page asks for the next document is `address`.
    LivePage(std::vector<std::filesystem::path> folders, std::string address, Clocks clocks = {});

    // Afterwards what follows is what the files say, unless it was made a moment ago.
    void refresh();

    const Text& document() const { return document_; }
    const std::string& tag() const { return tag_; }  // of the document: another text has another
    const Text& html();                              // the page with the document in it
    const Json& folders() const { return fitting_.folders; }
    std::size_t times_made() const { return times_made_; }

  private:
    void make();

    std::vector<std::filesystem::path> folders_;
    std::string address_;
    Clocks clocks_;
    Fitting fitting_;
    Text document_;
    Text html_;  // null until it is asked for
    std::string tag_;
    double next_ = 0;  // not before
    std::size_t times_made_ = 0;
};

}  // namespace flyball::results
