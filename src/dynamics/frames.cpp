#include "dynamics/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/number.hpp"
#include "core/parallel.hpp"
#include "core/safetensors.hpp"

namespace flyball::dynamics {

namespace {

constexpr double most_bytes = 16e6;                // of a run's frames
constexpr std::size_t moments_from = 9;            // frames of a run that the directions are found from
constexpr std::size_t most_numbers = 1'000'000;    // of the rows that they are found from
constexpr std::size_t most_dots = 8000;            // of a picture: it draws no more
constexpr std::size_t most_positions = 1'000'000;  // of dots in all frames of a film
constexpr std::size_t most_rounds = 60;            // of the iteration
constexpr double settled = 1e-10;                  // 1 - cosine of a direction and itself a round before

using Directions = std::array<std::vector<double>, 3>;

// Gram and Schmidt, twice; a direction that vanishes becomes a unit vector that the others leave free.
void make_orthonormal(Directions& directions, std::size_t dim) {
    for (std::size_t k = 0; k < directions.size(); ++k) {
        std::vector<double>& v = directions[k];
        for (std::size_t attempt = 0; attempt <= dim; ++attempt) {
            double before = 0;
            for (const double x : v) {
                before += x * x;
            }
            for (int pass = 0; pass < 2; ++pass) {
                for (std::size_t j = 0; j < k; ++j) {
                    double product = 0;
                    for (std::size_t i = 0; i < dim; ++i) {
                        product += v[i] * directions[j][i];
                    }
                    for (std::size_t i = 0; i < dim; ++i) {
                        v[i] -= product * directions[j][i];
                    }
                }
            }
            double squared = 0;
            for (const double x : v) {
                squared += x * x;
            }
            if (squared > 1e-20 * before && squared > 0) {
                for (double& x : v) {
                    x /= std::sqrt(squared);
                }
                break;
            }
            std::fill(v.begin(), v.end(), 0.0);
            if (attempt < dim) {
                v[attempt] = 1;
            }
        }
    }
}

void point_up(std::vector<double>& v) {
    const auto largest =
        std::max_element(v.begin(), v.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (largest != v.end() && *largest < 0) {
        for (double& x : v) {
            x = -x;
        }
    }
}

template <class Row>
bool is_finite(const Row& row) {
    return std::all_of(row.begin(), row.end(), [](auto x) { return std::isfinite(x); });
}

// Where the directions show a row; in up to three dimensions as it is.
std::array<double, 3> projected(std::span<const float> row, const std::optional<Directions>& directions) {
    std::array<double, 3> point = {};
    for (std::size_t k = 0; k < 3; ++k) {
        if (!directions) {
            point[k] = k < row.size() ? static_cast<double>(row[k]) : 0;
            continue;
        }
        for (std::size_t i = 0; i < row.size(); ++i) {
            point[k] += (*directions)[k][i] * static_cast<double>(row[i]);
        }
    }
    return point;
}

}  // namespace

std::vector<std::size_t> frame_samples(const Settings& settings) {
    const std::size_t samples = sample_times(settings).size();
    const double bytes = 4.0 * static_cast<double>(std::min(settings.tokens, most_shown) * settings.dim);
    const auto fit = static_cast<std::size_t>(std::min(most_bytes / std::max(1.0, bytes), 1e6));
    const std::size_t count = std::min({samples, most_frames, fit});
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; count >= 2 && i < count; ++i) {
        chosen.push_back(i * (samples - 1) / (count - 1));
    }
    return chosen;
}

std::vector<std::size_t> shown_tokens(std::size_t tokens, std::size_t most) {
    const std::size_t shown = std::min(tokens, most);
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < shown; ++i) {
        chosen.push_back(i * tokens / shown);
    }
    return chosen;
}

std::vector<std::size_t> pictured_tokens(std::size_t tokens, std::size_t times) {
    return shown_tokens(tokens, std::min(most_dots, most_positions / std::max<std::size_t>(1, times)));
}

Directions leading_directions(std::span<const float> rows, std::size_t dim) {
    Directions directions;
    for (std::size_t k = 0; k < directions.size(); ++k) {
        directions[k].resize(dim);
        for (std::size_t i = 0; i < dim; ++i) {  // nothing that data are likely to be orthogonal to
            directions[k][i] = std::cos(static_cast<double>((i + 1) * (k + 2)));
        }
    }
    make_orthonormal(directions, dim);
    double change = 1;
    for (std::size_t round = 0; round < most_rounds && change > settled; ++round) {
        check_stop();
        const std::optional<Directions> old = directions;
        for (std::vector<double>& direction : directions) {
            std::fill(direction.begin(), direction.end(), 0.0);
        }
        for (std::size_t begin = 0; begin < rows.size(); begin += dim) {
            const std::span<const float> row = rows.subspan(begin, dim);
            const std::array<double, 3> products = projected(row, old);
            for (std::size_t k = 0; k < directions.size(); ++k) {
                for (std::size_t i = 0; i < dim; ++i) {
                    directions[k][i] += products[k] * static_cast<double>(row[i]);
                }
            }
        }
        make_orthonormal(directions, dim);
        change = 0;
        for (std::size_t k = 0; k < directions.size(); ++k) {
            double product = 0;
            for (std::size_t i = 0; i < dim; ++i) {
                product += (*old)[k][i] * directions[k][i];
            }
            change = std::max(change, 1 - std::fabs(product));
        }
    }
    for (std::vector<double>& direction : directions) {
        point_up(direction);
    }
    return directions;
}

