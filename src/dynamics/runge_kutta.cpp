// One engine for all tables: stages, error, step control, dense output. Vectors are combined slope by slope in pieces
// that stay in the first-level cache.
#include "dynamics/runge_kutta.hpp"

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"

namespace flyball::dynamics {

namespace {

constexpr std::size_t numbers_per_slot = 1 << 14;
constexpr std::size_t most_slots = 32;
constexpr std::size_t chunk = 1024;  // numbers that stay in the first-level cache while slopes are added to them

// The controller: h <- h (safety err^(-1/order)), within limits. Hairer's choices for this method, without the memory
// of earlier errors: StepState is all there is to carry.
constexpr double safety = 0.9;
constexpr double least_factor = 0.2;
constexpr double most_factor = 6;
constexpr int most_rejections = 50;
// What the ends of steps may use of the tolerance. Inside a step the interpolant, of one order less, is 10 to 40 times
// as wrong; with this share samples stay within ten tolerances (docs/decisions/0014).
constexpr double share_of_ends = 0.25;

std::size_t slots_of(std::size_t numbers) {
    return std::clamp<std::size_t>(numbers / numbers_per_slot, 1, most_slots);
}

struct Part {
    double weight;
    const double* values;
};

// The slopes that count.
std::vector<Part> parts_of(double h, const std::vector<double>& weights,
                           const std::vector<std::vector<double>>& slopes) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] != 0) {
            parts.push_back({h * weights[i], slopes[i].data()});
        }
    }
    return parts;
}

// out = base + sum of parts.
void combine(const std::vector<double>& base, const std::vector<Part>& parts, std::vector<double>& out) {
    out.resize(base.size());
    parallel_slots(base.size(), slots_of(base.size()), [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t begin = first; begin < last; begin += chunk) {
            const std::size_t end = std::min(begin + chunk, last);
            std::copy(base.begin() + static_cast<std::ptrdiff_t>(begin),
                      base.begin() + static_cast<std::ptrdiff_t>(end),
                      out.begin() + static_cast<std::ptrdiff_t>(begin));
            for (const Part& part : parts) {
                for (std::size_t i = begin; i < end; ++i) {
                    out[i] += part.weight * part.values[i];
                }
            }
        }
    });
}

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

// The slope at the start is the one at the end of the step before, where a sample has asked for it.
void RungeKutta::begin(Motion& motion, double t, const std::vector<double>& y) {
    const std::size_t s = table_.stages();
    slopes_.resize(s + 1 + table_.dense_c.size());
    for (std::size_t i = 0; i < s; ++i) {
        slopes_[i].resize(y.size());
    }
    before_ = y;
    t_before_ = t;
    if (have_last_) {
        std::swap(slopes_[0], slopes_[s]);
    } else {
        motion.velocity(t, y.data(), slopes_[0].data());
    }
    have_last_ = false;
    have_extra_ = false;
}

void RungeKutta::stages(Motion& motion, double t, double h, std::vector<double>& y_new) {
    for (std::size_t i = 1; i < table_.stages(); ++i) {
        combine(before_, parts_of(h, table_.a[i], slopes_), stage_);
        motion.velocity(t + table_.c[i] * h, stage_.data(), slopes_[i].data());
    }
    combine(before_, parts_of(h, table_.b, slopes_), y_new);
}

void RungeKutta::accept(Motion& motion, StepState& state, std::vector<double>& y, double h, double t_after) {
    h_ = h;
    t_after_ = t_after;
    state.standing = t_after > state.t ? 0 : state.standing + 1;
    state.t = t_after;
    ++state.steps;
    motion.project(t_after, y.data());
}

Progressed RungeKutta::step(Motion& motion, StepState& state, std::vector<double>& y, double end) {
    return dt_ > 0 ? equal_step(motion, state, y, end) : chosen_step(motion, state, y, end);
}

// A run taken up in the middle of a piece finds its step in state.h; times are added up, never multiplied, so that it
// meets the same rounding.
Progressed RungeKutta::equal_step(Motion& motion, StepState& state, std::vector<double>& y, double end) {
    const double remaining = end - state.t;
    const double h = state.h > 0 ? state.h : remaining / std::max(1.0, std::ceil(remaining / dt_ - 1e-9));
    const bool last = remaining < 1.5 * h;
    if (!last && !(state.t + h > state.t)) {
        return Progressed::step_underflow;
    }
    begin(motion, state.t, y);
    stages(motion, state.t, last ? remaining : h, y);
    if (!all_finite(y)) {
        y = before_;
        return Progressed::not_finite;
    }
    accept(motion, state, y, last ? remaining : h, last ? end : state.t + h);
    state.h = last ? 0 : h;
    return Progressed::stepped;
}

