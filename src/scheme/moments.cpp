// Switches, and a ladder of stops to every time around which a factor of the equation changes quickly.
#include "scheme/moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include "scheme/factors.hpp"
#include "scheme/switches.hpp"
#include "scheme/time_scalars.hpp"
#include "scheme/turns.hpp"

namespace flyball::scheme {

namespace {

constexpr int degree = 16;
constexpr double smooth = 1e-9;        // of a factor, relative to its largest value in a window
constexpr double negligible = 1e-290;  // digits are lost below
constexpr double harmless = 1e-9;      // factor times time that may be passed over, in units of t above 1

std::vector<double> merged(std::vector<double> times, const std::vector<double>& others) {
    times.insert(times.end(), others.begin(), others.end());
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

// Factors between two times.
class Windows {
  public:
    explicit Windows(Factors factors) : factors_(std::move(factors)) {}

    // Windows will lie between `begin` and `end`, and no scalar turns there but at `place`.
    void around(double begin, double place, double end) {
        factors_.focus({begin, begin + 0.4 * (place - begin), place, place + 0.4 * (end - place), end});
    }
    void anywhere() { factors_.focus({}); }

    // Are all factors polynomials between these times, to nine digits? Interpolation at the extrema of a Chebyshev
    // polynomial, both ends among them, is tried at the times between these.
    bool smooth_between(double begin, double end) {
        largest = 0;
        farthest = 0;
        const double half = 0.5 * (end - begin);
        std::array<double, 2 * degree + 1> x;
        std::array<std::vector<double>, 2 * degree + 1> values;
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = -std::cos(std::numbers::pi * static_cast<double>(i) / (2 * degree));
            const double t = i == 0 ? begin : i + 1 == x.size() ? end : begin + half * (1 + x[i]);
            // Rounding of t must not look like a change: x is where it came to lie.
            x[i] = (t - begin) / half - 1;
            factors_(t, values[i]);
        }
        bool result = std::all_of(values.begin(), values.end(),
                                  [&](const auto& value) { return value.size() == values[0].size(); });
        if (!result) {
            return false;
        }
        for (std::size_t k = 0; k < values[0].size(); ++k) {
            double size = 0;
            for (const std::vector<double>& value : values) {
                size = std::abs(value[k]) <= size ? size : std::abs(value[k]);  // keeps NaN
            }
            double miss = 0;
            for (std::size_t i = 1; i < x.size() && !(size < negligible); i += 2) {
                const double here = std::abs(interpolated(x, values, k, x[i]) - values[i][k]);
                miss = here <= miss ? miss : here;
            }
            if (!(miss <= smooth * size)) {
                result = false;
                largest = size <= largest ? largest : size;
                farthest = miss <= farthest ? farthest : miss;
            }
        }
        return result;
    }

    bool finite_at(double t) {
        std::vector<double> values;
        factors_(t, values);
        return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
    }

    // How much the factors change from one number t to the next, and jump about between them, relative to themselves.
    double noise_between(double begin, double end) {
        double worst = 0;
        constexpr int places = 8;
        std::vector<double> times;
        for (int i = 0; i < places; ++i) {
            times.push_back(begin + (end - begin) * (i + 0.5) / places);
        }
        factors_.focus(times);
        for (const double t : times) {
            constexpr double steps = 3;
            const double little = steps * (std::nextafter(t, HUGE_VAL) - t);
            std::array<std::vector<double>, 3> values;
            factors_(t - little, values[0]);
            factors_(t, values[1]);
            factors_(t + little, values[2]);
            const std::size_t count = std::min({values[0].size(), values[1].size(), values[2].size()});
            for (std::size_t k = 0; k < count; ++k) {
                const double bend = std::abs(values[0][k] - 2 * values[1][k] + values[2][k]);
                const double size = std::abs(values[1][k]);
                const double rise = std::abs(values[2][k] - values[0][k]) / (2 * steps);
                if (size > negligible && std::isfinite(bend)) {
                    worst = std::max(worst, std::max(bend, rise) / size);
                }
            }
        }
        return worst;
    }

    // Of the factors that were not smooth in the window last looked at; NaN or infinite where one has no value.
    double largest = 0;
    double farthest = 0;  // from a polynomial; of any factor there

  private:
    template <class Places, class Values>
    static double interpolated(const Places& x, const Values& values, std::size_t k, double place) {
        double above = 0;
        double below = 0;
        for (std::size_t i = 0; i < x.size(); i += 2) {
            if (x[i] == place) {
                return values[i][k];
            }
            const double end = i == 0 || i + 1 == x.size() ? 0.5 : 1;
            const double weight = ((i / 2) % 2 == 0 ? end : -end) / (place - x[i]);
            above += weight * values[i][k];
            below += weight;
        }
        return above / below;
    }

    Factors factors_;
};

// Times closer and closer to each place.
std::vector<double> close_to(const std::vector<double>& places, double end) {
    std::vector<double> times;
    for (const double place : places) {
        for (double distance = place / 2; distance > 1e-15 * place; distance /= 4) {
            times.push_back(place - distance);
            times.push_back(place);
            times.push_back(std::min(place + distance, end));
        }
    }
    return times;
}

}  // namespace

// Places are switches and turns. From each place a window on either side, up to the next place but not farther than
// half of t, is halved until all factors are smooth in it. Where they are so at once, on both sides and across, a step
// may pass: most places are such, t = 1 in sqrt(t+1) for example.
Moments find_moments(const Program& program, const std::function<Environment(double)>& at,
                     const std::vector<double>& probes) {
    Moments result;
    const auto comparisons = [&](double t) { return program.comparisons(at(t)); };
    const TimeScalars scalars(program);
    if (scalars.constant() || probes.size() < 2) {
        result.switches = find_switches(comparisons, probes);
        return result;
    }
    // Scalars turn slowly: one probe in four does.
    std::vector<double> sparse;
    for (std::size_t i = 0; i < probes.size(); i += 4) {
        sparse.push_back(probes[i]);
    }
    if (sparse.back() < probes.back()) {
        sparse.push_back(probes.back());
    }
    const Turns turns = find_turns(scalars, at, sparse);
    if (!comparisons(probes.front()).empty()) {
        result.switches = find_switches(comparisons, merged(close_to(turns.times, probes.back()), probes));
    }
    const std::vector<double> places = merged(turns.times, result.switches);

    Windows windows(Factors(program, at));
    std::vector<double> stops;
    std::vector<std::pair<double, double>> passed;
    const auto after = [](double t) { return std::nextafter(t, HUGE_VAL); };  // a switch belongs to what it ends
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double place = places[i];
        const double narrowest = 64 * (after(place) - place);
        // The places before and after it, but not those that no window fits between.
        std::size_t k = i;
        while (k > 0 && place - places[k - 1] <= narrowest) {
            --k;
        }
        const double before = k > 0 ? after(places[k - 1]) : probes.front();
        k = i + 1;
        while (k < places.size() && places[k] - place <= narrowest) {
            ++k;
        }
        const double next = k < places.size() ? places[k] : probes.back();
        windows.around(std::max(before, 0.5 * place), place, std::min(next, 1.5 * place));
        // Numbers at which something is divided by zero, and on both sides of them one can be again.
        const double ulp = after(place) - place;
        const double beside = 8 * ulp;
        bool hole = false;
        for (int k = -4; k <= 5; ++k) {
            hole = hole || !windows.finite_at(place + k * ulp);
        }
        hole = hole && windows.finite_at(place - beside) && windows.finite_at(after(place) + beside);
        bool passes = true;
        bool ends = false;
        double hop = 0;
        std::vector<double> ladder;
        for (const double side : {-1.0, 1.0}) {
            const double from = (side < 0 ? place : after(place)) + (hole ? side * beside : 0);
            double width = std::min(0.5 * place, side < 0 ? from - before : next - from);
            std::vector<double> rungs;
            const auto smooth_here = [&] {
                const double other = from + side * width;
                return windows.smooth_between(std::min(from, other), std::max(from, other));
            };
            while (width > narrowest && !smooth_here()) {
                rungs.push_back(from + side * width);
                width /= 2;
            }
            if (width <= narrowest && !rungs.empty() && std::isfinite(windows.largest)) {
                const double nothing = harmless * std::max(1.0, place);
                ends = ends || windows.largest * narrowest > nothing;
                hop = std::max(hop, std::min(nothing / windows.largest, 1e-6 * place));
            }
            rungs.push_back(from + side * width);
            if (rungs.size() > 1) {
                passes = false;
                ladder.insert(ladder.end(), rungs.begin(), rungs.end());
            }
        }
        if (ends) {
            const double last = hole ? place - beside : place;
            result.unresolved = last;
            stops.push_back(last);
        } else if (hole) {
            passed.push_back({place - hop, place + hop});
        }
        stops.insert(stops.end(), ladder.begin(), ladder.end());
        if (ends) {
            break;  // nobody comes to what follows
        }
        const double reach = std::min({0.5 * place, place - before, next - place});
        if (!hole && (!passes || !(reach > 0) || !windows.smooth_between(place - reach, place + reach))) {
            stops.push_back(place);
        }
    }
    // What is there but at one number goes on behind it: a step leads across that nobody could follow closer.
    std::erase_if(stops, [&](double t) {
        return std::any_of(passed.begin(), passed.end(),
                           [&](const auto& gap) { return gap.first < t && t < gap.second; });
    });
    windows.anywhere();
    for (const Turns::Noisy& noisy : turns.noisy) {
        if (noisy.begin < noisy.end && !windows.smooth_between(noisy.begin, noisy.end) &&
            !(windows.farthest * noisy.end <= harmless * std::max(1.0, noisy.end)) &&
            (!result.unresolved || noisy.end < *result.unresolved)) {
            result.unresolved = noisy.end;
            stops.push_back(noisy.end);
        }
    }
    stops.erase(std::remove_if(stops.begin(), stops.end(),
                               [&](double t) { return !(t > probes.front() && t < probes.back()); }),
                stops.end());
    stops = merged(std::move(stops), {});
    std::set_difference(stops.begin(), stops.end(), result.switches.begin(), result.switches.end(),
                        std::back_inserter(result.stops));
    double before = 0;
    for (const double stop : result.stops) {
        result.noise.push_back(windows.noise_between(std::max(before, stop / 2), stop));
        before = stop;
    }
    return result;
}

}  // namespace flyball::scheme
