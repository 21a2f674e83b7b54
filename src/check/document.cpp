#include "check/document.hpp"

#include "check/advice.hpp"

namespace flyball::check {

namespace {

Json curve_json(const DepthCurve& curve) {
    Json json = Json::object();
    json["depth"] = curve.depth;
    json["stream"] = curve.stream;
    json["gradient"] = curve.gradient;
    json["memory"] = curve.memory;
    return json;
}

Json run_json(const ShortRun& run) {
    Json json = Json::object();
    json["scheme"] = run.scheme;
    json["depth"] = run.depth;
    json["outcome"] = train::name(run.outcome);
    json["steps"] = run.losses.size();
    json["first"] = run.first;
    json["last"] = run.last;
    return json;
}

Json block_json(const BlockReport& block, const PreflightReport& report) {
    Json json = Json::object();
    json["scheme"] = block.block.scheme.name;
    json["equation"] = block.block.scheme.program.text();
    json["verdict"] = name(block.verdict);
    json["growth"] = block.growth();
    json["bound"] = block.beginning.bound.name();
    json["suggested_dt"] = block.suggested_dt ? Json(*block.suggested_dt) : Json(nullptr);
    json["findings"] = Json::array();
    for (const Finding& finding : block.findings) {
        json["findings"].push_back(to_json(finding));
    }
    Json sizes = Json::object();
    for (const SettingField& field : setting_fields()) {
        if (const auto text = field.text(block.block.settings)) {
            sizes[field.key] = *text;
        }
    }
    json["settings"] = std::move(sizes);
    json["growth_words"] = growth_words(block);
    json["worst_case"] = block.beginning.bound.document();
    json["dynamics"] = block.motion.document();
    json["beginning"] = Json::array();
    for (const DepthCurve& curve : block.beginning.curves) {
        json["beginning"].push_back(curve_json(curve));
    }
    json["training"] = Json::array();
    for (const ShortRun& run : block.runs) {
        json["training"].push_back(run_json(run));
    }
    json["yardsticks"] = Json::array();
    for (const BlockReport& yardstick : report.yardsticks) {
        for (const ShortRun& run : yardstick.runs) {
            json["yardsticks"].push_back(run_json(run));
        }
    }
    json["advice"] = advice(block, report);
    return json;
}

}  // namespace

Json document(const PreflightReport& report) {
    if (report.blocks.size() == 1) {
        return block_json(report.blocks.front(), report);
    }
    Json json = Json::object();
    json["checks"] = Json::array();
    for (const BlockReport& block : report.blocks) {
        json["checks"].push_back(block_json(block, report));
    }
    json["difference"] = difference(report.blocks[0], report.blocks[1]);
    return json;
}

}  // namespace flyball::check
