// What `flyball reproduce` shows: JSON, the terminal, Markdown, and a folder of files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "claims/claim.hpp"
#include "core/config.hpp"
#include "core/json.hpp"
#include "record/folder.hpp"

namespace flyball::cli {

struct Reproduced {
    claims::Claim claim;
    claims::Measurement measurement;
    std::vector<std::string> pictures;  // names of figures that were written
    double seconds = 0;

    std::string note() const;  // the ledger's and the experiment's
    bool as_recorded() const { return measurement.verdict == claim.expected; }
};

Json reproduce_json(const std::vector<Reproduced>& results);

// A table by source; with few claims everything about each.
std::string reproduce_text(const std::vector<Reproduced>& results);
std::string reproduce_summary(const std::vector<Reproduced>& results);

// The ledger without measurements: ids for the terminal, and the page docs/claims.md.
std::string ledger_list(const std::vector<claims::Claim>& claims);
std::string ledger_page(const std::vector<claims::Claim>& claims);

// --out DIR.
//
//     config.toml provenance.json claims.json claims.md claims.csv, figures as SVG and CSV
//     work/         one file a finished claim while others run; removed at the end
//
// Several threads may store different claims at the same time.
class ReproduceFolder {
  public:
    ReproduceFolder(std::filesystem::path path, record::FolderUse use, const std::vector<ConfigEntry>& configuration,
                    std::string resume_command);

    // What an earlier run of the same program and settings stored for this claim, or nothing.
    std::optional<Reproduced> load(const claims::Claim& claim) const;
    // Figures first, then the result, so that what is stored is complete.
    void store(Reproduced& result) const;

    void write(const std::vector<Reproduced>& results, std::uint64_t seed);

    // Taken up, and nothing was left to do.
    bool finished() const { return folder_.finished(); }
    bool stored_verdicts_are_recorded(const std::vector<claims::Claim>& ledger) const;
    const std::filesystem::path& path() const { return folder_.path(); }
    const std::string& resume_command() const { return resume_command_; }

  private:
    std::filesystem::path stored(const claims::Claim& claim) const;
    record::Seal seal(const claims::Claim& claim) const { return folder_.seal("claim " + claim.id); }
    std::string resume_command_;
    record::Folder folder_;
};

}  // namespace flyball::cli
