#include "results/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "record/folder.hpp"
#include "record/sealed.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::results {

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 28U;

bool is_number_or_null(const Json& value) {
    return value.is_number() || value.is_null();
}

bool has_number(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

Json picked(const std::vector<double>& values, const std::vector<std::size_t>& indices) {
    Json list = Json::array();
    for (const std::size_t i : indices) {
        list.push_back(values[i]);
    }
    return list;
}

}  // namespace

std::vector<ConfigEntry> stored_settings(const std::filesystem::path& file) {
    constexpr std::size_t largest = std::size_t{1} << 20U;
    return parse_toml_config(read_regular_file(file, largest), file.string());
}

// While there is work/run.json the run goes on, or can be taken up (record/folder.hpp).
Reader::Reader(std::filesystem::path folder, const Detail& detail, Watched& watched, std::vector<ConfigEntry> settings)
    : folder_(std::move(folder)),
      detail_(detail),
      watched_(watched),
      finished_(has("provenance.json") && !has("work/run.json")),
      settings_(std::move(settings)) {
    if (finished_) {
        read_sums("");
    }
}

void Reader::read_sums(const std::string& within) {
    try {
        const Json about = json(within + "provenance.json");
        // What was written by hand, or by somebody else, has none and promises nothing.
        if (about.contains("checksum") && !record::is_provenance_as_written(about) && altered_.insert(within).second) {
            unreadable_.push_back(fmt::format(
                "{} is not what the run wrote: it does not have the checksum at its end. It is shown as it is now; run "
                "the command again for its own results.",
                flyball::quoted(within + "provenance.json")));
        }
        for (const auto& [name, sum] : about.at("files").items()) {
            sums_[within + name] = sum.get<std::string>();
        }
    } catch (const Error&) {
        return;  // whoever shows the provenance says so
    } catch (const Json::exception&) {
        return;
    }
}

// A digit that somebody changed, or a file of another run, can be read as well as the right one.
void Reader::compare_with_provenance(const std::string& name) {
    if (const std::size_t slash = name.rfind('/'); finished_ && slash != std::string::npos) {
        read_sums(name.substr(0, slash + 1));  // each run of a folder of runs has a provenance.json of its own
    }
    const auto sum = sums_.find(name);
    std::error_code error;
    if (sum == sums_.end() || !std::filesystem::is_regular_file(folder_ / name, error) ||
        std::filesystem::file_size(folder_ / name, error) > largest_file || error) {
        return;
    }
    if (record::file_checksum(folder_ / name) != sum->second) {
        unreadable_.push_back(fmt::format(
            "{} is not what the run wrote: its checksum is not the one in provenance.json. It is shown as it is "
            "now; run the command again for its own results.",
            flyball::quoted(name)));
    }
}

std::filesystem::path Reader::file(const std::string& name) const {
    watched_.look(folder_ / name);
    return folder_ / name;
}

