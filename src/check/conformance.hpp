// Is the block that ran the block that was meant? An equation beside tensors saved by somebody else's code.
//
// The verdict comes from one reading of the run (conformance_reading.hpp). Where it differs, the findings say which
// term, in which blocks and by how much, and which one mistake would explain it: the run is read again under each
// hypothesis of conformance_explain.cpp, and whichever makes it conform is named. `nearest` is the catalogue's equation
// with the smallest error, whatever was asked.
#pragma once

#include <string>
#include <vector>

#include "check/conformance_reading.hpp"
#include "core/json.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::check {

struct ConformanceFinding {
    enum class Severity { difference, explanation, note };
    std::string id;
    Severity severity = Severity::difference;
    std::string message;
    Json evidence = Json::object();
};
const char* name(ConformanceFinding::Severity severity) noexcept;

struct NearestScheme {
    std::string scheme;
    std::string equation;  // the catalogue's, with one number changed where that fits better
    double error = 0;
    bool conforms = false;
    bool changed = false;
};

struct Conformance {
    std::string equation;
    bool conforms = false;
    Reading reading;
    std::vector<ConformanceFinding> findings;
    NearestScheme nearest;
    std::size_t rows = 0;
    std::size_t file_rows = 0;
    std::size_t dim = 0;
    std::string norm;
    double eps = 0;
    double dt = 1;
    double roundoff = 0;  // the largest of a stream
    std::string stored;   // "BF16"
};

// Throws where the equation and the run cannot be compared (an equation that calls attention twice in a block).
Conformance conformance(const scheme::Scheme& scheme, const RunFile& run);

// The contract's document.
Json document(const Conformance& result);

}  // namespace flyball::check
