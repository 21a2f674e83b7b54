#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_cone_claims() {
    return {};
}

}  // namespace flyball::claims
