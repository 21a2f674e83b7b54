// The files of `flyball reproduce --out DIR`.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/reproduce_output.hpp"
#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/number.hpp"

namespace flyball::cli {

using claims::Claim;
using claims::Value;

namespace {

Value value_of(const Json& json) {
    return json.is_string()   ? Value(json.get<std::string>())
           : json.is_number() ? Value(json.get<double>())
                              : Value(std::nan(""));
}

std::string csv_cell(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? format_double(*number) : flyball::csv_cell(std::get<std::string>(value), Quotes::always);
}

std::string results_csv(const std::vector<Reproduced>& results) {
    std::string text = "id,source,predicted,measured,tolerance,verdict,recorded,seconds\n";
    for (const Reproduced& result : results) {
        text += fmt::format("{},{},{},{},{},{},{},{}\n", result.claim.id,
                            flyball::csv_cell(result.claim.source, Quotes::always),
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

record::Identity identity_of(const std::vector<ConfigEntry>& configuration) {
    record::Identity identity = record::program_identity();
    for (const ConfigEntry& entry : configuration) {
        identity.emplace_back(entry.key.substr(entry.key.find('.') + 1),
                              fmt::format("{}", fmt::join(entry.values, " ")));
    }
    return identity;
}

}  // namespace

ReproduceFolder::ReproduceFolder(std::filesystem::path path, record::FolderUse use,
                                 const std::vector<ConfigEntry>& configuration)
    : folder_(path, use,
              {to_toml(configuration), identity_of(configuration), record::resume_command("reproduce", path),
               "cli.reproduce"}) {}

std::string ReproduceFolder::resume_command() const {
    return record::resume_command("reproduce", path());
}

bool ReproduceFolder::stored_verdicts_are_recorded(const std::vector<Claim>& ledger) const {
    const std::filesystem::path file = path() / "claims.json";
    const Json document = parse_json(read_text_file(file, std::size_t{1} << 24U), file.string());
    std::map<std::string, std::string> verdicts;
    try {
        for (const Json& claim : document.at("claims")) {
            verdicts[claim.at("id")] = claim.at("verdict");
        }
    } catch (const Json::exception&) {
        record::refuse(file, "claims without id and verdict", "the claims as they were written");
    }
    return std::all_of(ledger.begin(), ledger.end(), [&](const Claim& claim) {
        return verdicts.count(claim.id) == 1 && verdicts[claim.id] == claims::name(claim.expected);
    });
}

std::filesystem::path ReproduceFolder::stored(const Claim& claim) const {
    return folder_.work(claim.id + ".json");
}

std::optional<Reproduced> ReproduceFolder::load(const Claim& claim) const {
    std::error_code ignored;
    if (!std::filesystem::exists(stored(claim), ignored)) {
        return std::nullopt;
    }
    const Json document = record::read_sealed_json(stored(claim), seal(claim));
    try {
        Reproduced result{claim, {}, document.at("pictures"), document.at("seconds")};
        result.measurement.predicted = value_of(document.at("predicted"));
        result.measurement.measured = value_of(document.at("measured"));
        result.measurement.tolerance = value_of(document.at("tolerance"));
        result.measurement.verdict = claims::verdict_from_name(document.at("verdict").get<std::string>());
        result.measurement.note = document.at("note");
        return result;
    } catch (const Json::exception&) {
        record::refuse(stored(claim), "a claim without its fields", "a stored claim");
    }
}

void ReproduceFolder::store(Reproduced& result) const {
    for (const claims::Picture& picture : result.measurement.pictures) {
        std::visit([&](const auto& figure) { report::write_figure(path(), picture.name, figure); }, picture.figure);
        result.pictures.push_back(picture.name);
    }
    const auto json = [](const Value& value) {
        return std::visit([](const auto& content) { return Json(content); }, value);
    };
    Json document = Json::object();
    document["predicted"] = json(result.measurement.predicted);
    document["measured"] = json(result.measurement.measured);
    document["tolerance"] = json(result.measurement.tolerance);
    document["verdict"] = claims::name(result.measurement.verdict);
    document["note"] = result.measurement.note;
    document["pictures"] = result.pictures;
    document["seconds"] = result.seconds;
    record::write_sealed_json(stored(result.claim), seal(result.claim), document);
}

void ReproduceFolder::write(const std::vector<Reproduced>& results, std::uint64_t seed) {
    std::vector<std::string> files = {"config.toml", "claims.json", "claims.csv", "claims.md"};
    for (const Reproduced& result : results) {
        for (const std::string& picture : result.pictures) {
            files.push_back(picture + ".svg");
            files.push_back(picture + ".csv");
        }
    }
    write_file_atomically(path() / "claims.json", dump_json(reproduce_json(results), 2) + "\n");
    write_file_atomically(path() / "claims.csv", results_csv(results));
    write_file_atomically(path() / "claims.md", results_page(results));
    folder_.finish(record::provenance(seed), files);
}

}  // namespace flyball::cli
