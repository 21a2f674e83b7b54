#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_symmetric_claims() {
    return {};
}

}  // namespace flyball::claims
