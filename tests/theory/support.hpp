// What the theory tests share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "core/file.hpp"
#include "core/json.hpp"
#include "places.hpp"
#include "scheme/catalogue.hpp"
#include "theory/theory.hpp"

namespace flyball::theory::test {

inline scheme::Program named(const std::string& name) {
    return scheme::find_scheme(name).program;
}
inline scheme::Program equation(const std::string& text) {
    return scheme::Program::parse(text);
}

inline Settings with(double tokens, double beta, double r0 = 1) {
    Settings settings;
    settings.tokens = tokens;
    settings.betas = {beta};
    settings.r0 = r0;
    return settings;
}

inline Point at(const scheme::Program& program, const Settings& settings, double t) {
    return solve(program, settings, {t}).front();
}

// Made by golden/make_laws.py, which shares nothing with this code.
inline Json golden() {
    const std::string path = std::string(flyball::test::source_folder) + "/tests/theory/golden/laws.json";
    return parse_json(read_text_file(path, 1 << 22), path);
}

}  // namespace flyball::theory::test
