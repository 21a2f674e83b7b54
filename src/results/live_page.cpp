#include "results/live_page.hpp"

#include <chrono>
#include <ctime>

#include "record/sealed.hpp"
#include "report/page.hpp"

namespace flyball::results {

namespace {

constexpr double rest = 9;  // times what making took

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds_spent() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

LivePage::LivePage(std::vector<std::filesystem::path> folders, std::string address, Clocks clocks)
    : folders_(std::move(folders)), address_(std::move(address)), clocks_(std::move(clocks)) {
    if (!clocks_.now) {
        clocks_.now = steady_seconds;
    }
    if (!clocks_.spent) {
        clocks_.spent = seconds_spent;
    }
    make();
}

void LivePage::refresh() {
    if (clocks_.now() >= next_ && fitting_.watched.changed()) {
        make();
    }
}

// A long run stays long: it is not tried with more detail again unless it begins anew, which makes it much shorter.
void LivePage::make() {
    const double begun = clocks_.spent();
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
    next_ = clocks_.now() + rest * (clocks_.spent() - begun);
}

const LivePage::Text& LivePage::html() {
    if (!html_) {
        html_ = std::make_shared<const std::string>(
            report::page_around(*document_, fitting_.title, {.document_address = address_, .document_tag = tag_}));
    }
    return html_;
}

}  // namespace flyball::results
