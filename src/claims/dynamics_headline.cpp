#include "claims/groups.hpp"

namespace flyball::claims {

std::vector<Claim> dynamics_headline_claims() {
    return {};
}

}  // namespace flyball::claims
