#include "cli/schemes_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/terminal.hpp"
#include "report/text.hpp"
#include "scheme/document.hpp"
#include "scheme/limit.hpp"
#include "scheme/normaliser.hpp"
#include "scheme/own_equation.hpp"

namespace flyball::cli {

using scheme::CatalogueEntry;
using scheme::Scheme;

namespace {

// Breaks long text, after ';' or ',' or before '|' or 'where' if there is one, else at a space; later lines are
// indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
    std::string result;
    while (text.size() > width) {
        const std::string_view head = text.substr(0, width + 1);
        std::size_t cut = std::string_view::npos;
        for (const auto& [mark, offset] : {std::pair{"; ", 1}, {", ", 1}, {" | ", 0}, {" where ", 0}}) {
            const std::size_t found = head.rfind(mark);
            if (found != std::string_view::npos &&
                (cut == std::string_view::npos || found + static_cast<std::size_t>(offset) > cut)) {
                cut = found + static_cast<std::size_t>(offset);
            }
        }
        if (cut == std::string_view::npos || cut < width / 3) {
            cut = text.rfind(' ', width);
        }
        if (cut == std::string_view::npos || cut == 0) {
            break;
        }
        result += std::string(text.substr(0, cut)) + "\n" + std::string(indent, ' ');
        text.remove_prefix(cut + 1);
    }
    return result + std::string(text);
}

std::string_view yes_no(bool yes) {
    return yes ? "yes" : "no";
}

bool has_limit(const Scheme& scheme) {
    return !scheme::limit_problem(scheme.program, scheme::SubLayers::attention_only).has_value();
}
bool has_law(const Scheme& scheme) {
    return !scheme::reduced_law_problem(scheme.program).has_value();
}

std::string streams_of(const scheme::Program& program) {
    std::string text;
    for (std::size_t i = 0; i < program.stream_count(); ++i) {
        text += (i == 0 ? "" : ", ") + program.stream_name(i);
    }
    return text;
}

}  // namespace

std::string schemes_table(const std::vector<Scheme>& schemes) {
    std::size_t width = 0;
    for (const Scheme& scheme : schemes) {
        width = std::max(width, scheme.name.size());
    }
    const std::size_t columns = output_columns();
    std::string text = fmt::format("{:<{}}  {:<3}  {:<3}  equation\n", "scheme", width, "ODE", "law");
    for (const Scheme& scheme : schemes) {
        const std::string start = fmt::format("{:<{}}  {:<3}  {:<3}  ", scheme.name, width, yes_no(has_limit(scheme)),
                                              yes_no(has_law(scheme)));
        text += start + wrapped(scheme.program.text(), columns - start.size() - 2, start.size() + 2) + "\n";
    }
    std::vector<std::string_view> norms;
    for (const scheme::Normaliser& row : scheme::normalisers()) {
        norms.push_back(row.name);
    }
    return text + "\n" +
           report::text_lines(
               "ODE: the limit dt -> 0 exists. law: two numbers, an angle and a radius, describe a symmetric start.",
               columns) +
           report::text_lines(fmt::format("norms that a model can bind to norm: {}", fmt::join(norms, " ")), columns) +
           report::text_lines(
               "more: flyball schemes NAME, or flyball schemes --equation 'x + dt*f(norm(x))' for your own", columns);
}

