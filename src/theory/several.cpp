// What flows of several streams need beside one: units in which tiny shares keep their digits, streams that are short
// because others cancel, streams that end.
#include <algorithm>
#include <cmath>

#include "theory/flow.hpp"

namespace flyball::theory {

using scheme::PlaneVector;

double Flow::length_of(const Stream& stream) const {
    return stream.plain ? std::sqrt(scheme::squared_length(stream.x, n_)) : std::exp(stream.log_length);
}

void Flow::make_polar(Stream& stream) const {
    if (!stream.plain) {
        return;
    }
    const double r = length_of(stream);
    stream.plain = false;
    stream.direction = Direction::of(stream.x, n_, may_take_log_);
    stream.log_length = stream.direction.log_length = std::log(r);
}

// The sizes that errors are measured against.
void Flow::look(double t) {
    longest_ = 0;
    for (Stream& stream : streams_) {
        const double r = length_of(stream);
        stream.longest = std::max(stream.longest, r);
        longest_ = std::max(longest_, r);
    }
    for (Stream& stream : streams_) {
        if (stream.plain && length_of(stream) > 1e-2 * longest_) {
            make_polar(stream);
        }
    }
    PlaneVector x{1, 0};
    if (shown_) {
        x = streams_[*shown_].direction.unit(n_);
    } else if (const auto here = readout(t, streams_)) {
        x = *here;
    }
    shown_eta_ = std::abs(x.a) < std::abs(x.b) ? std::abs(x.a / x.b) : 1;
}

bool Flow::make_plain() {
    bool found = false;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        Stream& stream = streams_[i];
        const double r = length_of(stream);
        if (!stream.plain && !stream.forgets_length && shown_ != i && r < 1e-3 * longest_ &&
            r < 1e-3 * stream.longest) {
            stream.x = vector(stream);
            stream.plain = true;
            found = true;
        }
    }
    return found;
}

void Flow::multiply_shares(double factor) {
    for (Stream& stream : streams_) {
        (stream.plain ? stream.x.a : stream.direction.value) *= factor;
    }
    log_scale_ -= std::log(factor);
    shown_eta_ *= factor;
}

// Near consensus the equation is linear in the shares a_j = eta_j b_j of all streams together: attention mixes them
// only through beta a^2, and the directions through a/b. So all of them may be multiplied by one factor, a power of two
// that changes no digit, and 1 - gamma can be followed far below the smallest double. Not where the equation mentions
// x0, whose own share does not shrink; and it is tried whether the velocities really follow.
void Flow::rescale(double t) {
    if (!may_rescale_) {
        return;
    }
    constexpr double factor = 0x1p100;
    double eta = 0;      // the largest
    double largest = 0;  // of eta and of the share itself
    bool all_short = true;
    for (const Stream& stream : streams_) {
        const double r = length_of(stream);
        const double share = std::abs(stream.plain ? stream.x.a : stream.direction.value);
        const bool near = stream.plain || stream.direction.chart != Chart::rho;
        eta = std::max(eta, near ? share : 1);
        largest = std::max(largest, (near ? share : 1) * (stream.plain ? 1 : std::max(r, 1.0)));
        all_short = all_short && r < 1e-40;
    }
    double change = 1;
    if (largest > 0 && eta * factor < 1e-30 && (largest < 1e-150 || all_short)) {
        change = factor;
    } else if (log_scale_ < 0 && largest > 1e-20) {
        change = 1 / factor;
    }
    if (change == 1) {
        return;
    }
    Numbers before;
    Numbers after;
    const Numbers was = numbers();
    const bool moved_before = rates(t, streams_, before);
    multiply_shares(change);
    bool linear = moved_before && rates(t, streams_, after);
    for (std::size_t k = 0; linear && k < was.size(); ++k) {
        const double scale = k % 2 == 0 ? change : 1;
        const double size = k % 2 == 0 ? std::abs(was[k]) + eta * 1e-3 : streams_[k / 2].plain ? longest_ : 1;
        linear = std::abs(after[k] - scale * before[k]) <= 1e-9 * scale * (std::abs(before[k]) + size);
    }
    if (!linear) {
        multiply_shares(1 / change);
        may_rescale_ = change < 1;
    }
}

std::optional<Flow::Ending> Flow::ending(double t) {
    Numbers rate;
    if (!rates(t, streams_, rate)) {
        return std::nullopt;
    }
    std::optional<Ending> first;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        // A short stream that is what others leave of each other may pass through zero and go on.
        const double left = streams_[i].plain ? -1 : -1 / rate[2 * i + 1];
        if (left > 0 && (!first || left < first->left)) {
            first = Ending{program_.stream_name(i), t + left, left};
        }
    }
    return first;
}

}  // namespace flyball::theory
