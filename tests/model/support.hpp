// What the tests of models share: the golden folders, comparison against a reference tensor, what a pass shows.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/safetensors.hpp"
#include "model/pass.hpp"
#include "places.hpp"

namespace flyball::model::test {

inline std::filesystem::path golden_folder() {
    return std::filesystem::path(flyball::test::source_folder) / "tests" / "model" / "golden";
}

inline std::vector<std::string> golden_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(golden_folder())) {
        if (entry.is_directory()) {
            names.push_back(entry.path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

inline std::vector<std::int32_t> read_ids(const SafeTensors& file, const std::string& name = "ids") {
    std::vector<std::int32_t> ids;
    for (const double id : file.read<double>(name)) {
        ids.push_back(static_cast<std::int32_t>(id));
    }
    return ids;
}

// max|got - expected| / max|expected|; infinite when sizes differ or a number is NaN.
template <class Got, class Expected>
double distance(const Got& got, const Expected& expected) {
    if (got.size() != expected.size() || got.empty()) {
        return INFINITY;
    }
    double worst = 0;
    double size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double difference = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
        if (std::isnan(difference)) {
            return INFINITY;
        }
        worst = std::max(worst, difference);
        size = std::max(size, std::fabs(static_cast<double>(expected[i])));
    }
    return size == 0 ? worst : worst / size;
}

// Everything a pass shows, kept: attention.L [heads, tokens, tokens], hidden.L, logits.
template <class Real>
struct Seen {
    std::map<std::string, std::vector<Real>> tensors;
    double loss = NAN;
    std::mutex mutex;

    Taps<Real> taps(const Architecture& a, std::size_t tokens) {
        Taps<Real> taps;
        const auto keep = [](std::vector<Real>& to, const TapView<Real>& view) {
            to.resize((view.first_row + view.rows) * view.columns);
            for (std::size_t i = 0; i < view.rows; ++i) {
                std::copy_n(view.row(i), view.columns, to.data() + (view.first_row + i) * view.columns);
            }
        };
        for (std::size_t l = 0; l < a.layers; ++l) {
            tensors["attention." + std::to_string(l)].assign(a.heads * tokens * tokens, Real{0});
        }
        taps.add("blocks.*.attn.pattern", [this, tokens](const TapView<Real>& view) {
            const std::lock_guard lock(mutex);
            std::vector<Real>& to = tensors.at("attention." + std::to_string(view.layer));
            for (std::size_t i = 0; i < view.rows; ++i) {
                std::copy_n(view.row(i), view.columns,
                            to.data() + (view.head * tokens + view.first_row + i) * tokens + view.first_column);
            }
        });
        taps.add("embed", [this, keep](const TapView<Real>& view) { keep(tensors["hidden.0"], view); });
        taps.add("blocks.*.resid", [this, keep](const TapView<Real>& view) {
            keep(tensors["hidden." + std::to_string(view.layer + 1)], view);
        });
        const std::string last = "hidden." + std::to_string(a.layers);
        taps.add("readout", [this, keep, last](const TapView<Real>& view) { keep(tensors[last], view); });
        taps.add("logits", [this, keep](const TapView<Real>& view) { keep(tensors["logits"], view); });
        return taps;
    }
};

// The folder of real checkpoints, or empty.
inline std::filesystem::path real_models() {
    const char* folder = std::getenv("FLYBALL_TEST_MODELS");
    return folder == nullptr ? std::filesystem::path() : std::filesystem::path(folder);
}

}  // namespace flyball::model::test