std::string scheme_details(const Scheme& scheme) {
    std::string text;
    const auto line = [&](std::string_view label, std::string_view value) {
        if (!value.empty()) {
            text += fmt::format("  {:<16}{}\n", label, wrapped(value, output_columns() - 18, 18));
        }
    };
    const CatalogueEntry* entry = scheme.entry;
    if (entry != nullptr) {
        text += fmt::format("{}: {}\n", scheme.name, entry->title);
    } else {
        const bool has_name = scheme.named || scheme.name != "equation";  // "equation-2" tells it from the others
        text += has_name ? scheme.name + ": an equation of your own\n" : "equation of your own\n";
    }
    line("equation", scheme.program.text());
    line("readout", scheme.program.readout_text());
    line("streams", streams_of(scheme.program));
    const auto no_limit = scheme::limit_problem(scheme.program, scheme::SubLayers::attention_only);
    const auto no_limit_ffn = scheme::limit_problem(scheme.program, scheme::SubLayers::attention_and_ffn);
    line("ODE limit", no_limit ? "no: " + *no_limit : "yes");
    if (no_limit.has_value() != no_limit_ffn.has_value()) {
        line("  with an FFN", no_limit_ffn ? "no: " + *no_limit_ffn : "yes");
    }
    const auto no_law = scheme::reduced_law_problem(scheme.program);
    line("reduced law", no_limit ? "no: it needs the ODE limit" : no_law ? "no: " + *no_law : "yes");
    for (const scheme::ParameterSyntax& parameter : scheme.program.syntax().parameters) {
        line("parameter",
             fmt::format("{}   {}", scheme::print(parameter), scheme::parameter_help(scheme, parameter.name)));
    }
    if (entry != nullptr) {
        line("reference", entry->reference);
        line("remark", entry->remark);
        line("initialisation", scheme::describe(entry->recipe.initialisation));
        line("attributes", scheme::describe_attributes(entry->recipe));
        line("also called", fmt::format("{}", fmt::join(entry->aliases, ", ")));
        line("models", fmt::format("{}", fmt::join(entry->models, ", ")));
    }
    return text;
}

std::string schemes_markdown(const std::vector<Scheme>& schemes) {
    std::string text =
        "# Schemes\n\n"
        "Written by `flyball schemes --markdown`; do not edit. The language is described in "
        "[equation.md](equation.md).\n\n"
        "| scheme | equation | ODE limit | reduced law |\n|---|---|---|---|\n";
    const auto in_table = [](std::string value) {
        for (std::size_t at = value.find('|'); at != std::string::npos; at = value.find('|', at + 2)) {
            value.replace(at, 1, "\\|");
        }
        return value;
    };
    for (const Scheme& scheme : schemes) {
        text += fmt::format("| [{0}](#{0}) | `{1}` | {2} | {3} |\n", scheme.name, in_table(scheme.program.text()),
                            yes_no(has_limit(scheme)), yes_no(has_law(scheme)));
    }
    for (const Scheme& scheme : schemes) {
        const CatalogueEntry& entry = *scheme.entry;
        text += fmt::format("\n## {}\n\n{}: {}.\n\n    {}\n\n", scheme.name, entry.title, entry.remark,
                            scheme.program.text());
        for (const scheme::ParameterSyntax& parameter : scheme.program.syntax().parameters) {
            text += fmt::format("* parameter `{}`: {}\n", scheme::print(parameter),
                                scheme::parameter_help(scheme, parameter.name));
        }
        if (const auto problem = scheme::reduced_law_problem(scheme.program)) {
            text += fmt::format("* no reduced law: `{}`\n", *problem);
        }
        if (!entry.aliases.empty()) {
            text += fmt::format("* also called `{}`\n", fmt::join(entry.aliases, "`, `"));
        }
        if (!entry.models.empty()) {
            text += fmt::format("* models wired so: {}\n", fmt::join(entry.models, ", "));
        }
        if (const std::string attributes = scheme::describe_attributes(entry.recipe); !attributes.empty()) {
            text += fmt::format("* beside the equation: {}\n", attributes);
        }
        text += fmt::format("* initialisation: {}\n* reference: {}\n", scheme::describe(entry.recipe.initialisation),
                            entry.reference);
    }
    text +=
        "\n## Norms\n\nWhat `norm` can be in a model; particles use `unit`.\n\n| norm | formula | eps | reference "
        "|\n|---|---|---|---|\n";
    for (const scheme::Normaliser& row : scheme::normalisers()) {
        text += fmt::format("| {} | `{}` | {} | {} |\n", row.name, in_table(std::string(row.formula)), row.eps,
                            row.reference);
    }
    text += "\n## What the language cannot express\n\n| proposal | reason | reference |\n|---|---|---|\n";
    for (const scheme::NotExpressible& row : scheme::not_expressible()) {
        text += fmt::format("| {} | {} | {} |\n", row.name, row.reason, row.reference);
    }
    return text;
}

}  // namespace flyball::cli
