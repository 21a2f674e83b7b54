// The files of `flyball reproduce --out DIR`.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/flags.hpp"
#include "cli/reproduce_output.hpp"
#include "core/csv.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "report/print.hpp"

namespace flyball::cli {

using claims::Claim;
using claims::Judged;

ReproduceFolder::ReproduceFolder(std::filesystem::path path, record::FolderUse use,
                                 const std::vector<ConfigEntry>& configuration, std::string resume_command,
                                 report::Sheet sheet, record::Identity inputs)
    : resume_command_(std::move(resume_command)),
      sheet_(std::move(sheet)),
      folder_(
          std::move(path), use,
          {to_toml(configuration), identity_of(configuration), resume_command_, "cli.reproduce", std::move(inputs)}) {}

std::string ReproduceFolder::stored_claims() const {
    constexpr std::size_t largest = std::size_t{64} << 20U;
    return read_text_file(path() / "claims.json", largest);
}

bool ReproduceFolder::stored_verdicts_are_recorded(const std::vector<Claim>& ledger) const {
    const std::filesystem::path file = path() / "claims.json";
    const Json document = parse_json(stored_claims(), file.string());
    std::map<std::string, std::string> verdicts;
    try {
        for (const Json& claim : document.at("claims")) {
            verdicts[claim.at("id")] = claim.at("verdict");
        }
    } catch (const Json::exception&) {
        record::refuse(file, "claims without id and verdict", "the claims as they were written");
    }
    return std::all_of(ledger.begin(), ledger.end(), [&](const Claim& claim) {
        return verdicts.count(claim.id) == 1 &&
               claims::as_recorded(claim, claims::verdict_from_name(verdicts[claim.id]));
    });
}

Json ledger_document(const std::vector<Claim>& ledger) {
    Json list = Json::array();
    for (const Claim& claim : ledger) {
        list.push_back({{"id", claim.id},
                        {"statement", claim.statement},
                        {"source", claim.source},
                        {"note", claim.note},
                        {"expected_verdict", claims::name(claim.expected)}});
    }
    return {{"claims", std::move(list)}};
}

void ReproduceFolder::begin(const std::vector<Claim>& ledger) const {
    record::write_sealed_json(folder_.work("ledger.json"), folder_.seal("ledger"), ledger_document(ledger));
}

std::filesystem::path ReproduceFolder::stored(const Claim& claim) const {
    return folder_.work(claim.id + ".json");
}

std::optional<Judged> ReproduceFolder::load(const Claim& claim) const {
    std::error_code ignored;
    if (!std::filesystem::exists(stored(claim), ignored)) {
        return std::nullopt;
    }
    const Json document = record::read_sealed_json(stored(claim), seal(claim));
    try {
        Judged result{claim, {}, document.at("pictures"), document.at("seconds")};
        const auto verdict = claims::verdict_from_name(document.at("verdict").get<std::string>());
        result.measurement.verdict = verdict;
        result.measurement.predicted = claims::value_of(document.at("predicted"), verdict);
        result.measurement.measured = claims::value_of(document.at("measured"), verdict);
        result.measurement.tolerance = claims::value_of(document.at("tolerance"), verdict);
        result.measurement.note = document.at("note");
        return result;
    } catch (const Json::exception&) {
        record::refuse(stored(claim), "a claim without its fields", "a stored claim");
    }
}

void ReproduceFolder::store(Judged& result) const {
    for (const claims::Picture& picture : result.measurement.pictures) {
        std::visit([&](const auto& figure) { report::write_figure(path(), picture.name, figure, sheet_); },
                   picture.figure);
        result.pictures.push_back(picture.name);
    }
    Json document = Json::object();
    document["predicted"] = claims::json_of(result.measurement.predicted);
    document["measured"] = claims::json_of(result.measurement.measured);
    document["tolerance"] = claims::json_of(result.measurement.tolerance);
    document["verdict"] = claims::name(result.measurement.verdict);
    document["note"] = result.measurement.note;
    document["pictures"] = result.pictures;
    document["formats"] = Json::array();
    for (const report::Format format : sheet_.formats) {
        document["formats"].push_back(std::string(report::ending(format)));
    }
    document["seconds"] = result.seconds;
    record::write_sealed_json(stored(result.claim), seal(result.claim), document);
}

std::vector<std::string> ReproduceFolder::formats_of(const Claim& claim) const {
    const Json document = record::read_sealed_json(stored(claim), seal(claim));
    try {
        return document.value("formats", std::vector<std::string>{"svg"});
    } catch (const Json::exception&) {
        record::refuse(stored(claim), "formats of figures that are no words", "a stored claim");
    }
}

claims::Shelf ReproduceFolder::shelf(bool resumes) const {
    claims::Shelf shelf;
    shelf.keep = [this](const std::string& name, const std::string& text) {
        record::write_sealed_json(folder_.work(name + ".json"), folder_.seal("shared " + name), {{"text", text}});
    };
    if (resumes) {
        shelf.find = [this](const std::string& name) -> std::optional<std::string> {
            const std::filesystem::path file = folder_.work(name + ".json");
            std::error_code ignored;
            if (!std::filesystem::exists(file, ignored)) {
                return std::nullopt;
            }
            const Json document = record::read_sealed_json(file, folder_.seal("shared " + name));
            if (!document.contains("text") || !document.at("text").is_string()) {
                record::refuse(file, "no text", "what was kept");
            }
            return document.at("text").get<std::string>();
        };
    }
    return shelf;
}

void ReproduceFolder::write(const std::vector<Judged>& results, std::uint64_t seed) {
    std::vector<std::string> files = {"config.toml", "claims.json", "claims.csv", "claims.md"};
    for (const Judged& result : results) {
        const auto formats = result.pictures.empty() ? std::vector<std::string>() : formats_of(result.claim);
        for (const std::string& picture : result.pictures) {
            for (const std::string& ending : formats) {
                files.push_back(fmt::format("{}.{}", picture, ending));
            }
            files.push_back(picture + ".csv");
        }
    }
    write_file_atomically(path() / "claims.json", dump_json(claims::results_json(results), 2) + "\n");
    write_file_atomically(path() / "claims.csv", claims::results_csv(results));
    write_file_atomically(path() / "claims.md", claims::results_page(results));
    folder_.finish(record::provenance(seed), files);
}

}  // namespace flyball::cli
