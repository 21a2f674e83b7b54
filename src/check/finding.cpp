#include "check/finding.hpp"

#include <algorithm>

#include "core/unreachable.hpp"

namespace flyball::check {

const char* name(Severity severity) noexcept {
    switch (severity) {
        case Severity::note:
            return "note";
        case Severity::caution:
            return "caution";
        case Severity::unstable:
            return "unstable";
        case Severity::malformed:
            return "malformed";
    }
    unreachable();
}

const char* name(Verdict verdict) noexcept {
    switch (verdict) {
        case Verdict::stable:
            return "stable";
        case Verdict::caution:
            return "caution";
        case Verdict::unstable:
            return "unstable";
        case Verdict::malformed:
            return "malformed";
    }
    unreachable();
}

Verdict verdict_of(const std::vector<Finding>& findings) {
    Severity gravest = Severity::note;
    for (const Finding& finding : findings) {
        gravest = std::max(gravest, finding.severity);
    }
    switch (gravest) {
        case Severity::note:
            return Verdict::stable;
        case Severity::caution:
            return Verdict::caution;
        case Severity::unstable:
            return Verdict::unstable;
        case Severity::malformed:
            return Verdict::malformed;
    }
    unreachable();
}

Json to_json(const Finding& finding) {
    Json json = Json::object();
    json["id"] = finding.id;
    json["severity"] = name(finding.severity);
    json["message"] = finding.message;
    json["evidence"] = finding.evidence;
    json["value"] = finding.value;
    return json;
}

}  // namespace flyball::check
