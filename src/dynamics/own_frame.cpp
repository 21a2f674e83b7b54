// The equation in each token's own frame: rows of dim + 1 numbers go through scheme::RowStep, attention comes in two
// parts. Probes replay what attention said with one thing changed, to learn what the scheme makes of it.
#include "dynamics/own_frame.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "measure/rows.hpp"
#include "scheme/plane.hpp"

namespace flyball::dynamics {

using measure::dot;
using measure::length;
using scheme::Environment;
using scheme::State;
using scheme::SubLayer;

namespace {

constexpr double shake = 0x1p-20;                // relative size of the disturbance that `doubt` is measured with
constexpr double rounding = 0x1p-51;             // of a kernel in ambient coordinates, relative to |A|
constexpr std::size_t most_frame_tokens = 4096;  // the frame costs n^2 d, without tiles

// (along, across) of an ambient vector.
void split(const double* y, const double* theta, std::size_t dim, double* out) {
    out[0] = dot(y, theta, dim);
    for (std::size_t c = 0; c < dim; ++c) {
        out[1 + c] = y[c] - out[0] * theta[c];
    }
}

void join(const double* parts, const double* theta, std::size_t dim, double* y) {
    for (std::size_t c = 0; c < dim; ++c) {
        y[c] = parts[0] * theta[c] + parts[1 + c];
    }
}

// A sign that looks random, the same in every run.
double sign_of(std::size_t i) {
    return (i * 0x9e3779b97f4a7c15ULL >> 40 & 1U) == 0 ? 1.0 : -1.0;
}

// Equations decide between whole vectors by time; every decision that a run may meet has to keep to whole vectors.
bool keeps_to_whole_vectors(const Problem& p) {
    constexpr int probes = 256;
    for (int i = 0; i <= probes; ++i) {
        const double share = static_cast<double>(i) / probes;
        for (const double t : {share * p.time, std::pow(p.time, share), std::pow(p.time, -share)}) {
            if (scheme::plane_problem(p.program, Environment::ode(std::min(t, p.time), p.time, p.tokens, p.dim))) {
                return false;
            }
        }
        if (p.program.conditions().empty()) {
            break;
        }
    }
    return true;
}

}  // namespace

bool OwnFrame::applies(const Problem& problem, const Control& control) {
    return problem.tokens <= most_frame_tokens && !problem.layers && problem.attention.identity() &&
           problem.attention.settings.head_betas.empty() && problem.ffn.width == 0 &&
           control.precision == Precision::f64 && keeps_to_whole_vectors(problem);
}

std::unique_ptr<OwnFrame> OwnFrame::make(const Problem& problem, const Control& control, Ambient ambient) {
    return applies(problem, control) ? std::unique_ptr<OwnFrame>(new OwnFrame(problem, std::move(ambient))) : nullptr;
}

bool follows_slow_motion(const Problem& problem, const Control& control) {
    return problem.time > slow_time && control.kernel == "auto" && OwnFrame::applies(problem, control);
}

OwnFrame::OwnFrame(const Problem& p, Ambient ambient)
    : rows_(p.rows()),
      dim_(p.dim),
      causal_(p.attention.causal()),
      shape_{p.systems, p.tokens, p.dim},
      attention_(p.attention.settings),
      ambient_(std::move(ambient)),
      step_(p.program, scheme::SubLayers::attention_only, rows_, p.dim + 1, p.dim) {}

// Fills theta_, framed_ and fixed_. A token of a group takes the very numbers of its leader's direction: attention then
// sees them as equal, and equal tokens do not turn each other.
void OwnFrame::load(const Environment& env, const State<double>& state, const std::vector<std::size_t>& leader) {
    const std::size_t wide = dim_ + 1;
    theta_.resize(rows_ * dim_);
    framed_.rows = rows_;
    framed_.dim = wide;
    framed_.streams.assign(state.streams.size(), Values(rows_ * wide, 0.0));
    framed_.embedding.resize(rows_ * wide);
    for (std::size_t row = 0; row < rows_; ++row) {
        const double* x = state.streams[0].data() + row * dim_;
        const double radius = length(x, dim_);
        double* theta = theta_.data() + row * dim_;
        if (leader[row] == row) {
            for (std::size_t c = 0; c < dim_; ++c) {
                theta[c] = radius == 0 ? 0 : x[c] / radius;
            }
        } else {  // leaders come first
            std::copy_n(theta_.data() + leader[row] * dim_, dim_, theta);
        }
        framed_.streams[0][row * wide] = radius;
        for (std::size_t i = 1; i < state.streams.size(); ++i) {
            split(state.streams[i].data() + row * dim_, theta, dim_, framed_.streams[i].data() + row * wide);
        }
        split(state.embedding.data() + row * dim_, theta, dim_, framed_.embedding.data() + row * wide);
    }
    // Where N0 gives x the same length whatever it was, that length has the velocity that N0 gives it with t, as a rule
    // none; 1 - u u, which says so too, is a rounding error instead of zero, and steps of 10^20 would carry it away.
    State<double> doubled = framed_;
    for (std::size_t row = 0; row < rows_; ++row) {
        doubled.streams[0][row * wide] *= 2;
    }
    step_.project(env, framed_);
    step_.project(env, doubled);
    fixed_.resize(rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
        const double once = framed_.streams[0][row * wide];
        fixed_[row] = std::fabs(doubled.streams[0][row * wide] - once) <= 1e-9 * std::fabs(once);
    }
    step_.drift(env, framed_, drift_);
}

// f of framed rows. Where every row is a multiple of its theta (nothing across), attention comes in its two parts with
// all their digits; otherwise it goes through ambient coordinates, and exact_ says that it did.
void OwnFrame::attend(const double* in, double* out) {
    const std::size_t wide = dim_ + 1;
    ++attention_calls_;
    bool parallel = true;
    for (std::size_t row = 0; row < rows_ && parallel; ++row) {
        parallel = std::all_of(in + row * wide + 1, in + (row + 1) * wide, [](double part) { return part == 0; });
    }
    if (parallel) {
        scale_.resize(rows_);
        along_.resize(rows_);
        across_.resize(rows_ * dim_);
        log_divisor_.resize(rows_);
        tie_.resize(rows_);
        for (std::size_t row = 0; row < rows_; ++row) {
            scale_[row] = in[row * wide];
        }
        attention::OwnFrameResult result{along_.data(), across_.data(), log_divisor_.data(),
                                         group_.empty() ? nullptr : tie_.data()};
        attention::attend_in_own_frame(shape_, attention_, theta_.data(), scale_.data(), group_.data(), result);
        for (std::size_t row = 0; row < rows_; ++row) {
            out[row * wide] = along_[row];
            std::copy_n(across_.data() + row * dim_, dim_, out + row * wide + 1);
        }
        return;
    }
    exact_ = false;
    ambient_in_.resize(rows_ * dim_);
    ambient_out_.resize(rows_ * dim_);
    for (std::size_t row = 0; row < rows_; ++row) {
        join(in + row * wide, theta_.data() + row * dim_, dim_, ambient_in_.data() + row * dim_);
    }
    ambient_(ambient_in_.data(), ambient_out_.data());
    for (std::size_t row = 0; row < rows_; ++row) {
        split(ambient_out_.data() + row * dim_, theta_.data() + row * dim_, dim_, out + row * wide);
    }
}

// whole: f itself. probe: the same length along, and a part across of the same length in one known direction, which
// tells what the scheme makes of it. shaken: f with the rounding errors that it may have, made large.
void OwnFrame::answer(Answer kind, const double* in, double* out) {
    const std::size_t wide = dim_ + 1;
    if (kind == Answer::whole) {
        attend(in, out);
        heard_.emplace_back(out, out + rows_ * wide);
        return;
    }
    const Values& heard = heard_[replayed_++];
    std::copy(heard.begin(), heard.end(), out);
    for (std::size_t row = 0; row < rows_; ++row) {
        double* to = out + row * wide;
        if (kind == Answer::probe) {
            const double size = std::max(length(to + 1, dim_), least_probe);
            std::fill_n(to + 1, dim_, 0.0);
            to[1] = size;
        } else if (!exact_) {
            const double size = length(to, wide);
            for (std::size_t c = 0; c < wide; ++c) {
                to[c] += shake * size * sign_of(row * wide + c);
            }
        }
    }
}

// slopes_ of framed_. `whole` asks f and keeps what it said; the others replay that, changed, so they cost no
// attention.
void OwnFrame::evaluate(const Environment& env, Answer kind) {
    if (kind == Answer::whole) {
        heard_.clear();
        exact_ = true;
    }
    replayed_ = 0;
    step_.velocity(
        env, framed_, [&](SubLayer, const double* in, double* out) { answer(kind, in, out); }, slopes_);
    if (kind == Answer::probe) {  // what f does, and not what goes on without it
        std::transform(slopes_[0].begin(), slopes_[0].end(), drift_[0].begin(), slopes_[0].begin(), std::minus<>());
    }
    for (std::size_t row = 0; row < rows_; ++row) {
        if (fixed_[row]) {
            slopes_[0][row * (dim_ + 1)] = drift_[0][row * (dim_ + 1)];
        }
    }
}

// theta' = (part of x' across)/r.
void OwnFrame::turn_of(Values& turn) const {
    const std::size_t wide = dim_ + 1;
    turn.resize(rows_ * dim_);
    for (std::size_t row = 0; row < rows_; ++row) {
        const double radius = framed_.streams[0][row * wide];
        for (std::size_t c = 0; c < dim_; ++c) {
            turn[row * dim_ + c] = radius == 0 ? 0 : slopes_[0][row * wide + 1 + c] / radius;
        }
    }
}

// Slopes in the frame, groups sharing one turn where f is exact, then back to ambient coordinates as along' theta_j +
// across'.
void OwnFrame::velocity(const Environment& env, const State<double>& state, const std::vector<std::size_t>& leader,
                        std::vector<Values>& slopes) {
    const std::size_t wide = dim_ + 1;
    load(env, state, leader);
    group_.clear();
    evaluate(env, Answer::whole);
    bool grouped = false;
    for (std::size_t row = 0; row < rows_; ++row) {
        grouped = grouped || leader[row] != row;
    }
    if (grouped && exact_) {
        find_answers(env);
        Values turn;
        turn_of(turn);
        share(leader, turn);
        for (std::size_t row = 0; row < rows_; ++row) {
            const double radius = framed_.streams[0][row * wide];
            for (std::size_t c = 0; c < dim_; ++c) {
                slopes_[0][row * wide + 1 + c] = radius * turn[row * dim_ + c];
            }
        }
    }
    slopes.resize(slopes_.size());
    for (std::size_t i = 0; i < slopes.size(); ++i) {
        slopes[i].resize(rows_ * dim_);
        for (std::size_t row = 0; row < rows_; ++row) {
            join(slopes_[i].data() + row * wide, theta_.data() + row * dim_, dim_, slopes[i].data() + row * dim_);
        }
    }
}

// The readout y and its slope v in the frame: |theta'| = |v - y <y, v>/|y|^2| / |y|, averaged over tokens.
void OwnFrame::speed(const Environment& env, const State<double>& state, const std::vector<std::size_t>& leader,
                     Values& speeds) {
    const std::size_t wide = dim_ + 1;
    std::vector<Values> ambient;
    velocity(env, state, leader, ambient);  // leaves slopes_
    Values out;
    Values slope;
    if (!step_.readout(env, framed_, slopes_, out, slope)) {
        speeds.assign(rows_, HUGE_VAL);
        return;
    }
    speeds.assign(rows_, 0.0);
    for (std::size_t row = 0; row < rows_; ++row) {
        const double* y = out.data() + row * wide;
        double* v = slope.data() + row * wide;
        const double squares = dot(y, y, wide);
        if (squares == 0) {
            continue;
        }
        const double along = dot(y, v, wide) / squares;
        for (std::size_t c = 0; c < wide; ++c) {
            v[c] -= along * y[c];
        }
        // A readout that is a multiple of theta has nothing across: what is left along it is rounding.
        const bool parallel = std::all_of(y + 1, y + wide, [](double part) { return part == 0; });
        speeds[row] = (parallel ? length(v + 1, dim_) : length(v, wide)) / std::sqrt(squares);
    }
}

// What the outputs of f and the streams beside x may be wrong by, `rounding` of their length, is put on them 2^31 times
// as large (`shake`), where it stands out from the rounding of the evaluation itself; the change of the turn, scaled
// back, is what rounding may do to it.
void OwnFrame::doubt(const Environment& env, const State<double>& state, const std::vector<std::size_t>& leader,
                     Values& doubt, Values& speed) {
    const std::size_t wide = dim_ + 1;
    std::vector<Values> ambient;
    velocity(env, state, leader, ambient);
    Values turn;
    Values shaken;
    turn_of(turn);
    evaluate(env, Answer::whole);  // without the sharing of groups
    Values alone;
    turn_of(alone);
    const auto disturb = [&](Values& rows) {
        for (std::size_t row = 0; row < rows_; ++row) {
            double* y = rows.data() + row * wide;
            const double size = length(y, wide);
            for (std::size_t c = 0; c < wide; ++c) {
                y[c] += shake * size * sign_of(7 + row * wide + c);
            }
        }
    };
    for (std::size_t i = 1; i < framed_.streams.size(); ++i) {
        disturb(framed_.streams[i]);
    }
    disturb(framed_.embedding);
    evaluate(env, Answer::shaken);
    turn_of(shaken);
    doubt.resize(rows_);
    speed.resize(rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t c = 0; c < dim_; ++c) {
            shaken[row * dim_ + c] -= alone[row * dim_ + c];
        }
        doubt[row] = length(shaken.data() + row * dim_, dim_) * (rounding / shake);
        speed[row] = length(turn.data() + row * dim_, dim_);
    }
}

}  // namespace flyball::dynamics
