#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_random_claims() {
    return {};
}

}  // namespace flyball::claims
