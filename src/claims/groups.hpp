// The ledger: the claims of every paper, a group each.
//
// A group is data. A second paper adds one here, with its themes; the command, the page docs/claims.md, the list and
// the tests walk `groups()`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "claims/claim.hpp"

namespace flyball::claims {

using Theme = std::function<std::vector<Claim>()>;

struct Group {
    std::string name;  // as `flyball reproduce NAME` calls it; the ids of its claims begin with it
    std::string head;  // of its part of the page, in Markdown: a title of the second level, and who says all this
    std::vector<Theme> themes;     // in the order of the paper; their claims are concatenated
    std::vector<Need> needs = {};  // of every claim of the group
};

const std::vector<Group>& groups();

// The claims of one group: those of the paper first, our findings ("finding" is their source) after them.
std::vector<Claim> claims_of(const Group& group);

// The groups that a user names: one, or all for "all". Error(usage) for an unknown name.
std::vector<Group> chosen_groups(const std::vector<Group>& among, std::string_view name);

// All claims of a group of the ledger, or of all groups, one after the other.
std::vector<Claim> ledger(std::string_view group = "all");

}  // namespace flyball::claims
