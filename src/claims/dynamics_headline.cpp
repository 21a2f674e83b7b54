// The headline: Peri-LN moves tokens early, as nGPT does, and late, as Pre-LN does. Where, and where not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "claims/dynamics.hpp"
#include "claims/experiment.hpp"
#include "claims/paper.hpp"
#include "measure/extremes.hpp"
#include "theory/theory.hpp"

namespace flyball::claims {

namespace {

constexpr double T = 10;
constexpr std::size_t schemes = 6;
constexpr std::size_t peri = 3;  // in paper_schemes()

theory::Settings symmetric(double n, double beta) {
    return {n, {beta}, 1, T, std::nullopt};
}

// |theta'| of equiangular tokens from gamma' (geometry alone; see dynamics_terminal.cpp).
double turning(const theory::Point& point, double n) {
    const double one_minus = std::exp(point.log_one_minus_gamma);
    const double log_root = 0.5 * (std::log((n - (n - 1) * one_minus) / (n - 1)) + point.log_one_minus_gamma);
    return 0.5 * std::exp(point.log_velocity - log_root);
}

// How far a token turns in the first tenth of depth and in the last half, by Simpson's rule.
struct Ends {
    double early = 0;
    double late = 0;
};
Ends ends_of(const scheme::Program& program, double n, double beta) {
    constexpr std::size_t panels = 200;
    const auto path = [&](double from, double to) {
        std::vector<double> times;
        for (std::size_t i = 0; i <= panels; ++i) {
            times.push_back(from + (to - from) * static_cast<double>(i) / panels);
        }
        const std::vector<theory::Point> points = theory::solve(program, symmetric(n, beta), times);
        double sum = 0;
        for (std::size_t i = 0; i <= panels; ++i) {
            sum += (i == 0 || i == panels ? 1 : i % 2 == 1 ? 4 : 2) * turning(points[i], n);
        }
        return sum * (to - from) / (3 * panels);
    };
    return {path(0, T / 10), path(T / 2, T)};
}

struct Place {
    double n = 0;
    double beta = 0;
    std::array<Ends, schemes> ends{};

