#include "dynamics/particles.hpp"

#include <algorithm>
#include <cmath>

#include "dynamics/start.hpp"
#include "measure/rows.hpp"
#include "scheme/limit.hpp"

namespace flyball::dynamics {

using scheme::Environment;
using scheme::SubLayer;
using scheme::SubLayers;

namespace {

SubLayers sub_layers_of(const Settings& settings) {
    return settings.ffn_width > 0 ? SubLayers::attention_and_ffn : SubLayers::attention_only;
}

attention::Settings attention_settings(const Settings& s) {
    attention::Settings result;
    result.kind = attention::kind_from_name(s.attention);
    result.mask = s.causal ? attention::Mask::causal : attention::Mask::none;
    result.beta = s.beta;
    return result;
}

}  // namespace

Particles::Particles(const Settings& settings, const scheme::Program& program)
    : settings_(settings),
      program_(program),
      rows_(settings.systems * settings.tokens),
      step_(program, sub_layers_of(settings), rows_, settings.dim),
      state_(scheme::State<double>::start(program, rows_, settings.dim, start_rows(settings))) {
    use_draw(0);
    set_segment(0, settings.final_time());
}

std::size_t Particles::numbers() const {
    return state_.streams.size() * rows_ * settings_.dim;
}

void Particles::copy_to(double* y) const {
    for (const auto& stream : state_.streams) {
        y = std::copy(stream.begin(), stream.end(), y);
    }
}

void Particles::copy_from(const double* y) {
    for (auto& stream : state_.streams) {
        std::copy_n(y, stream.size(), stream.begin());
        y += stream.size();
    }
}

std::optional<std::string> Particles::limit_problem() const {
    return scheme::limit_problem(program_, sub_layers_of(settings_), settings_.final_time());
}

// Systems share one attention when they share its weights; otherwise each has its own.
void Particles::use_draw(std::size_t draw) {
    if (draw_ == draw) {
        return;
    }
    draw_ = draw;
    const bool shared = settings_.weights == WeightKind::identity || settings_.weights == WeightKind::file;
    const std::size_t count = shared ? 1 : settings_.systems;
    const attention::Shape shape{shared ? settings_.systems : 1, settings_.tokens, settings_.dim};
    const auto build = [&]<class Real>(std::vector<std::unique_ptr<attention::Attention<Real>>>& list) {
        list.resize(count);
        for (std::size_t m = 0; m < count; ++m) {
            auto weights = draw_weights<Real>(settings_, m, draw);
            if (list[m] == nullptr) {
                list[m] = std::make_unique<attention::Attention<Real>>(shape, attention_settings(settings_),
                                                                       std::move(weights), settings_.kernel);
            } else {
                list[m]->set_weights(std::move(weights));
            }
        }
    };
    if (settings_.precision == Precision::f32) {
        build(attention_float_);
    } else {
        build(attention_);
    }
    ffn_.clear();
    for (std::size_t m = 0; settings_.ffn_width > 0 && m < settings_.systems; ++m) {
        ffn_.push_back(draw_feed_forward(settings_, m, draw));
    }
}

std::string Particles::kernel() const {
    return settings_.precision == Precision::f32 ? attention_float_.front()->kernel() : attention_.front()->kernel();
}

void Particles::sub_layer(SubLayer which, const double* in, double* out) {
    const std::size_t per_system = settings_.tokens * settings_.dim;
    if (which == SubLayer::feed_forward) {
        for (std::size_t m = 0; m < settings_.systems; ++m) {
            ffn_[m](settings_.tokens, in + m * per_system, out + m * per_system);
        }
        return;
    }
    ++evaluations_;
    if (settings_.precision == Precision::f32) {
        const std::size_t all = rows_ * settings_.dim;
        float_in_.assign(in, in + all);
        float_out_.resize(all);
        const std::size_t stride = attention_float_.size() == 1 ? 0 : per_system;
        for (std::size_t m = 0; m < attention_float_.size(); ++m) {
            (*attention_float_[m])(float_in_.data() + m * stride, float_out_.data() + m * stride);
        }
        std::copy(float_out_.begin(), float_out_.end(), out);
        return;
    }
    const std::size_t stride = attention_.size() == 1 ? 0 : per_system;
    for (std::size_t m = 0; m < attention_.size(); ++m) {
        (*attention_[m])(in + m * stride, out + m * stride);
    }
}

void Particles::set_segment(double begin, double end) {
    begin_ = begin;
    end_ = end;
    if (settings_.fresh) {
        use_draw(static_cast<std::size_t>(std::floor(0.5 * (begin + end))));
    }
}

Environment Particles::ode_environment(double t) const {
    // Just inside, so that comparisons have the value they have between the switches. By the last bit where times are
    // large, never by a share of a long segment: coefficients such as sqrt(t + 1) would be those of a later time.
    const double margin = 1e-13 * std::min(end_ - begin_, 1.0);
    const double first = std::max(begin_ + margin, std::nextafter(begin_, end_));
    const double last = std::min(end_ - margin, std::nextafter(end_, begin_));
    return Environment::ode(std::clamp(t, first, last), settings_.final_time(), settings_.tokens, settings_.dim);
}

void Particles::project(double t) {
    step_.project(ode_environment(t), state_);
}

void Particles::velocity(double t, std::vector<std::vector<double>>& slopes) {
    step_.velocity(
        ode_environment(t), state_,
        [this](SubLayer which, const double* in, double* out) { sub_layer(which, in, out); }, slopes);
}

void Particles::layer(std::size_t l) {
    if (settings_.fresh) {
        use_draw(static_cast<std::size_t>(std::floor(static_cast<double>(l - 1) * settings_.dt + 1e-9)));
    }
    step_.layer(Environment::layer(l, *settings_.layers, settings_.dt, settings_.tokens, settings_.dim), state_,
                [this](SubLayer which, const double* in, double* out) { sub_layer(which, in, out); });
}

Measured Particles::shape() const {
    return {settings_.systems, settings_.tokens, settings_.dim, settings_.beta};
}

Sample Particles::measure_ode(double t) {
    std::vector<std::vector<double>> slopes;
    std::vector<double> readout_slope;
    velocity(t, slopes);
    step_.readout(ode_environment(t), state_, slopes, readout_, readout_slope);
    measure::directions(readout_rows(), theta_);
    return measure(shape(), t, theta_, state_.streams[0],
                   measure::mean_angular_speed(readout_rows(), readout_slope.data()));
}

double Particles::observe_ode(double t, const SampleField& field) {
    step_.readout(ode_environment(t), state_, readout_);
    measure::directions(readout_rows(), theta_);
    if (const auto value = measure_one(shape(), field, theta_, state_.streams[0])) {
        return *value;
    }
    return field(measure_ode(t));
}

Sample Particles::measure_layers(std::size_t done, const std::vector<double>* theta_before) {
    const std::size_t l = std::max<std::size_t>(1, done);
    step_.readout(Environment::layer(l, *settings_.layers, settings_.dt, settings_.tokens, settings_.dim), state_,
                  readout_);
    measure::directions(readout_rows(), theta_);
    double speed = std::nan("");
    if (theta_before != nullptr) {  // how far the last layer turned the tokens, per unit of time
        double sum = 0;
        for (std::size_t row = 0; row < rows_; ++row) {
            double squares = 0;
            for (std::size_t c = row * settings_.dim; c < (row + 1) * settings_.dim; ++c) {
                squares += (theta_[c] - (*theta_before)[c]) * (theta_[c] - (*theta_before)[c]);
            }
            sum += std::sqrt(squares);
        }
        speed = sum / static_cast<double>(rows_) / settings_.dt;
    }
    return measure(shape(), static_cast<double>(done) * settings_.dt, theta_, state_.streams[0], speed);
}

}  // namespace flyball::dynamics
