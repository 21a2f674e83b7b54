// The files of `flyball reproduce --out DIR`.
#include <fmt/format.h>

#include "cli/reproduce_output.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/version.hpp"

namespace flyball::cli {

using claims::Claim;
using claims::Value;

namespace {

constexpr std::size_t largest = std::size_t{1} << 24U;

Value value_of(const Json& json) {
    return json.is_string()   ? Value(json.get<std::string>())
           : json.is_number() ? Value(json.get<double>())
                              : Value(std::nan(""));
}

std::string csv_cell(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

std::string csv_cell(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? format_double(*number) : csv_cell(std::get<std::string>(value));
}

std::string results_csv(const std::vector<Reproduced>& results) {
    std::string text = "id,source,predicted,measured,tolerance,verdict,recorded,seconds\n";
    for (const Reproduced& result : results) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", result.claim.id, csv_cell(result.claim.source),
                            csv_cell(result.measurement.predicted), csv_cell(result.measurement.measured),
                            csv_cell(result.measurement.tolerance), claims::name(result.measurement.verdict),
                            claims::name(result.claim.expected), format_double(result.seconds));
    }
    return text;
}

std::string results_page(const std::vector<Reproduced>& results) {
    std::string text = fmt::format(
        "# Claims, measured\n\n{}.\n\n"
        "| id | statement | source | predicted | measured | tolerance | verdict | note "
        "|\n|---|---|---|---|---|---|---|---|\n",
        reproduce_summary(results));
    for (const Reproduced& result : results) {
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", result.claim.id,
                            claims::markdown(result.claim.statement), claims::markdown(result.claim.source),
                            claims::markdown(claims::text_of(result.measurement.predicted)),
                            claims::markdown(claims::text_of(result.measurement.measured)),
                            claims::markdown(claims::text_of(result.measurement.tolerance)),
                            claims::name(result.measurement.verdict), claims::markdown(result.note()));
    }
    for (const Reproduced& result : results) {
        for (const std::string& picture : result.pictures) {
            text += fmt::format("\n![{0}]({0}.svg)\n", picture);
        }
    }
    return text;
}

}  // namespace

ReproduceFolder::ReproduceFolder(std::filesystem::path path, FolderUse use, const std::string& configuration)
    : path_(std::move(path)) {
    open_folder(path_, use, configuration, resume_command(), "cli.reproduce");
}

std::string ReproduceFolder::resume_command() const {
    return cli::resume_command("reproduce", path_);
}

std::filesystem::path ReproduceFolder::stored(const Claim& claim) const {
    return path_ / "work" / (claim.id + ".json");
}

std::optional<Reproduced> ReproduceFolder::load(const Claim& claim) const {
    std::error_code ignored;
    if (!std::filesystem::exists(stored(claim), ignored)) {
        return std::nullopt;
    }
    const std::string path = stored(claim).string();
    const Json document = parse_json(read_text_file(path, largest), path);
    try {
        if (document.at("version") != version) {
            return std::nullopt;  // another program's measurement
        }
        Reproduced result{claim, {}, document.at("pictures"), document.at("seconds")};
        result.measurement.predicted = value_of(document.at("predicted"));
        result.measurement.measured = value_of(document.at("measured"));
        result.measurement.tolerance = value_of(document.at("tolerance"));
        result.measurement.verdict = claims::verdict_from_name(document.at("verdict").get<std::string>());
        result.measurement.note = document.at("note");
        return result;
    } catch (const Json::exception&) {
        throw Error(ErrorKind::input, "cli.reproduce", fmt::format("{} without its fields", flyball::quoted(path)),
                    "a stored claim", "give --force to start anew");
    }
}

void ReproduceFolder::store(Reproduced& result) const {
    for (const claims::Picture& picture : result.measurement.pictures) {
        std::visit([&](const auto& figure) { report::write_figure(path_, picture.name, figure); }, picture.figure);
        result.pictures.push_back(picture.name);
    }
    const auto json = [](const Value& value) {
        return std::visit([](const auto& content) { return Json(content); }, value);
    };
    Json document;
    document["version"] = version;
    document["predicted"] = json(result.measurement.predicted);
    document["measured"] = json(result.measurement.measured);
    document["tolerance"] = json(result.measurement.tolerance);
    document["verdict"] = claims::name(result.measurement.verdict);
    document["note"] = result.measurement.note;
    document["pictures"] = result.pictures;
    document["seconds"] = result.seconds;
    write_file_atomically(stored(result.claim), dump_json(document, 2) + "\n");
}

void ReproduceFolder::write(const std::vector<Reproduced>& results, std::uint64_t seed) const {
    write_file_atomically(path_ / "provenance.json", dump_json(provenance(seed), 2) + "\n");
    write_file_atomically(path_ / "claims.json", dump_json(reproduce_json(results), 2) + "\n");
    write_file_atomically(path_ / "claims.csv", results_csv(results));
    write_file_atomically(path_ / "claims.md", results_page(results));
    std::error_code ignored;
    std::filesystem::remove_all(path_ / "work", ignored);
}

}  // namespace flyball::cli