std::vector<std::string> Reader::folders() const {
    watched_.look(folder_);
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
        std::error_code ignored;
        if (at->is_directory(ignored)) {
            names.push_back(at->path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool Reader::has(const std::string& name) const {
    std::error_code ignored;
    return std::filesystem::exists(file(name), ignored);
}

std::string Reader::text(const std::string& name) const {
    return read_regular_file(file(name), largest_file);
}

Json Reader::json(const std::string& name) const {
    return parse_json(text(name), name, {.max_depth = 64, .max_bytes = largest_file});
}

std::string Reader::setting(const std::string& name) const {
    for (const ConfigEntry& entry : settings_) {
        if (entry.key.substr(entry.key.find('.') + 1) == name) {
            return fmt::format("{}", fmt::join(entry.values, ", "));
        }
    }
    return "";
}

void Reader::say(std::string sentence) {
    if (!sentence.empty()) {
        said_.push_back(std::move(sentence));
    }
}

Json Reader::json_lines(const std::string& name) const {
    const std::string all = text(name);
    Json lines = Json::array();
    for (std::size_t begin = 0; begin < all.size();) {
        const std::size_t end = all.find('\n', begin);
        if (end == std::string::npos) {
            break;
        }
        lines.push_back(parse_json(std::string_view(all).substr(begin, end - begin), name));
        begin = end + 1;
    }
    return lines;
}

void Reader::attempt(const std::string& name, const std::function<void()>& read) {
    try {
        read();
        compare_with_provenance(name);
    } catch (const Error& error) {
        unreadable_.push_back(fmt::format("{} could not be read: {}", flyball::quoted(name), error.what()));
    } catch (const Json::exception&) {
        unreadable_.push_back(
            fmt::format("{} could not be read: it is JSON, but not what the command writes there. "
                        "Run the command again, or leave the file out.",
                        flyball::quoted(name)));
    }
}

void Reader::attempt_so_far(const std::string& name, const std::function<void()>& read) {
    const std::size_t before = unreadable_.size();
    attempt(name, read);
    if (!finished_ && !has(name)) {  // also when it went while it was read: the run has come to its end
        unreadable_.resize(before);
    }
}

std::vector<double> numbers(const Json& list) {
    std::vector<double> values;
    values.reserve(list.size());
    for (const Json& value : list) {
        values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    }
    return values;
}

double number_or_nan(const Json& object, const std::string& key) {
    return object.contains(key) && object.at(key).is_number() ? object.at(key).get<double>()
                                                              : std::numeric_limits<double>::quiet_NaN();
}

std::string words(const Json& value) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_number_float()) {
        return format_double(value.get<double>());
    }
    if (value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); })) {
        return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", "));
    }
    return value.is_null() ? std::string() : dump_json(value);
}

Json curves(const CurvesHead& head, std::vector<CurveSeries> series, const Detail& detail) {
    std::vector<report::Series> looks(series.size());
    for (std::size_t i = 0; i < series.size(); ++i) {
        looks[i].style = series[i].style;
    }
    report::tell_apart(looks);
    Json part = Json::object();
    part["kind"] = "curves";
    part["title"] = head.title;
    part["about"] = head.about;
    part["x"] = {{"label", head.x}, {"log", head.log_x}};
    std::vector<std::string> names;
    Json list = Json::array();
    for (std::size_t i = 0; i < series.size(); ++i) {
        const CurveSeries& one = series[i];
        Json json = Json::object();
        json["name"] = one.name;
        json["colour"] = looks[i].style.colour;
        json["dash"] = looks[i].style.dash;
        json["points"] = one.x.size();
        json["x"] = picked(one.x, thinned(one.x, detail.points));
        json["y"] = Json::object();
        json["own_x"] = Json::object();
        for (const auto& [name, values, own_x] : one.quantities) {
            if (!has_number(values)) {
                continue;
            }
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                names.push_back(name);
            }
            const std::vector<std::size_t> chosen = thinned(values, detail.points);
            json["y"][name] = picked(values, chosen);
            if (!own_x.empty() || one.x.size() > detail.points) {
                json["own_x"][name] = picked(own_x.empty() ? one.x : own_x, chosen);
            }
        }
        list.push_back(std::move(json));
    }
    part["quantities"] = names;
    part["shown"] = Json::array();
    const auto is_there = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const std::string& name : head.shown) {
        if (is_there(name)) {
            part["shown"].push_back(name);
        }
    }
    for (std::size_t i = 0; part["shown"].empty() && i < std::min<std::size_t>(2, names.size()); ++i) {
        part["shown"].push_back(names[i]);
    }
    part["bands"] = Json::object();
    for (const auto& [name, edges] : head.bands) {
        if (is_there(name) && is_there(edges.first) && is_there(edges.second)) {
            part["bands"][name] = {edges.first, edges.second};
        }
    }
    part["series"] = std::move(list);
    return part;
}