FrameFile::FrameFile(std::filesystem::path path, record::Seal seal, const Settings& settings)
    : path_(std::move(path)), seal_(std::move(seal)), tokens_(shown_tokens(settings.tokens)), dim_(settings.dim) {}

void FrameFile::add(double t, std::span<const double> theta) {
    Frame frame{t, {}};
    frame.theta.reserve(tokens_.size() * dim_);
    for (const std::size_t token : tokens_) {
        for (std::size_t i = 0; i < dim_; ++i) {
            frame.theta.push_back(static_cast<float>(theta[token * dim_ + i]));
        }
    }
    frames_.push_back(std::move(frame));
}

void FrameFile::save() const {
    std::vector<double> times;
    std::vector<float> theta;
    for (const Frame& frame : frames_) {
        times.push_back(frame.t);
        theta.insert(theta.end(), frame.theta.begin(), frame.theta.end());
    }
    const std::vector<TensorToWrite> tensors = {tensor("time", {times.size()}, times),
                                                tensor("theta", {times.size(), tokens_.size(), dim_}, theta)};
    record::write_sealed(path_, seal_, tensors, {});
}

void FrameFile::load(std::size_t count) {
    const SafeTensors file = record::open_sealed(path_, seal_);
    const std::vector<double> times = file.read<double>("time");
    const std::vector<float> theta = file.read<float>("theta");
    const std::size_t size = tokens_.size() * dim_;
    if (times.size() < count || theta.size() != times.size() * size) {
        record::refuse(path_, fmt::format("{} frames", times.size()), fmt::format("at least {}", count));
    }
    frames_.clear();
    for (std::size_t k = 0; k < count; ++k) {
        const auto begin = theta.begin() + static_cast<std::ptrdiff_t>(k * size);
        frames_.push_back({times[k], {begin, begin + static_cast<std::ptrdiff_t>(size)}});
    }
}

namespace {

std::span<const float> row_of(const Frame& frame, std::size_t j, std::size_t dim) {
    return std::span<const float>(frame.theta).subspan(j * dim, dim);
}

// Of some tokens at some times of each run.
Directions common_directions(std::size_t dim, std::size_t shown, std::size_t runs,
                             const std::function<std::vector<Frame>(std::size_t run)>& load) {
    std::vector<float> rows;
    const std::size_t of_frame = std::max<std::size_t>(1, most_numbers / (dim * moments_from * runs));
    for (std::size_t run = 0; run < runs; ++run) {
        const std::vector<Frame> frames = load(run);
        const std::size_t few = std::min(frames.size(), moments_from);
        for (std::size_t i = 0; i < few; ++i) {
            const Frame& frame = frames[few > 1 ? i * (frames.size() - 1) / (few - 1) : 0];
            for (std::size_t j = 0; j < shown; j += std::max<std::size_t>(1, (shown + of_frame - 1) / of_frame)) {
                const std::span<const float> row = row_of(frame, j, dim);
                if (is_finite(row)) {
                    rows.insert(rows.end(), row.begin(), row.end());
                }
            }
        }
    }
    return leading_directions(rows, dim);
}

}  // namespace

void write_frames(const std::filesystem::path& path, const Settings& settings, std::size_t runs,
                  const std::function<std::vector<Frame>(std::size_t run)>& load) {
    const std::size_t count = shown_tokens(settings.tokens).size();
    std::optional<Directions> directions;
    if (settings.dim > 3) {
        directions = common_directions(settings.dim, count, runs, load);
    }
    std::vector<std::vector<float>> points(runs);
    std::vector<std::vector<double>> times(runs);
    std::vector<TensorToWrite> tensors;
    double shown = 0;
    double all = 0;
    for (std::size_t run = 0; run < runs; ++run) {
        for (const Frame& frame : load(run)) {
            check_stop();
            times[run].push_back(frame.t);
            for (std::size_t j = 0; j < count; ++j) {
                const std::array<double, 3> point = projected(row_of(frame, j, settings.dim), directions);
                for (const double x : point) {
                    points[run].push_back(static_cast<float>(x));
                }
                if (is_finite(point)) {
                    shown += point[0] * point[0] + point[1] * point[1] + point[2] * point[2];
                    all += 1;
                }
            }
        }
        tensors.push_back(tensor(fmt::format("run.{}", run), {times[run].size(), count, 3}, points[run]));
        tensors.push_back(tensor(fmt::format("time.{}", run), {times[run].size()}, times[run]));
    }
    write_safetensors(path, tensors,
                      {{"tokens", std::to_string(settings.tokens)},
                       {"dim", std::to_string(settings.dim)},
                       {"share", format_double(all > 0 ? shown / all : 1)}});
}

}  // namespace flyball::dynamics
