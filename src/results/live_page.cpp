#include "results/live_page.hpp"

#include <chrono>

#include "record/sealed.hpp"
#include "report/page.hpp"

namespace flyball::results {

namespace {

constexpr double rest = 9;  // times what making took

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

LivePage::LivePage(std::vector<std::filesystem::path> folders, std::string address, Clock clock)
    : folders_(std::move(folders)), address_(std::move(address)), clock_(clock ? std::move(clock) : steady_seconds) {
    make();
}

void LivePage::refresh() {
    if (clock_() >= next_ && fitting_.watched.changed()) {
        make();
    }
}

// A long run stays long: it is not tried with more detail again unless it begins anew, which makes it much shorter.
void LivePage::make() {
    const double begun = clock_();
    const std::size_t before = document_ ? document_->size() : 0;
    Fitting made = fitting_document(folders_, Absent::awaited, fitting_.level);
    if (made.level > 0 && made.level == fitting_.level && 4 * made.embedded.size() < before) {
        made = fitting_document(folders_, Absent::awaited);
    }
    fitting_ = std::move(made);
    document_ = std::make_shared<const std::string>(std::move(fitting_.embedded));
    html_ = nullptr;
    tag_ = record::checksum(std::string_view(*document_));
    ++times_made_;
    const double ended = clock_();
    next_ = ended + rest * (ended - begun);
}

const LivePage::Text& LivePage::html() {
    if (!html_) {
        html_ = std::make_shared<const std::string>(
            report::page_around(*document_, fitting_.title, {.document_address = address_, .document_tag = tag_}));
    }
    return html_;
}

}  // namespace flyball::results
