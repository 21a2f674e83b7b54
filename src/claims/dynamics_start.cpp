#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_start_claims() {
    return {};
}

}  // namespace flyball::claims