// How wrong the step is, in units of what is allowed: accepted when at most 1. Hairer's estimate, with e5 and e3 the
// differences to solutions of orders 5 and 3, each entry divided by atol + rtol |y|, and |.| the root mean square:
//
//     error = |e5| |e5| / sqrt(|e5|^2 + 0.01 |e3|^2)          ~ h^6 h^6 / h^4 = h^8, the order of the controller
//
// It does not trust an e5 that is small by chance. Not finite when y_new is not.
double RungeKutta::error_of(double h, const std::vector<double>& y_new) const {
    const std::size_t n = y_new.size();
    const std::vector<Part> high = parts_of(h, table_.error, slopes_);
    const std::vector<Part> low = parts_of(h, table_.error_low, slopes_);
    const std::size_t slots = slots_of(n);
    std::vector<double> low_sums(slots, 0.0);
    const double high_sum = parallel_sum(n, slots, [&](std::size_t slot, std::size_t first, std::size_t last) {
        double sum = 0;
        double low_sum = 0;
        double e[chunk];
        double e_low[chunk];
        for (std::size_t begin = first; begin < last; begin += chunk) {
            const std::size_t count = std::min(chunk, last - begin);
            std::fill_n(e, count, 0.0);
            std::fill_n(e_low, count, 0.0);
            for (const Part& part : high) {
                for (std::size_t i = 0; i < count; ++i) {
                    e[i] += part.weight * part.values[begin + i];
                }
            }
            for (const Part& part : low) {
                for (std::size_t i = 0; i < count; ++i) {
                    e_low[i] += part.weight * part.values[begin + i];
                }
            }
            for (std::size_t i = 0; i < count; ++i) {
                const double largest = std::max(std::abs(before_[begin + i]), std::abs(y_new[begin + i]));
                const double scale = 1 / (tolerances_.atol + tolerances_.rtol * largest);
                sum += e[i] * e[i] * scale * scale + 0 * y_new[begin + i];  // 0 times infinity is not a number
                low_sum += e_low[i] * e_low[i] * scale * scale;
            }
        }
        low_sums[slot] = low_sum;
        return sum;
    });
    double low_sum = 0;
    for (const double sum : low_sums) {
        low_sum += sum;
    }
    if (high_sum == 0) {
        return 0;
    }
    return high_sum / std::sqrt((high_sum + 0.01 * low_sum) * static_cast<double>(n)) / share_of_ends;
}

// A step at which an explicit Euler step would be wrong by about a hundredth of the tolerance to the power 1/order:
// Hairer, Norsett, Wanner, section II.4.
double RungeKutta::first_step(Motion& motion, double t, double longest) {
    const std::size_t n = before_.size();
    const auto size = [&](const std::vector<double>& a, const std::vector<double>* b) {
        const double sum = parallel_sum(n, slots_of(n), [&](std::size_t, std::size_t first, std::size_t last) {
            double part = 0;
            for (std::size_t i = first; i < last; ++i) {
                const double scale = tolerances_.atol + tolerances_.rtol * std::abs(before_[i]);
                const double value = (a[i] - (b != nullptr ? (*b)[i] : 0.0)) / scale;
                part += value * value;
            }
            return part;
        });
        return std::sqrt(sum / static_cast<double>(n));
    };
    const double place = size(before_, nullptr);
    const double speed = size(slopes_[0], nullptr);
    const double guess = std::min(longest, place < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * place / speed);
    combine(before_, {{guess, slopes_[0].data()}}, stage_);
    motion.velocity(t + guess, stage_.data(), slopes_[1].data());
    const double bend = std::max(speed, size(slopes_[1], &slopes_[0]) / guess);
    const double from_bend = bend <= 1e-15 ? std::max(1e-6, guess * 1e-3) : std::pow(0.01 / bend, 1.0 / table_.order);
    const double h = std::min({100 * guess, from_bend, longest});
    return h > 0 ? h : std::min(longest, 1e-6);  // also where the slopes are not finite: the step itself will find out
}

