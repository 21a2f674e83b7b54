#include "claims/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "claims/dynamics.hpp"
#include "claims/limits.hpp"
#include "claims/stability.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::claims {

const std::vector<Group>& groups() {
    static const std::vector<Group> all = {dynamics_group(), limits_group(), stability_group()};
    return all;
}

std::vector<Claim> claims_of(const Group& group) {
    std::vector<Claim> claims;
    for (const Theme& theme : group.themes) {
        std::vector<Claim> part = theme();
        std::move(part.begin(), part.end(), std::back_inserter(claims));
    }
    for (Claim& claim : claims) {
        claim.needs.insert(claim.needs.begin(), group.needs.begin(), group.needs.end());
    }
    std::stable_partition(claims.begin(), claims.end(), [](const Claim& claim) { return claim.source != "finding"; });
    return claims;
}

std::vector<Group> chosen_groups(const std::vector<Group>& among, std::string_view name) {
    if (name == "all") {
        return among;
    }
    std::vector<std::string> names;
    for (const Group& group : among) {
        if (group.name == name) {
            return {group};
        }
        names.push_back(group.name);
    }
    names.emplace_back("all");
    const std::string near = nearest(name, names);
    throw Error(ErrorKind::usage, "claims.ledger", fmt::format("the unknown group {}", flyball::quoted(name)),
                fmt::format("one of {}", fmt::join(names, ", ")),
                near.empty() ? "" : fmt::format("did you mean {}?", near));
}

std::vector<Claim> ledger(std::string_view name) {
    std::vector<Claim> claims;
    for (const Group& group : chosen_groups(groups(), name)) {
        std::vector<Claim> part = claims_of(group);
        std::move(part.begin(), part.end(), std::back_inserter(claims));
    }
    return claims;
}

}  // namespace flyball::claims
