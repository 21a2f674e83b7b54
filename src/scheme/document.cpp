#include "scheme/document.hpp"

#include "scheme/limit.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::scheme {

std::string_view parameter_help(const Scheme& scheme, std::string_view parameter) {
    if (scheme.entry != nullptr) {
        for (const ParameterHelp& row : scheme.entry->parameters) {
            if (row.name == parameter) {
                return row.help;
            }
        }
    }
    return "";
}

Json document(const std::vector<Scheme>& schemes) {
    Json list = Json::array();
    for (const Scheme& scheme : schemes) {
        Json parameters = Json::array();
        for (const ParameterSyntax& parameter : scheme.program.syntax().parameters) {
            parameters.push_back({{"name", parameter.name},
                                  {"default", print(*parameter.value)},
                                  {"learned", parameter.learned},
                                  {"help", parameter_help(scheme, parameter.name)}});
        }
        const CatalogueEntry* entry = scheme.entry;
        list.push_back({{"name", scheme.name},
                        {"title", entry == nullptr ? "" : entry->title},
                        {"equation", scheme.program.text()},
                        {"readout", scheme.program.readout_text()},
                        {"parameters", parameters},
                        {"reference", entry == nullptr ? "" : entry->reference},
                        {"ode", !limit_problem(scheme.program, SubLayers::attention_only).has_value()},
                        {"plane", !reduced_law_problem(scheme.program).has_value()},
                        {"remark", entry == nullptr ? "" : entry->remark},
                        {"initialisation", entry == nullptr ? "" : describe(entry->recipe.initialisation)},
                        {"attributes", entry == nullptr ? "" : describe_attributes(entry->recipe)},
                        {"aliases", entry == nullptr ? std::vector<std::string_view>{} : entry->aliases},
                        {"models", entry == nullptr ? std::vector<std::string_view>{} : entry->models},
                        {"colour", look_of(scheme).colour},
                        {"dash", look_of(scheme).dash}});
    }
    return list;
}

}  // namespace flyball::scheme
