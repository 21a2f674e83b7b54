#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_findings_claims() {
    return {};
}

}  // namespace flyball::claims
