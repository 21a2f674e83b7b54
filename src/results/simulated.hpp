// A run of particles as the page shows it, whether it was read from the results or from what a run leaves on its way.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/safetensors.hpp"
#include "results/parts.hpp"

namespace flyball::results {

struct Simulated {
    std::string name, equation, outcome;
    std::size_t number = 0;  // in work/, from 1
    report::Style style;
    CurveSeries series;
    double collapse_time = std::numeric_limits<double>::quiet_NaN();

    // The values of a quantity; of one that is not there, none.
    std::vector<double> values(std::string_view quantity) const {
        for (const CurveQuantity& one : series.quantities) {
            if (one.name == quantity) {
                return one.y;
            }
        }
        return {};
    }
    Json at_start(std::string_view quantity) const {
        const std::vector<double> list = values(quantity);
        return list.empty() ? Json() : Json(list.front());
    }
    double last(std::string_view quantity) const {
        const std::vector<double> list = values(quantity);
        return list.empty() ? std::numeric_limits<double>::quiet_NaN() : list.back();
    }
    Json at_end(std::string_view quantity) const {
        const std::vector<double> list = values(quantity);
        return list.empty() ? Json() : Json(list.back());
    }
};

// The dots of one run: [frames, tokens, dim] in two or three dimensions, and the time of each frame.
struct Motion {
    std::vector<float> points;
    std::vector<double> times;
    std::size_t tokens = 0;
    std::size_t dim = 3;
};

Motion read_motion(const SafeTensors& file, const std::string& name, const std::string& times);
// One run of the moving picture; `shown` becomes the number of dots.
Json sphere_run(const Motion& motion, const Simulated& run, const Detail& detail, std::size_t& shown);

Json curves_over_time(const std::vector<Simulated>& runs, const Detail& detail);

}  // namespace flyball::results
