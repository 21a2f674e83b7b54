// State, sub-layers and measurements of a system; what is about slow motion is in particles_slow.cpp.
#include "dynamics/particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "measure/rows.hpp"
#include "scheme/limit.hpp"

namespace flyball::dynamics {

using scheme::Environment;
using scheme::SubLayer;

namespace {

template <class Real>
attention::Weights<Real> narrowed(const attention::Weights<double>& wide) {
    attention::Weights<Real> result{wide.heads, wide.width, {}, wide.norms};
    const auto each = [](const std::vector<double>& values) { return std::vector<Real>(values.begin(), values.end()); };
    for (const auto& head : wide.head) {
        result.head.push_back(
            {each(head.query), each(head.key), each(head.value), each(head.output), each(head.channels)});
    }
    return result;
}

}  // namespace

Particles::Particles(Problem problem, const Control& control)
    : problem_(std::move(problem)),
      control_(control),
      rows_(problem_.rows()),
      step_(problem_.program, problem_.sub_layers(), rows_, problem_.dim),
      state_(scheme::State<double>::start(problem_.program, rows_, problem_.dim, std::move(problem_.start))),
      groups_(problem_.systems, problem_.tokens) {
    use_draw(0);
    set_segment(0, problem_.final_time());
    frame_ = OwnFrame::make(problem_, control_,
                            [this](const double* in, double* out) { sub_layer(SubLayer::attention, in, out); });
    slow_ = follows_slow_motion(problem_, control_);
}

std::size_t Particles::numbers() const {
    return state_.streams.size() * rows_ * problem_.dim;
}

namespace {

// By threads: a million tokens are copied as often as they are evaluated.
void copy_numbers(const double* from, std::size_t count, double* to) {
    parallel_slots(count, scheme::row_slots(count, 1), [&](std::size_t, std::size_t begin, std::size_t end) {
        std::copy(from + begin, from + end, to + begin);
    });
}

}  // namespace

void Particles::copy_to(double* y) const {
    for (const auto& stream : state_.streams) {
        copy_numbers(stream.data(), stream.size(), y);
        y += stream.size();
    }
}

void Particles::copy_from(const double* y) {
    for (auto& stream : state_.streams) {
        copy_numbers(y, stream.size(), stream.data());
        y += stream.size();
    }
}

std::optional<std::string> Particles::limit_problem() const {
    return scheme::limit_problem(problem_.program, problem_.sub_layers(),
                                 Environment::ode(0, problem_.final_time(), problem_.tokens, problem_.dim));
}

// Systems share one attention when they share its weights; otherwise each has its own.
void Particles::use_draw(std::size_t draw) {
    if (draw_ == draw) {
        return;
    }
    draw_ = draw;
    const AttentionLayer& layer = problem_.attention;
    const std::size_t count = layer.instead ? 0 : layer.per_system ? problem_.systems : 1;
    const attention::Shape shape{layer.per_system ? 1 : problem_.systems, problem_.tokens, problem_.dim};
    const auto build = [&]<class Real>(std::vector<std::unique_ptr<attention::Attention<Real>>>& list) {
        list.resize(count);
        for (std::size_t m = 0; m < count; ++m) {
            auto weights =
                layer.weights ? narrowed<Real>(layer.weights(m, draw)) : attention::Weights<Real>{layer.heads, 0, {}};
            if (list[m] == nullptr) {
                list[m] = std::make_unique<attention::Attention<Real>>(shape, layer.settings, std::move(weights),
                                                                       control_.kernel);
            } else {
                list[m]->set_weights(std::move(weights));
            }
        }
    };
    if (control_.precision == Precision::f32) {
        build(attention_float_);
    } else {
        build(attention_);
    }
    ffn_.clear();
    for (std::size_t m = 0; problem_.ffn.width > 0 && m < problem_.systems; ++m) {
        ffn_.push_back(problem_.ffn.weights(m, draw));
    }
}

std::string Particles::kernel() const {
    if (slow_) {
        return "own-frame";
    }
    if (problem_.attention.instead) {
        return "caller's";
    }
    const std::string& name =
        control_.precision == Precision::f32 ? attention_float_.front()->kernel() : attention_.front()->kernel();
    return fallbacks_ == 0 ? name
                           : fmt::format("{} (direct sums in {} of {} evaluations)", name, fallbacks_, evaluations_);
}

// f of all rows: the caller's own, one attention for all systems, or one for each (stride 0 or a system's numbers).
// Float attention rounds its input and widens its result; the state itself stays double.
void Particles::sub_layer(SubLayer which, const double* in, double* out) {
    const std::size_t per_system = problem_.tokens * problem_.dim;
    if (which == SubLayer::feed_forward) {
        for (std::size_t m = 0; m < problem_.systems; ++m) {
            ffn_[m](problem_.tokens, in + m * per_system, out + m * per_system);
        }
        return;
    }
    ++evaluations_;
    if (problem_.attention.instead) {
        problem_.attention.instead(in, out);
        return;
    }
    bool fell_back = false;
    if (control_.precision == Precision::f32) {
        const std::size_t all = rows_ * problem_.dim;
        float_in_.assign(in, in + all);
        float_out_.resize(all);
        const std::size_t stride = attention_float_.size() == 1 ? 0 : per_system;
        for (std::size_t m = 0; m < attention_float_.size(); ++m) {
            (*attention_float_[m])(float_in_.data() + m * stride, float_out_.data() + m * stride);
            fell_back = fell_back || attention_float_[m]->fell_back();
        }
        fallbacks_ += fell_back ? 1 : 0;
        std::copy(float_out_.begin(), float_out_.end(), out);
        return;
    }
    const std::size_t stride = attention_.size() == 1 ? 0 : per_system;
    for (std::size_t m = 0; m < attention_.size(); ++m) {
        (*attention_[m])(in + m * stride, out + m * stride);
        fell_back = fell_back || attention_[m]->fell_back();
    }
    fallbacks_ += fell_back ? 1 : 0;
}

void Particles::set_segment(double begin, double end) {
    begin_ = begin;
    end_ = end;
    if (problem_.fresh) {
        use_draw(static_cast<std::size_t>(std::floor(0.5 * (begin + end))));
    }
}

Environment Particles::ode_environment(double t) const {
    // A switch is the last number before the comparison flips: it belongs to the segment that it ends.
    const double first = begin_ > 0 ? std::nextafter(begin_, end_) : begin_;
    const double inside = std::clamp(t, first, end_);
    return Environment::ode(inside, problem_.final_time(), problem_.tokens, problem_.dim);
}

void Particles::project(double t) {
    step_.project(ode_environment(t), state_);
    if (groups_.any()) {
        groups_.share_directions(state_.streams[0], problem_.dim);
    }
}

void Particles::velocity(double t, std::vector<std::vector<double>>& slopes) {
    if (slow_) {
        in_frame([&](OwnFrame& frame) { frame.velocity(ode_environment(t), state_, groups_.leaders(), slopes); });
        return;
    }
    step_.velocity(
        ode_environment(t), state_,
        [this](SubLayer which, const double* in, double* out) { sub_layer(which, in, out); }, slopes);
}

void Particles::velocity(double t, const double* y, double* slope) {
    copy_from(y);
    project(t);
    velocity(t, slopes_);
    for (const auto& stream : slopes_) {
        copy_numbers(stream.data(), stream.size(), slope);
        slope += stream.size();
    }
}

void Particles::layer(std::size_t l) {
    if (problem_.draw_of_layers) {
        use_draw(l - 1);
    } else if (problem_.fresh) {
        use_draw(static_cast<std::size_t>(std::floor(static_cast<double>(l - 1) * problem_.dt + 1e-9)));
    }
    step_.layer(Environment::layer(l, *problem_.layers, problem_.dt, problem_.tokens, problem_.dim), state_,
                [this](SubLayer which, const double* in, double* out) { sub_layer(which, in, out); });
}

Measured Particles::shape() const {
    return {problem_.systems, problem_.tokens, problem_.dim, problem_.attention.settings.beta, pair_cosine_};
}

std::vector<double> Particles::mean_of_systems(const std::vector<double>& of_rows) const {
    std::vector<double> means(problem_.systems);
    for (std::size_t m = 0; m < problem_.systems; ++m) {
        double sum = 0;
        for (std::size_t j = 0; j < problem_.tokens; ++j) {
            sum += of_rows[m * problem_.tokens + j];
        }
        means[m] = sum / static_cast<double>(problem_.tokens);
    }
    return means;
}

Values Particles::plain_speeds(double t) {
    velocity(t, slopes_);
    const bool finite = step_.readout(ode_environment(t), state_, slopes_, readout_, readout_slope_);
    measure::directions(readout_rows(), theta_);
    if (!finite) {
        return Values(problem_.systems, HUGE_VAL);
    }
    Values speeds;
    for (std::size_t m = 0; m < problem_.systems; ++m) {
        const std::size_t begin = m * problem_.tokens * problem_.dim;
        speeds.push_back(measure::mean_angular_speed({readout_.data() + begin, problem_.tokens, problem_.dim},
                                                     readout_slope_.data() + begin));
    }
    return speeds;
}

// The turning part of attention stands beside |A| = 1 and carries its rounding: a speed above `plain_speed` is right to
// 1e-12 all the same, a smaller one is taken in the tokens' own frames, at n^2 d without tiles. Either way tells which
// of the two it is, so the other one is asked only where the speed has crossed that line since the sample before.
Measurement Particles::measure_ode(double t, double speed_before) {
    constexpr double plain_speed = 1e-3;
    const auto is_low = [](const Values& speeds) {
        return *std::min_element(speeds.begin(), speeds.end()) < plain_speed;
    };
    const bool frame_first = slow_ || (frame_ != nullptr && speed_before < plain_speed);
    Values speeds = frame_first ? frame_speeds(t) : plain_speeds(t);
    if (!slow_ && frame_ != nullptr && is_low(speeds) != frame_first) {
        speeds = frame_first ? plain_speeds(t) : frame_speeds(t);
    }
    return measure(shape(), t, theta_, state_.streams[0], speeds);
}

double Particles::observe_ode(double t, const SampleField& field, double speed_before) {
    step_.readout(ode_environment(t), state_, readout_);
    measure::directions(readout_rows(), theta_);
    if (const auto value = measure_one(shape(), field, theta_, state_.streams[0])) {
        return *value;
    }
    return field(measure_ode(t, speed_before).all);
}

Measurement Particles::measure_layers(std::size_t done, const std::vector<double>* theta_before) {
    const std::size_t l = std::max<std::size_t>(1, done);
    step_.readout(Environment::layer(l, *problem_.layers, problem_.dt, problem_.tokens, problem_.dim), state_,
                  readout_);
    measure::directions(readout_rows(), theta_);
    Values speeds(rows_, std::nan(""));
    if (theta_before != nullptr) {  // how far the last layer turned the tokens, per unit of time
        for (std::size_t row = 0; row < rows_; ++row) {
            const std::size_t begin = row * problem_.dim;
            const double squares =
                measure::squared_distance(theta_.data() + begin, theta_before->data() + begin, problem_.dim);
            speeds[row] = std::sqrt(squares) / problem_.dt;
        }
    }
    return measure(shape(), static_cast<double>(done) * problem_.dt, theta_, state_.streams[0],
                   mean_of_systems(speeds));
}

}  // namespace flyball::dynamics
