#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "claims/claim.hpp"
#include "claims/groups.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace flyball::claims {

std::vector<std::string> ledger_groups() {
    return {"dynamics"};
}

std::vector<Claim> ledger(std::string_view group) {
    if (group != "all" && group != "dynamics") {
        std::vector<std::string> groups = ledger_groups();
        groups.emplace_back("all");
        const std::string near = nearest(group, groups);
        throw Error(ErrorKind::usage, "claims.ledger", fmt::format("the unknown group {}", flyball::quoted(group)),
                    fmt::format("one of {}", fmt::join(groups, ", ")),
                    near.empty() ? "" : fmt::format("did you mean {}?", near));
    }
    std::vector<Claim> claims;
    for (const auto theme :
         {dynamics_table_claims, dynamics_sync_claims, dynamics_energy_claims, dynamics_symmetric_claims,
          dynamics_terminal_claims, dynamics_start_claims, dynamics_cone_claims, dynamics_random_claims,
          dynamics_headline_claims, dynamics_clock_claims, dynamics_findings_claims, dynamics_output_norm_claims,
          dynamics_sublayers_claims}) {
        std::vector<Claim> part = theme();
        claims.insert(claims.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    // What the paper says first, what we found after it.
    std::stable_partition(claims.begin(), claims.end(), [](const Claim& claim) { return claim.source != "finding"; });
    return claims;
}

}  // namespace flyball::claims
