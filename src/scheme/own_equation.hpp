// Equations of one's own beside the schemes of the catalogue: their names, how they look, and what tells them apart.
//
// "NAME=TEXT" names an equation; without a name it is called "equation", or "equation-1", "equation-2" where there are
// several. A statement looks much the same as a name, but no text can be both: with one statement an equation has to
// assign x, so that any other word before the = is a name; with several, a name is followed by a statement.
//
//     mine=norm(x + dt*f(x))                     named mine
//     x = norm(x + dt*f(x))                      no name: a statement
//     o = f(x); x = norm(x + dt*o)               no name: two statements
//     mine=o = f(x); x = norm(x + dt*o)          named mine
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheme/catalogue.hpp"

namespace flyball::scheme {

// Name (empty: none) and equation.
std::pair<std::string, std::string> split_name(std::string_view text);

// Whether a text that stands where a scheme may stand is an equation: it has what no "NAME" or "NAME:k=v" has.
bool looks_like_equation(std::string_view text);

// "TEXT" or "NAME=TEXT", numbered 1. The name must not be one of the catalogue.
Scheme scheme_of_equation(std::string_view equation);

// The entry of the catalogue whose equation this is, as listed or as it is trained; null for none.
const CatalogueEntry* entry_of_equation(std::string_view equation);

// The schemes of one command, in order: `schemes` are names of the catalogue or equations, `equations` equations only.
// Equations are numbered and named, each differently; an Error where a name is taken or is the catalogue's.
std::vector<Scheme> find_schemes(const std::vector<std::string>& schemes, const std::vector<std::string>& equations);

// The flags that choose these schemes again, in this order: "scheme" and "equation" with their values.
std::vector<std::pair<std::string, std::vector<std::string>>> scheme_flags(const std::vector<Scheme>& schemes);

// What to write beside a line of a figure: the name; for equations without one their text, and where there are several
// the part of it in which they differ. Never two alike, unless two schemes are the same.
std::vector<std::string> labels_of(const std::vector<Scheme>& schemes);

// The one colour and dash of a scheme's lines: as the catalogue says, or, for equations of one's own, from colours
// that no scheme of the catalogue has.
struct Look {
    std::string_view colour;
    std::string_view dash;
};
Look look_of(const Scheme& scheme);

// The looks of equations 1, 2, ..; after that many they repeat.
inline constexpr std::size_t own_looks = 24;
Look own_look(std::size_t number);

}  // namespace flyball::scheme
