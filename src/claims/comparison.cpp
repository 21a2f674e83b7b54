#include "claims/comparison.hpp"

#include <cmath>

namespace flyball::claims {

void Comparison::see(double measured, double predicted) {
    double off = std::abs(measured - predicted);
    if (relative_) {
        off /= std::abs(predicted);
    }
    if (!std::isfinite(off)) {
        off = HUGE_VAL;
    }
    if (count_ == 0 || off > off_) {
        off_ = off;
        measured_ = measured;
        predicted_ = predicted;
    }
    ++count_;
}

}  // namespace flyball::claims
