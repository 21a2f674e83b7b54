#include "limits/normaliser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/row_weights.hpp"
#include "core/error.hpp"
#include "core/number.hpp"
#include "core/setting_field.hpp"
#include "core/unreachable.hpp"
#include "model/layer_kernels.hpp"

namespace flyball::limits {

namespace {

using Kind = Normaliser::Kind;

const NamedValues<Kind> kind_names = {
    {"softmax", Kind::softmax}, {"sparsemax", Kind::sparsemax},   {"entmax15", Kind::entmax15}, {"ssmax", Kind::ssmax},
    {"sigmoid", Kind::sigmoid}, {"sa-softmax", Kind::sa_softmax}, {"sa-range", Kind::sa_range}};

constexpr double log2_e = 1.4426950408889634074;

// Softmax of factor*z, by the kernel of the models in double.
void softmax(std::size_t count, double factor, double* z) {
    for (std::size_t i = 0; i < count; ++i) {
        z[i] *= factor * log2_e;
    }
    model::layer_kernels<double>().softmax(count, z);
}

void self_adjusted(std::size_t count, double least, double range, double* z, std::vector<double>& room) {
    room.assign(z, z + count);
    softmax(count, 1, z);
    for (std::size_t i = 0; i < count; ++i) {
        z[i] *= range > 0 ? (room[i] - least) / range : 1;
    }
}

}  // namespace

Normaliser Normaliser::parse(std::string_view text) {
    const SettingReader reader("limits.normaliser");
    const std::size_t colon = text.find(':');
    const Kind kind = reader.named<Kind>(std::string(text.substr(0, colon)), "kind of attention", kind_names);
    if (colon == std::string_view::npos) {
        return Normaliser(kind);
    }
    const auto temperature = parse_double(text.substr(colon + 1));
    if (kind != Kind::softmax || !temperature || !(*temperature > 0)) {
        reader.fail(setting("attention", flyball::quoted(text)), "softmax:T with a temperature T above 0",
                    "T divides the raw product of query and key: softmax:8 is a model's own with heads of 64 channels");
    }
    return Normaliser(kind, *temperature);
}

Normaliser Normaliser::of(attention::Kind kind) {
    switch (kind) {
        case attention::Kind::softmax:
            return Normaliser(Kind::softmax);
        case attention::Kind::sparsemax:
            return Normaliser(Kind::sparsemax);
        case attention::Kind::entmax15:
            return Normaliser(Kind::entmax15);
        case attention::Kind::ssmax:
            return Normaliser(Kind::ssmax);
        case attention::Kind::sigmoid:
            return Normaliser(Kind::sigmoid);
        case attention::Kind::unnormalized:
            throw Error(ErrorKind::input, "limits.normaliser", "a model with unnormalized attention",
                        "attention whose weights are bounded",
                        fmt::format("ask for another kind on the same logits: {}", setting("attention", "softmax")));
    }
    unreachable();
}

std::vector<std::string> Normaliser::names() {
    std::vector<std::string> names;
    for (const auto& [name, kind] : kind_names) {
        names.emplace_back(name);
    }
    return names;
}

std::string Normaliser::name() const {
    const std::string name = name_of(kind_, kind_names);
    return temperature_ ? fmt::format("{}:{}", name, format_double(*temperature_)) : name;
}

void Normaliser::weigh(std::size_t count, double* z, std::vector<double>& room) const {
    switch (kind_) {
        case Kind::softmax:
            return softmax(count, 1, z);
        case Kind::ssmax:
            return softmax(count, std::log(static_cast<double>(count)), z);
        case Kind::sparsemax:
            return attention::row_weights(attention::Kind::sparsemax, 1, count, count, z, room);
        case Kind::entmax15:
            return attention::row_weights(attention::Kind::entmax15, 1, count, count, z, room);
        case Kind::sigmoid:
            return attention::row_weights(attention::Kind::sigmoid, 1, count, count, z, room);
        case Kind::sa_softmax:
            return self_adjusted(count, 0, 1, z, room);
        case Kind::sa_range: {
            const auto [least, most] = std::minmax_element(z, z + count);
            const double low = std::min(*least, 0.0);
            return self_adjusted(count, low, std::max(*most, 0.0) - low, z, room);
        }
    }
    unreachable();
}

// Slopes: softmax 1/2 (two equal weights), ssmax log(m) times that, the projection of sparsemax 1, entmax15 at most
// max sqrt(p) <= 1, sigmoid 1/4. Two points of the simplex are at most sqrt 2 apart, m weights below 1 at most sqrt m.
double Normaliser::sensitivity_bound(double temperature, double eps, std::size_t count) const {
    const auto m = static_cast<double>(count);
    const double diameter = std::sqrt(2.0) / eps;
    switch (kind_) {
        case Kind::softmax:
            return std::min(1 / (2 * temperature), diameter);
        case Kind::ssmax:
            return std::min(std::log(m) / (2 * temperature), diameter);
        case Kind::sparsemax:
        case Kind::entmax15:
            return std::min(1 / temperature, diameter);
        case Kind::sigmoid:
            return std::min(1 / (4 * temperature), std::sqrt(m) / eps);
        case Kind::sa_softmax:
        case Kind::sa_range:
            return std::nan("");
    }
    unreachable();
}

double paper_sensitivity_bound(double temperature) {
    return std::min(1 / (4 * temperature), std::sqrt(2.0));
}

}  // namespace flyball::limits
