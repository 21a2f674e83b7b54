#include "claims/style.hpp"

#include "scheme/own_equation.hpp"

namespace flyball::claims {

report::Style style_of(const scheme::Scheme& scheme) {
    const scheme::Look look = scheme::look_of(scheme);
    return {std::string(look.colour), std::string(look.dash)};
}

std::string title_of(const scheme::Scheme& scheme) {
    return scheme.entry == nullptr ? scheme.program.body_text() : std::string(scheme.entry->title);
}

report::Series series_of(std::string_view name, std::vector<double> x, std::vector<double> y) {
    const scheme::Scheme scheme = scheme::find_scheme(name);
    report::Series series;
    series.name = title_of(scheme);
    series.x = std::move(x);
    series.y = std::move(y);
    series.style = style_of(scheme);
    return series;
}

report::Series cosine_series(std::string_view scheme, const std::vector<dynamics::Sample>& samples) {
    report::Series series = series_of(scheme, {}, {});
    for (const dynamics::Sample& sample : samples) {
        series.x.push_back(sample.t);
        series.y.push_back(sample.cosine);
        series.lo.push_back(sample.cosine_lo);
        series.hi.push_back(sample.cosine_hi);
    }
    return series;
}

}  // namespace flyball::claims
