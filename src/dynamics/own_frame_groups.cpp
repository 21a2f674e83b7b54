// Tokens that have merged, in their own frames: how they pull at each other and how they move as one direction.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dynamics/own_frame.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

using measure::length;
using scheme::Environment;
using scheme::State;

// theta'_j = answers_j across_j: the 1/s_j of the scheme, found by asking with a vector of the same length.
void OwnFrame::find_answers(const Environment& env) {
    if (heard_.empty()) {
        answers_.assign(rows_, 0.0);
        return;
    }
    const std::vector<Values> kept = slopes_;
    evaluate(env, Answer::probe);
    answers_.resize(rows_);
    Values turn;
    turn_of(turn);
    const Values& last = heard_.back();
    for (std::size_t row = 0; row < rows_; ++row) {
        const double asked = std::max(length(last.data() + row * (dim_ + 1) + 1, dim_), least_probe);
        answers_[row] = std::fabs(turn[row * dim_]) / asked;
    }
    slopes_ = kept;
}

// Tokens of one direction turn each other by w_jk c_k (theta_k - theta_j)/s_j. With w_jk = S_jk/D_j and S symmetric,
// the weights l_j = s_j D_j c_j make these forces cancel in pairs, l_j w_jk c_k/s_j = c_j S_jk c_k: what remains is the
// motion of the group,
//
//     theta' = sum_j l_j theta'_j / sum_j l_j.
//
// Under the causal mask forces have no opposite: the first token of a group turns by itself and the others follow it.
// So they do where the equation does not ask f at all, or asks it about other vectors than multiples of x.
void OwnFrame::share(const std::vector<std::size_t>& leader, Values& turn) const {
    const bool led = causal_ || heard_.empty() || !exact_;
    Values top(rows_, -std::numeric_limits<double>::infinity());
    Values weight(rows_, 0.0);
    Values sum(rows_ * dim_, 0.0);
    for (std::size_t row = 0; row < rows_ && !led; ++row) {
        top[leader[row]] = std::max(top[leader[row]], log_divisor_[row]);
    }
    for (std::size_t row = 0; row < rows_; ++row) {
        const std::size_t first = leader[row];
        if (led ? first != row : answers_[row] == 0) {
            continue;
        }
        const double l = led ? 1 : std::exp(log_divisor_[row] - top[first]) * std::fabs(scale_[row]) / answers_[row];
        weight[first] += l;
        for (std::size_t c = 0; c < dim_; ++c) {
            sum[first * dim_ + c] += l * turn[row * dim_ + c];
        }
    }
    for (std::size_t row = 0; row < rows_; ++row) {
        const std::size_t first = leader[row];
        for (std::size_t c = 0; c < dim_; ++c) {
            turn[row * dim_ + c] = weight[first] == 0 ? 0 : sum[first * dim_ + c] / weight[first];
        }
    }
}

void OwnFrame::motion(const Environment& env, const State<double>& state, const std::vector<std::size_t>& leader,
                      const std::vector<std::size_t>& group, Motion& motion) {
    load(env, state, leader);
    group_ = group;
    evaluate(env, Answer::whole);
    group_.clear();
    motion.theta = theta_;
    turn_of(motion.turn);
    motion.rate.assign(rows_, 0.0);
    if (exact_ && !heard_.empty()) {
        find_answers(env);
        for (std::size_t row = 0; row < rows_; ++row) {
            motion.rate[row] = answers_[row] * tie_[row];
        }
    }
}

}  // namespace flyball::dynamics
