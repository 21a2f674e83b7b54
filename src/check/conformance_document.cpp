#include "check/conformance.hpp"

namespace flyball::check {

namespace {

Json block_json(std::size_t l, const BlockReading& block) {
    Json one = Json::object();
    one["block"] = l;
    one["error"] = block.error();
    one["where"] = name(block.where());
    one["tolerance"] = block.at(block.where()).tolerance;
    one["conforms"] = block.conforms();
    Json errors = Json::object();
    for (const Place place : {Place::attention_in, Place::ffn_in, Place::resid}) {
        if (block.at(place).checked) {
            errors[name(place)] = block.at(place).error;
        }
    }
    one["errors"] = std::move(errors);
    return one;
}

}  // namespace

Json document(const Conformance& result) {
    Json json = Json::object();
    json["equation"] = result.equation;
    json["verdict"] = result.conforms ? "conforms" : "differs";
    json["blocks"] = Json::array();
    for (std::size_t l = 0; l < result.reading.blocks.size(); ++l) {
        json["blocks"].push_back(block_json(l, result.reading.blocks[l]));
    }
    json["readout"] = Json::object();
    json["readout"]["error"] = result.reading.readout.error;
    json["readout"]["tolerance"] = result.reading.readout.tolerance;
    json["readout"]["conforms"] = result.reading.readout.conforms();
    json["findings"] = Json::array();
    for (const ConformanceFinding& finding : result.findings) {
        Json one = Json::object();
        one["id"] = finding.id;
        one["severity"] = name(finding.severity);
        one["message"] = finding.message;
        one["evidence"] = finding.evidence;
        json["findings"].push_back(std::move(one));
    }
    json["nearest"] = Json::object();
    json["nearest"]["scheme"] = result.nearest.scheme;
    json["nearest"]["error"] = result.nearest.error;
    json["nearest"]["equation"] = result.nearest.equation;
    json["nearest"]["conforms"] = result.nearest.conforms;
    json["run"] = Json::object();
    json["run"]["rows"] = result.file_rows;
    json["run"]["rows_read"] = result.rows;
    json["run"]["dim"] = result.dim;
    json["run"]["stored"] = result.stored;
    json["run"]["roundoff"] = result.roundoff;
    json["run"]["norm"] = result.norm;
    json["run"]["eps"] = result.eps;
    json["run"]["dt"] = result.dt;
    return json;
}

}  // namespace flyball::check