Json table(std::string_view title, std::string_view about, const std::vector<std::string>& columns, Json rows,
           const Detail& detail) {
    Json part = Json::object();
    part["kind"] = "table";
    part["title"] = title;
    part["about"] = about;
    part["columns"] = columns;
    part["of"] = rows.size();
    if (rows.size() > detail.rows) {
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(detail.rows), rows.end());
    }
    part["rows"] = std::move(rows);
    return part;
}

Json sentences(std::string_view title, const Json& list) {
    Json part = Json::object();
    part["kind"] = "sentences";
    part["title"] = title;
    part["sentences"] = Json::array();
    for (const Json& one : list) {
        part["sentences"].push_back(one.get<std::string>());
    }
    return part;
}

Json head_map(std::string_view title, std::string_view about, const std::string& shown, const Json& heads) {
    Json part = Json::object();
    part["kind"] = "heads";
    part["title"] = title;
    part["about"] = about;
    std::vector<std::string> names;
    Json list = Json::array();
    for (const Json& head : heads) {
        Json one = Json::object();
        one["layer"] = head.at("layer").get<std::size_t>();
        one["head"] = head.at("head").get<std::size_t>();
        one["numbers"] = Json::object();
        one["words"] = Json::object();
        for (const auto& [key, value] : head.items()) {
            if (key == "layer" || key == "head") {
                continue;
            }
            if (is_number_or_null(value)) {
                one["numbers"][key] = value;
                if (std::find(names.begin(), names.end(), key) == names.end()) {
                    names.push_back(key);
                }
            } else if (value.is_string()) {
                one["words"][key] = value;
            }
        }
        list.push_back(std::move(one));
    }
    part["quantities"] = names;
    part["shown"] =
        std::find(names.begin(), names.end(), shown) != names.end() || names.empty() ? shown : names.front();
    part["heads"] = std::move(list);
    return part;
}

CurveSeries series_of_records(const std::string& name, const Json& records, const std::string& x) {
    CurveSeries series{name, {}, {}, {}};
    std::vector<std::string> keys;
    for (const Json& record : records) {
        for (const auto& [key, value] : record.items()) {
            if (value.is_number() && key != x && std::find(keys.begin(), keys.end(), key) == keys.end()) {
                keys.push_back(key);
            }
        }
    }
    for (const std::string& key : keys) {
        series.quantities.push_back({key, {}, {}});
    }
    for (const Json& record : records) {
        series.x.push_back(record.at(x).get<double>());
        for (CurveQuantity& quantity : series.quantities) {
            if (record.contains(quantity.name)) {
                quantity.x.push_back(series.x.back());
                quantity.y.push_back(number_or_nan(record, quantity.name));
            }
        }
    }
    for (CurveQuantity& quantity : series.quantities) {
        if (quantity.x.size() == series.x.size()) {
            quantity.x.clear();
        }
    }
    return series;
}

report::Style style_of_scheme(const std::string& name, std::size_t& own_equations) {
    const std::string plain = name.substr(0, name.find(':'));
    for (const scheme::CatalogueEntry& entry : scheme::catalogue()) {
        if (entry.name == plain) {
            return {std::string(entry.colour), std::string(entry.dash)};
        }
    }
    const scheme::Look look = scheme::own_look(++own_equations);
    return {std::string(look.colour), std::string(look.dash)};
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
        std::array<unsigned, 3> b = {};
        for (std::size_t k = 0; k < left; ++k) {
            b[k] = static_cast<unsigned char>(bytes[i + k]);
        }
        const unsigned all = (b[0] << 16U) | (b[1] << 8U) | b[2];
        out += letters[all >> 18U];
        out += letters[(all >> 12U) & 63U];
        out += left > 1 ? letters[(all >> 6U) & 63U] : '=';
        out += left > 2 ? letters[all & 63U] : '=';
    }
    return out;
}

}  // namespace flyball::results
