// What `flyball reproduce` shows on a terminal, and its folder of files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "claims/documents.hpp"
#include "core/config.hpp"
#include "record/folder.hpp"

namespace flyball::cli {

// A table by source; with few claims everything about each.
std::string reproduce_text(const std::vector<claims::Judged>& results);

// {"claims": [..]}: what is known of claims before any of them is run.
Json ledger_document(const std::vector<claims::Claim>& ledger);

// --out DIR.
//
//     config.toml provenance.json claims.json claims.md claims.csv, figures as SVG and CSV
//     work/         one file a finished claim while others run; removed at the end
//
// Several threads may store different claims at the same time.
class ReproduceFolder {
  public:
    // `inputs`: checksums of the model and the text that a user named.
    ReproduceFolder(std::filesystem::path path, record::FolderUse use, const std::vector<ConfigEntry>& configuration,
                    std::string resume_command, report::Sheet sheet, record::Identity inputs);

    // Which claims this run is about, in their order, for whoever shows it while it goes on.
    void begin(const std::vector<claims::Claim>& ledger) const;

    // What an earlier run of the same program and settings stored for this claim, or nothing.
    std::optional<claims::Judged> load(const claims::Claim& claim) const;
    // Figures first, then the result, so that what is stored is complete.
    void store(claims::Judged& result) const;

    // For what claims share; find() finds nothing unless the run is taken up.
    claims::Shelf shelf(bool resumes) const;

    void write(const std::vector<claims::Judged>& results, std::uint64_t seed);

    // Taken up, and nothing was left to do.
    bool finished() const { return folder_.finished(); }
    std::string stored_claims() const;  // claims.json
    bool stored_verdicts_are_recorded(const std::vector<claims::Claim>& ledger) const;
    const std::filesystem::path& path() const { return folder_.path(); }
    const std::string& resume_command() const { return resume_command_; }

  private:
    std::filesystem::path stored(const claims::Claim& claim) const;
    // The figures of a claim have the formats that were asked for when it was judged, perhaps by an earlier call.
    std::vector<std::string> formats_of(const claims::Claim& claim) const;
    record::Seal seal(const claims::Claim& claim) const { return folder_.seal("claim " + claim.id); }
    std::string resume_command_;
    report::Sheet sheet_;
    record::Folder folder_;
};

}  // namespace flyball::cli
