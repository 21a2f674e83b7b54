#include "cli/check_against.hpp"

#include <fmt/format.h>

#include "check/conformance.hpp"
#include "core/json.hpp"

namespace flyball::cli {

namespace {

std::string error_cell(const check::PlaceReading& place) {
    return place.checked ? fmt::format("{:.1e}{}", place.error, place.conforms() ? "  " : " *") : "-  ";
}

std::string against_text(const check::Conformance& result, const std::string& file) {
    std::string out = fmt::format(
        "equation  {}\nrun       {}: {} blocks, {} rows of {}, {}, {} with eps {:.3g}, dt {:.3g}\n\n", result.equation,
        file, result.reading.blocks.size(), result.rows, result.dim, result.stored, result.norm, result.eps, result.dt);
    out += fmt::format("{:>7}{:>10}{:>12}{:>12}{:>13}\n", "block", "attn.in", "ffn.in", "resid", "tolerance");
    for (std::size_t l = 0; l < result.reading.blocks.size(); ++l) {
        const check::BlockReading& block = result.reading.blocks[l];
        out += fmt::format("{:>7}{:>12}{:>12}{:>12}{:>11.1e}\n", l, error_cell(block.at(check::Place::attention_in)),
                           error_cell(block.at(check::Place::ffn_in)), error_cell(block.at(check::Place::resid)),
                           block.at(block.where()).tolerance);
    }
    out += fmt::format("{:>7}{:>36}{:>11.1e}\n\n", "readout", error_cell(result.reading.readout),
                       result.reading.readout.tolerance);
    out +=
        "Errors of inputs and readout are shares of their size, those of resid shares of what the sub-layers add;\n"
        "* is more than rounding explains (the tolerance is that of the largest or the first wrong place).\n\n";
    for (const auto severity :
         {check::ConformanceFinding::Severity::difference, check::ConformanceFinding::Severity::explanation,
          check::ConformanceFinding::Severity::note}) {
        for (const check::ConformanceFinding& finding : result.findings) {
            if (finding.severity == severity) {
                out += fmt::format("{:<13}{}\n", fmt::format("{}:", name(severity)), finding.message);
            }
        }
    }
    out += fmt::format("\nverdict: {}", result.conforms ? "conforms" : "differs");
    out += fmt::format("; nearest in the catalogue: {} (error {:.1e})\n", result.nearest.scheme, result.nearest.error);
    return out;
}

}  // namespace

ExitCode run_check_against(const scheme::Scheme& scheme, const std::string& file, const Common& common) {
    const check::Conformance result = check::conformance(scheme, check::read_run(SafeTensors::open(file)));
    print_out(common.json ? dump_json(check::document(result), 2) + "\n" : against_text(result, file));
    return result.conforms ? ExitCode::done : ExitCode::bad_verdict;
}

}  // namespace flyball::cli
