#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_clock_claims() {
    return {};
}

}  // namespace flyball::claims
