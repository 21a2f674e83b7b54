// The equation as a flow of a few numbers: two for each stream, its direction and the logarithm of its length.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "theory/direction.hpp"
#include "theory/extrapolation.hpp"
#include "theory/theory.hpp"

namespace flyball::theory {

inline constexpr double last_time = 1e100;  // nobody walks beyond it

class Flow {
  public:
    Flow(const scheme::Program& program, const Settings& settings);

    // No step may cross one of these times: comparisons of the text flip there. The last is infinite.
    const std::vector<double>& switches() const { return switches_; }
    // Nor one of these: around them a factor changes quickly. The last is infinite.
    const std::vector<double>& stops() const { return stops_; }
    // How closely factors can be followed on the way to each of them.
    const std::vector<double>& stop_noise() const { return stop_noise_; }
    // The equation changes no more after this time, but slowly.
    double last_change() const;
    // Nobody can go on from here (scheme/moments.hpp). Infinite as a rule.
    double unresolved() const { return unresolved_; }

    // Starts the piece of time after the switch at `begin` (0 at first) and puts the state on its manifold.
    void enter(double begin, double end);

    // The state as numbers for the integrator; directions keep their charts until `settle`.
    Numbers numbers() const;
    bool slope(double t, const Numbers& y, Numbers& rates);
    void sizes(const Numbers& before, const Numbers& after, Numbers& size) const;
    // Takes the numbers over after an accepted step: projects to the manifold and changes charts where needed. False
    // when that fails.
    bool settle(double t, const Numbers& y);

    // To be called when steps stay small without a reason that can be seen. A stream that has become short may be what
    // is left of others that cancel, as the velocity of a heavy ball that comes to rest is. Then its direction and the
    // logarithm of its length are noise, while it moves the others by no more than it is long: from now on it is
    // carried as a vector, to the absolute precision that matters to the others. True when there was one.
    bool make_plain();

    // A stream whose length falls to zero at a finite time: |x| is about |x'| (when - t).
    struct Ending {
        std::string stream;
        double when;
        double left;  // |x|/|x'|: how long it will last
    };
    // The stream that would be the first to reach zero if every length went on as it does at the settled state.
    std::optional<Ending> ending(double t);

    bool several() const { return !may_take_log_; }
    bool rescaled() const { return log_scale_ < 0; }
    // How near to consensus the readout is, roughly: log a/b. Only where it is not carried as a logarithm.
    double log_nearness() const { return std::log(shown_eta_) + log_scale_; }

    // Rates below the smallest number are lost: a direction as small as what they may add up to has no digits.
    bool has_digits(const Point& point) const { return !(std::abs(point.gamma) < 1e10 * lost_turn_) || several(); }

    // Tokens that are still orthogonal may turn all the same: the weights that would tell how fast are no numbers.
    bool rests_for_want_of_numbers(const Point& point) const { return lost_weights_ && point.gamma == 0; }

    // What the readout shows at the settled state.
    Point point(double t);
    // log s of theta' = P A/s for the readout, A being attention at the unit directions; inf when nothing moves.
    double log_speed_factor(const Point& point) const;

    // Why the state cannot go on, when slope() has failed.
    const std::string& problem() const { return problem_; }

  private:
    struct Stream {
        Direction direction;
        double log_length = 0;
        bool forgets_length = false;  // the manifold fixes it
        bool length_follows = false;  // and from what the other numbers are, not once and for all or by t alone
        // The vector itself is carried in place of direction and length (see make_plain()).
        bool plain = false;
        scheme::PlaneVector x;
        double longest = 0;  // that it has been
    };
    scheme::Environment environment(double t, double metric) const;
    scheme::PlaneVector vector(const Stream& stream) const;
    std::vector<Stream> streams_of(const Numbers& y) const;
    bool project(double t, std::vector<Stream>& streams);
    bool onto_manifold(double t, std::vector<Stream>& streams);
    void watch_projection(double begin);
    std::vector<Stream> trial_streams(double which) const;
    bool rates(double t, const std::vector<Stream>& streams, Numbers& result);
    bool velocity(double t, const std::vector<Stream>& streams, const Frame& frame,
                  std::vector<scheme::PlaneVector>& slopes, std::vector<double>& parts);
    std::optional<scheme::PlaneVector> readout(double t, const std::vector<Stream>& streams);
    std::optional<double> readout_rate(double t, const Numbers& rate, const Direction& shown,
                                       const scheme::PlaneVector& here, const Numbers& noise, double& lost);
    Numbers rate_noise(double t, const Numbers& rate);
    double readout_drift(double t, Chart chart);
    std::vector<double> later_times() const;
    void find_shown_stream(double t);
    void rescale(double t);
    void multiply_shares(double factor);
    double length_of(const Stream& stream) const;
    void make_polar(Stream& stream) const;
    void look(double t);

    double n_;
    Settings settings_;
    scheme::Program program_;  // with the number of tokens written into the text: Environment::n is the metric here
    scheme::PlaneStep step_;
    bool compares_ = false;
    bool may_take_log_ = false;
    // Several streams near consensus: every eta is exp(log_scale_) times the number that is carried (see rescale()).
    bool may_rescale_ = false;
    double log_scale_ = 0;
    std::vector<double> switches_;
    std::vector<double> stops_;
    std::vector<double> stop_noise_;
    double unresolved_ = HUGE_VAL;
    double begin_ = 0;
    double end_ = 0;
    std::vector<Stream> streams_;
    bool follows_ = false;              // N0 sets some stream from others or from t (see watch_projection())
    double lost_turn_ = 0;              // how far a direction may have turned at rates below the smallest number
    bool lost_weights_ = false;         // attention has had no number for the weights of other tokens
    double longest_ = 1;                // length of the longest stream; several streams only
    double shown_eta_ = 1;              // of the readout, at most 1; several streams only
    std::optional<std::size_t> shown_;  // the stream whose direction the readout has, if it is one
    std::string problem_;
};

}  // namespace flyball::theory
