#include "record/json_lines.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <string_view>

#include "core/error.hpp"
#include "core/file.hpp"

namespace flyball::record {

namespace {

constexpr std::string_view where_lines = "record.json_lines";
constexpr std::string_view expected_lines = "a file that lines can be added to";
constexpr std::string_view seal_begins = R"(,"seal":")";
constexpr std::string_view seal_ends = R"("})";
constexpr std::size_t seal_digits = 16;
constexpr std::size_t tail = seal_begins.size() + seal_digits + seal_ends.size();

std::string seal_after(std::string_view before, std::string_view content) {
    return checksum(std::string_view(std::string(before).append(content)));
}

std::string first_seal_of(const Seal& seal) {
    Json run = Json::array({seal.kind});
    for (const auto& [key, value] : seal.identity) {
        run.push_back({key, value});
    }
    return checksum(std::string_view(dump_json(run)));
}

// The bytes a seal is of, or nothing when the line is none of ours.
std::string_view content_of(std::string_view line) {
    const bool ours = line.size() > tail && line.ends_with(seal_ends) &&
                      line.substr(line.size() - tail, seal_begins.size()) == seal_begins;
    return ours ? line.substr(0, line.size() - tail) : std::string_view();
}

std::string_view seal_in(std::string_view line) {
    return line.substr(line.size() - seal_ends.size() - seal_digits, seal_digits);
}

}  // namespace

JsonLines::JsonLines(std::filesystem::path path, const Seal& seal, Reach reach)
    : file_(std::move(path), GrowingFile::Found::kept, reach, where_lines, expected_lines),
      first_seal_(first_seal_of(seal)),
      last_seal_(first_seal_),
      ends_{0} {
    read_what_is_there();
    file_.settle();
}

// A chain: the seal of a line is made with the one before it, so lines cannot be taken out, exchanged or brought from
// another run without the first wrong one showing. O(bytes), once, when the file is opened.
void JsonLines::read_what_is_there() {
    const MappedFile file(file_.path());
    const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    for (std::size_t end = all.find('\n'); end != std::string_view::npos; end = all.find('\n', ends_.back())) {
        const std::string_view line = all.substr(ends_.back(), end - ends_.back());
        const std::string_view content = content_of(line);
        if (content.empty() || seal_in(line) != seal_after(last_seal_, content)) {
            refuse(file_.path(), fmt::format("line {} without its seal (damaged, or of another run)", size() + 1),
                   "the lines as this run wrote them");
        }
        last_seal_ = seal_in(line);
        ends_.push_back(end + 1);
    }
    if (ends_.back() < all.size()) {
        file_.cut(ends_.back());  // torn by a crash
    }
}

void JsonLines::append(const Json& record) {
    assert(record.is_object() && !record.empty() && !record.contains("seal"));
    std::string line = dump_json(record);
    line.pop_back();
    std::string seal = seal_after(last_seal_, line);
    line.append(seal_begins).append(seal).append(seal_ends).append("\n");
    ends_.push_back(ends_.back() + line.size());  // first: nothing may want memory once the line is written
    try {
        file_.append(line);
    } catch (...) {
        ends_.pop_back();
        throw;
    }
    last_seal_ = std::move(seal);
}

std::string JsonLines::text_of(std::size_t i) const {
    assert(i < size());
    std::string text(ends_[i + 1] - ends_[i] - 1, '\0');
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t got =
            ::pread(file_.descriptor(), text.data() + done, text.size() - done, static_cast<off_t>(ends_[i] + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            throw_file_error(where_lines, file_.path(), got < 0 ? errno : EIO, "the lines that were written to it");
        }
        done += static_cast<std::size_t>(got);
    }
    return text;
}

Json JsonLines::line(std::size_t i) const {
    Json record = parse_json(text_of(i), file_.path().string());
    record.erase("seal");
    return record;
}

void JsonLines::keep(std::size_t count) {
    if (count > size()) {
        refuse(file_.path(), fmt::format("{} lines", size()), fmt::format("{} or more, as the run had written", count));
    }
    if (count == size()) {
        return;
    }
    std::string seal = count == 0 ? first_seal_ : std::string(seal_in(text_of(count - 1)));
    file_.cut(ends_[count]);
    ends_.resize(count + 1);
    last_seal_ = std::move(seal);
    file_.settle();
}

std::size_t JsonLines::keep_while(const std::function<bool(const Json&)>& is_kept) {
    std::size_t count = 0;
    while (count < size() && is_kept(line(count))) {
        ++count;
    }
    keep(count);
    return count;
}

}  // namespace flyball::record
