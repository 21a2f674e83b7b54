// Measured numbers beside predicted ones: keeps the pair that agrees least, which is what a claim shows.
#pragma once

#include <cstddef>

namespace flyball::claims {

class Comparison {
  public:
    // Differences are counted as they are, or as a share of the prediction. A NaN on either side never agrees.
    static Comparison absolute(double tolerance) { return {tolerance, false}; }
    static Comparison relative(double tolerance) { return {tolerance, true}; }

    void see(double measured, double predicted);

    bool agrees() const { return count_ > 0 && off_ < tolerance_; }
    double off() const { return off_; }              // the largest difference; infinite after a NaN
    double measured() const { return measured_; }    // where that was
    double predicted() const { return predicted_; }  //
    double tolerance() const { return tolerance_; }
    std::size_t count() const { return count_; }

  private:
    Comparison(double tolerance, bool relative) : tolerance_(tolerance), relative_(relative) {}

    double tolerance_;
    bool relative_;
    double off_ = 0;
    double measured_ = 0;
    double predicted_ = 0;
    std::size_t count_ = 0;
};

}  // namespace flyball::claims
