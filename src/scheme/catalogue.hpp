// The built-in schemes, as data. Nothing else in Flyball knows their names: tests, help, docs and figures walk this
// table.
//
// Whether a scheme has an ODE limit and a reduced law is not listed but derived from its equation (limit.hpp).
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "scheme/program.hpp"
#include "scheme/recipe.hpp"

namespace flyball::scheme {

struct ParameterHelp {
    std::string_view name;
    std::string_view help;
    // What a constant may be; values that change with depth are not looked at.
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
};

struct CatalogueEntry {
    std::string_view name;
    std::string_view title;
    std::string_view equation;  // canonical, with readout and parameters
    std::string_view reference;
    std::string_view remark;
    Recipe recipe = {};  // how it is started and trained, what the text cannot say
    std::vector<ParameterHelp> parameters = {};
    std::vector<std::string_view> aliases = {};  // other names of the same scheme, understood wherever its name is
    // Published models whose blocks are wired so. Not names of the scheme, for a model is more than its equation: who
    // asks for one is told the scheme. With their versions, because families change: GPT-1 is Post-LN, GPT-2 is not.
    std::vector<std::string_view> models = {};
    std::string_view colour = {};  // of its lines in figures
    std::string_view dash = {};    // SVG stroke-dasharray; empty: solid
};
const std::vector<CatalogueEntry>& catalogue();

// Proposals of the literature that are not a residual block's equation, and why.
struct NotExpressible {
    std::string_view name;
    std::string_view reason;
    std::string_view reference;
};
const std::vector<NotExpressible>& not_expressible();

// By name, title or alias, however they are spelled (scheme_names.hpp); null for none.
const CatalogueEntry* find_entry(std::string_view name);

// What a command line names: "peri-ln", "Peri-LN", "ngpt:alpha=1/(1+t)". Throws with the nearest name, the scheme of a
// model that is asked for, or why there is none.
struct Scheme {
    std::string name;  // the catalogue's, with the settings as the user wrote them; of an equation without a name
                       // "equation", or "equation-2" among several
    Program program;
    const CatalogueEntry* entry = nullptr;  // null for an equation of one's own
    bool named = true;                      // false: the name is ours
    std::size_t own = 0;                    // which of the equations of one's own, from 1; 0 for the catalogue's
};
// Of the catalogue, or the usual one for an equation of one's own.
const Recipe& recipe_of(const Scheme& scheme);
Scheme find_scheme(std::string_view name_and_settings);

}  // namespace flyball::scheme