    // The weaker end of a scheme, each end as a share of the best scheme there.
    double strength(std::size_t scheme) const {
        double best_early = 0;
        double best_late = 0;
        for (const Ends& e : ends) {
            best_early = measure::larger(best_early, e.early);
            best_late = measure::larger(best_late, e.late);
        }
        return measure::smaller(ends[scheme].early / best_early, ends[scheme].late / best_late);
    }
    // Of Peri-LN over the best of the others.
    double lead() const {
        double other = 0;
        for (std::size_t i = 0; i < schemes; ++i) {
            other = i == peri ? other : measure::larger(other, strength(i));
        }
        return strength(peri) / other;
    }
};

std::vector<double> token_counts(const Context& context) {
    return context.quick ? std::vector<double>{16, 256, 4096} : std::vector<double>{8, 16, 64, 256, 1024, 4096};
}

std::vector<double> inverse_temperatures(const Context& context) {
    std::vector<double> betas;
    const double step = context.size(1.0, 0.25);
    for (double beta = step; beta <= 10; beta += step) {
        betas.push_back(beta);
    }
    return betas;
}

std::vector<Place> survey(const Context& context) {
    std::vector<scheme::Program> programs;
    for (const std::string& name : paper_schemes()) {
        programs.push_back(scheme::find_scheme(name).program);
    }
    std::vector<Place> places;
    const std::vector<double> counts = token_counts(context);
    const std::vector<double> betas = inverse_temperatures(context);
    for (const double n : counts) {
        for (const double beta : betas) {
            context.at(static_cast<double>(places.size()) / static_cast<double>(counts.size() * betas.size()));
            Place place{n, beta, {}};
            for (std::size_t i = 0; i < schemes; ++i) {
                place.ends[i] = ends_of(programs[i], n, beta);
            }
            places.push_back(place);
        }
    }
    return places;
}

report::HeatFigure lead_figure(const std::vector<Place>& places, const Context& context) {
    report::HeatFigure figure;
    figure.title = "Where Peri-LN is the strongest at both ends";
    figure.x.label = "inverse temperature β";
    figure.y.label = "tokens";
    figure.y.scale = report::Scale::log;
    figure.x_values = inverse_temperatures(context);
    figure.y_values = token_counts(context);
    for (const Place& place : places) {
        figure.values.push_back(place.lead());
    }
    figure.colour.label = "strength of Peri-LN / strength of the best other scheme";
    figure.colour.scale = report::Scale::log;
    figure.centre = 1;
    figure.caption =
        "Orange, above 1: Peri-LN is the strongest of six schemes. Blue, below 1: another one is. Peri-LN leads while "
        "e^β is below about n.\nA scheme turns tokens by some angle in the first tenth of depth, and by another in the "
        "last half; each is taken as a share of the largest of the six. Its strength is the smaller of the two shares. "
        "Symmetric start, T = 10, r0 = 1, from the reduced law.";
    return figure;
}

report::LineFigure end_figure(const std::vector<Place>& places, bool early) {
    report::LineFigure figure;
    figure.title = early ? "Angle turned in the first tenth of depth" : "Angle turned in the last half of depth";
    figure.x.label = "inverse temperature β";
    figure.y.label = "radians";
    figure.y.scale = report::Scale::log;
    figure.y.min = 1e-4;
    figure.caption = "n = 256, T = 10, r0 = 1, symmetric start, from the reduced law";
    for (std::size_t i = 0; i < schemes; ++i) {
        report::Series series = series_of(paper_schemes()[i], {}, {});
        for (const Place& place : places) {
            if (place.n == 256) {
                series.x.push_back(place.beta);
                series.y.push_back(early ? place.ends[i].early : place.ends[i].late);
            }
        }
        figure.series.push_back(std::move(series));
    }
    return figure;
}

// Where the headline is true ends between e^beta = n/2 and 3 n: Peri-LN leads everywhere on one side of `limit`, and
// nowhere from 6 times it on.
Measurement both_ends(const Context& context) {
    const double limit = context.predict("largest e^beta/n", 0.5);
    const std::vector<Place> places = survey(context);
    std::size_t leads = 0;
    std::size_t inside = 0;
    std::size_t inside_leads = 0;
    std::size_t far_leads = 0;
    double first_lost = HUGE_VAL;
    double last_led = 0;
    for (const Place& place : places) {
        const double ratio = std::exp(place.beta) / place.n;
        const bool led = place.lead() > 1;
        leads += led ? 1 : 0;
        inside += ratio <= limit ? 1 : 0;
        inside_leads += ratio <= limit && led ? 1 : 0;
        far_leads += ratio >= 6 * limit && led ? 1 : 0;
        first_lost = led ? first_lost : std::min(first_lost, ratio);
        last_led = led ? std::max(last_led, ratio) : last_led;
    }
    Measurement result;
    result.predicted = "Peri-LN has the strongest weaker end everywhere";
    result.measured = fmt::format("in {} of {} places; in {} of {} with e^beta <= {} n, in {} with e^beta >= {} n",
                                  leads, places.size(), inside_leads, inside, limit, far_leads, 6 * limit);
    result.tolerance = "none: a ranking in every place";
    result.verdict = verdict_of(leads == places.size(), inside > 0 && inside_leads == inside && far_leads == 0);
    result.note = fmt::format(
        "angle turned in the first tenth and in the last half of depth, each as a share of the best of six schemes; a "
        "scheme is as strong as the smaller share; Peri-LN first loses its lead at e^beta = {:.2g} n and last has it "
        "at "
        "{:.2g} n; T = 10, r0 = 1, symmetric start, from the reduced law",
        first_lost, last_led);
    result.pictures = {{"dynamics-headline", lead_figure(places, context)},
                       {"dynamics-headline-early", end_figure(places, true)},
                       {"dynamics-headline-late", end_figure(places, false)}};
    return result;
}

// log r at gamma = 1/2 from d gamma/d log r = 2 q (1-gamma)(1+(n-1)gamma)/(e^beta + (n-1) gamma q), by Simpson's rule.
// While tokens hear only themselves r' = 1, so t = r to leading order: the time is the exponential of order e^beta.
double log_time_to_half(double n, double beta) {
    constexpr int panels = 20000;
    const auto integrand = [&](double gamma) {
        const Equiangular at = equiangular(n, beta, gamma);
        return at.along / at.rate;
    };
    double sum = integrand(0) + integrand(0.5);
    for (int i = 1; i < panels; ++i) {
        sum += (i % 2 == 1 ? 4 : 2) * integrand(0.5 * i / panels);
    }
    return sum * 0.5 / (3 * panels);
}

// Times from the reduced law beside the integral above, on a logarithm: they span tens of orders of magnitude.
Measurement frozen(const Context& context) {
    constexpr double tolerance = 0.03;
    const double n = 16;
    Comparison agreement = Comparison::relative(tolerance);
    double shown = 0;
    std::string note;
    for (const char* name : {"pre-ln", "peri-ln"}) {
        for (double beta = 5.5; beta <= 8; beta += context.size(0.5, 0.125)) {
            context.at((beta - 5.5) / 2.5);
            const auto time = theory::time_to_cosine(scheme::find_scheme(name).program, symmetric(n, beta), 0.5);
            const double log_time = time ? std::log(*time) : std::nan("");
            agreement.see(log_time, context.predict("log t", log_time_to_half(n, beta), {n, beta}));
            shown = beta == 7 ? log_time : shown;
            if (beta == 5.5 || beta == 7 || beta == 8) {
                note +=
                    fmt::format("{}t = {:.1e} at beta = {}", note.empty() ? "" : ", ", time.value_or(HUGE_VAL), beta);
            }
        }
        note += fmt::format(" ({})", name);
    }
    Measurement result;
    result.predicted = context.predict("log t", log_time_to_half(n, 7), {n, 7});
    result.measured = shown;
    result.tolerance = fmt::format("{} of it", tolerance);
    result.verdict = verdict_of(agreement.agrees());
    result.note = fmt::format(
        "log t at which {} orthonormal tokens reach a cosine of 0.5 at beta = 7; over beta = 5.5 to 8 off by at most "
        "{:.2f} of it: {}",
        n, agreement.off(), note);
    return result;
}

}  // namespace

std::vector<Claim> dynamics_headline_claims() {
    return {{"dynamics-headline",
             "Peri-LN makes use of both ends of depth: it turns tokens early, where Post-LN and Pre-LN hardly do, and "
             "still turns them late, where nGPT no longer does.",
             "Headline", Verdict::holds_corrected,
             "so it is while e^beta is at most n/2; at lower temperatures Peri-LN freezes with Pre-LN", both_ends, 40},
            {"dynamics-headline-frozen",
             "Once e^beta is large beside n, the time Pre-LN and Peri-LN need to move tokens is the exponential of an "
             "integral of order e^beta.",
             "finding", Verdict::holds, "", frozen}};
}

}  // namespace flyball::claims
