// Parts of the document, and the commands whose folders are read: one function each. A reader takes what it can read;
// Reader::attempt() turns what it cannot into a sentence.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/json.hpp"
#include "report/figure.hpp"
#include "results/detail.hpp"
#include "results/watched.hpp"

namespace flyball::results {

// The settings in a config.toml of a run. Whatever else stands in its place is refused and not waited for.
std::vector<ConfigEntry> stored_settings(const std::filesystem::path& file);

// A folder that is being read. Everything that is looked at is noted in `watched`.
class Reader {
  public:
    Reader(std::filesystem::path folder, const Detail& detail, Watched& watched,
           std::vector<ConfigEntry> settings = {});

    const Detail& detail() const { return detail_; }
    // Its run has come to its end. Of one that has not, a file that is not there is no damage: it has yet to come.
    bool finished() const { return finished_; }
    std::filesystem::path file(const std::string& name) const;
    std::vector<std::string> folders() const;  // names of the folders in it, sorted
    bool has(const std::string& name) const;
    std::string text(const std::string& name) const;
    Json json(const std::string& name) const;
    // One value a line, as an array; the last line of a run that goes on may be torn, and is left out.
    Json json_lines(const std::string& name) const;

    // Runs `read`; when the file it is about is damaged, or is not what it should be, a sentence says so.
    void attempt(const std::string& name, const std::function<void()>& read);
    // The same for a file that a run writes on its way or at its end: where that has not come, nothing is said.
    void attempt_so_far(const std::string& name, const std::function<void()>& read);

    // What the command was told of this, as config.toml has it; nothing where it has nothing.
    std::string setting(const std::string& name) const;

    // A sentence for the head of the folder's part of the page.
    void say(std::string sentence);
    const std::vector<std::string>& said() const { return said_; }

    void add(Json part) { parts_.push_back(std::move(part)); }
    const Json& parts() const { return parts_; }
    const std::vector<std::string>& unreadable() const { return unreadable_; }

  private:
    void read_sums(const std::string& within);  // of the folder's files, or of those of one in it: "", "run/"
    void compare_with_provenance(const std::string& name);

    std::filesystem::path folder_;
    Detail detail_;
    Watched& watched_;
    bool finished_;
    std::map<std::string, std::string> sums_;  // of files, as the run wrote them: provenance.json
    std::set<std::string> altered_;            // where provenance.json itself is not what the run wrote: "", "run/"
    std::vector<ConfigEntry> settings_;
    std::vector<std::string> said_;
    Json parts_ = Json::array();
    std::vector<std::string> unreadable_;
};

void read_simulation(Reader& reader);
void read_claims(Reader& reader);
void read_training(Reader& reader);
void read_inspection(Reader& reader);
void read_limits(Reader& reader);
void read_check(Reader& reader);
void read_theory(Reader& reader);

// What a run that goes on has left in work/ so far. Nothing where it has left nothing.
void read_running_simulation(Reader& reader);
void read_running_claims(Reader& reader);

// Numbers of a JSON array; null is NaN, anything else an error of the library below.
std::vector<double> numbers(const Json& list);
double number_or_nan(const Json& object, const std::string& key);
// A value in words: text as it is, numbers as the files have them, nothing for null.
std::string words(const Json& value);

// Lines over one axis, with several quantities each; one that was measured less often has an x of its own.
struct CurveQuantity {
    std::string name;
    std::vector<double> y;
    std::vector<double> x = {};
};
struct CurveSeries {
    std::string name;
    report::Style style;
    std::vector<double> x;
    std::vector<CurveQuantity> quantities;
};
struct CurvesHead {
    std::string title, about, x;
    bool log_x = false;
    std::vector<std::string> shown;  // quantities that have a chart from the start, as far as they are there
    std::vector<std::pair<std::string, std::pair<std::string, std::string>>> bands = {};  // lower and upper edge
};
Json curves(const CurvesHead& head, std::vector<CurveSeries> series, const Detail& detail);

Json table(std::string_view title, std::string_view about, const std::vector<std::string>& columns, Json rows,
           const Detail& detail);
Json sentences(std::string_view title, const Json& list);
// Objects with layer, head, numbers and words; `shown` is the quantity that colours the map at first.
Json head_map(std::string_view title, std::string_view about, const std::string& shown, const Json& heads);

// Every field that is a number in one of these records, over their field `x`, where a record has it.
CurveSeries series_of_records(const std::string& name, const Json& records, const std::string& x);

// Colour and dash of a scheme by its name, as the catalogue has it; of equations of one's own by their number.
report::Style style_of_scheme(const std::string& name, std::size_t& own_equations);

// Adds the figure NAME.csv with what NAME.svg says of it; nothing where the picture says nothing.
void add_figure(Reader& reader, const std::string& name, Json& drawn);

std::string base64(std::string_view bytes);

}  // namespace flyball::results