// Tries, and tries shorter, until the error fits. The next step is h safety error^(-1/8), since the error goes with
// h^8. Where the solution or its slopes are not finite the step shrinks as fast as it may: the way out of an overflow
// in a stage that went too far, and the end of the run where there is none.
Progressed RungeKutta::chosen_step(Motion& motion, StepState& state, std::vector<double>& y, double end) {
    begin(motion, state.t, y);
    const double remaining = end - state.t;
    double wanted = state.h > 0 ? state.h : first_step(motion, state.t, remaining);
    double most = most_factor;
    for (int rejected = 0; rejected < most_rejections; ++rejected) {
        // Two steps of equal size rather than a whole one and a crumb.
        const bool last = 1.01 * wanted >= remaining;
        const double h = last ? remaining : 2 * wanted > remaining ? remaining / 2 : wanted;
        const bool moves = state.t + h > state.t;
        if (!moves && (h < least_standing || state.standing > most_standing)) {
            break;
        }
        stages(motion, state.t, h, y);
        const double error = error_of(h, y);
        const bool finite = std::isfinite(error);
        if (!finite && rejected == 0 && !all_finite(slopes_[0])) {
            break;
        }
        const double factor = !finite ? least_factor
                              : error > 0
                                  ? std::clamp(safety * std::pow(error, -1.0 / table_.order), least_factor, most)
                                  : most;
        if (finite && error <= 1) {
            accept(motion, state, y, h, last ? end : state.t + h);
            // A step that was cut short at the end says little: carry on with what was wanted before it.
            state.h = std::max(h * factor, h < wanted ? wanted : 0.0);
            return Progressed::stepped;
        }
        wanted = h * std::min(factor, 1.0);
        most = 1;  // no growth straight after a rejection
    }
    y = before_;
    return stuck_at(motion, state.t, y);
}

// With T = (t - t_before)/h, D = y - before, k the slopes, k_s that at the end, the interpolant in Hairer's nested form
// is
//
//     before + T (D + (1-T) ((h k_0 - D) + T ((2 D - h (k_0 + k_s)) + (1-T) (F_0 + T (F_1 + (1-T) (F_2 + T F_3))))))
//
// where F_r = h sum_i d_ri k_i. Without the F it is the cubic of Hermite. Multiplied out, with B = T (1-T), it is one
// sum of vectors, which is what `combine` does:
//
//     D       T - B + 2 B T              F_0   B^2
//     h k_0   B (1-T)                    F_1   B^2 T
//     h k_s   -B T                       F_2   B^2 T (1-T)
//                                        F_3   B^2 T^2 (1-T)
//
// Slopes beyond the stages are asked for by the first look into a step and kept for the others: a step that nobody
// looks into costs nothing, and k_s serves as the first slope of the next step.
void RungeKutta::inside(Motion& motion, double t, const std::vector<double>& y, std::vector<double>& out) {
    const std::size_t s = table_.stages();
    if (!have_last_) {
        slopes_[s].resize(y.size());
        motion.velocity(t_after_, y.data(), slopes_[s].data());
        have_last_ = true;
    }
    for (std::size_t i = 0; i < table_.dense_c.size() && !have_extra_; ++i) {
        slopes_[s + 1 + i].resize(y.size());
        combine(before_, parts_of(h_, table_.dense_a[i], slopes_), stage_);
        motion.velocity(t_before_ + table_.dense_c[i] * h_, stage_.data(), slopes_[s + 1 + i].data());
    }
    have_extra_ = true;
    const double T = std::clamp((t - t_before_) / h_, 0.0, 1.0);
    const double bump = T * (1 - T);
    std::vector<double> weights(slopes_.size(), 0.0);
    double factor = bump * bump;
    for (std::size_t r = 0; r < table_.dense_d.size(); ++r) {
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] += factor * table_.dense_d[r][i];
        }
        factor *= r % 2 == 0 ? T : 1 - T;
    }
    weights[0] += bump * (1 - T);
    weights[s] -= bump * T;
    std::vector<Part> parts = parts_of(h_, weights, slopes_);
    const double move = T - bump + 2 * bump * T;
    parts.push_back({move, y.data()});
    parts.push_back({-move, before_.data()});
    combine(before_, parts, out);
    motion.project(t, out.data());
}

}  // namespace flyball::dynamics
