// What a particle run is: everything that decides its result. Two runs with equal settings end with the same bits.
//
// `setting_fields()` is the one list of what a user can set: flags, configuration files, the identity of restart files
// and captions walk it. A new setting is a member, a row of the list and, where it can be wrong, a line in `check`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/setting_field.hpp"

namespace flyball::dynamics {

struct TrainedWeights;  // trained_weights.hpp
struct StartFile;       // start_file.hpp

enum class StartKind { symmetric, uniform, gaussian, cone, equiangular, file };
enum class WeightKind { identity, gaussian, kaiming, orthogonal, file, model };
enum class Method { automatic, erk, bdf, euler, rk4 };
enum class Precision { f64, f32 };

// Stop when an observable crosses a level: cosine>0.999, clusters<=1.
struct Until {
    std::string observable;  // a field of a sample that is an event (sample.hpp)
    bool above = true;
    double level = 0;
    bool or_equal = false;

    bool holds(double value) const { return (above ? value > level : value < level) || (or_equal && value == level); }
};

// One of the four random matrices of attention: times the gain of its kind (kaiming: sqrt 2, others 1), times a gain
// of its own, or the identity instead: "kaiming:o=identity" has no output matrix.
struct Gain {
    enum class Kind { standard, number, identity } kind = Kind::standard;
    double number = 0;
};
using Gains = std::array<Gain, 4>;  // of query, key, value, output
inline constexpr std::array<const char*, 4> gain_names = {"q", "k", "v", "o"};

struct Settings {
    std::size_t tokens = 32;
    std::size_t dim = 32;  // 0: not said; complete() chooses
    double beta = 1;
    std::size_t heads = 1;
    bool causal = false;
    std::string attention = "softmax";
    std::string kernel = "auto";
    Precision precision = Precision::f64;

    WeightKind weights = WeightKind::identity;
    Gains gains;
    std::string weight_file;  // or the model: a folder, an id, builtin:NAME
    bool norm_gains = false;  // of a model: queries, keys and values take the gains of the norm in front of them
    // Of a model: what was read of it, by whoever may read models (src/bridge); follows from the two above.
    std::shared_ptr<const TrainedWeights> trained = nullptr;
    bool fresh = false;         // redraw random weights at every integer t
    std::size_t ffn_width = 0;  // 0: no FFN

    StartKind start = StartKind::uniform;
    double cone_delta = 0;    // every pair has cosine >= 1 - delta
    double start_cosine = 0;  // equiangular: every pair has this cosine
    std::string start_file;
    std::optional<std::size_t> start_frame;  // of a trajectory; the last unless said
    // What was opened of the file; follows from the two above.
    std::shared_ptr<const StartFile> started = nullptr;
    double r0 = 1;
    std::size_t systems = 1;
    std::uint64_t seed = 1;

    std::optional<std::size_t> layers;  // discrete layers; otherwise an ODE up to `time`
    std::optional<double> dt;           // of layers, euler and rk4; see step()
    double time = 10;
    Method method = Method::automatic;
    double rtol = 1e-10;
    double atol = 1e-12;
    std::size_t samples = 51;  // including 0 and the end
    bool log_time = false;     // samples spaced evenly in log t (after the first)
    std::optional<Until> until;
    double pair_cosine = 0.999;  // the pair fraction counts pairs with a cosine above
    bool per_system = false;     // the document has the values of every system too

    bool draws_weights() const {
        return weights == WeightKind::gaussian || weights == WeightKind::kaiming || weights == WeightKind::orthogonal;
    }
    // A layer is a whole block unless dt says otherwise: real networks have dt = 1.
    double step() const { return dt.value_or(layers ? 1 : 0.1); }
    double final_time() const { return layers ? static_cast<double>(*layers) * step() : time; }
};

using SettingField = flyball::SettingField<Settings>;
const std::vector<SettingField>& setting_fields();

// What follows from the rest where it was not said (the dimension: 32, or the tokens of an equiangular start).
void complete(Settings& settings);

// Throws Error(usage) with a sentence where a setting makes no sense, alone or beside the others.
void check(const Settings& settings);

// The pieces of fields that others read too. "symmetric", "cone:0.01", "run/trajectory.h5"; "kaiming:1.5",
// "kaiming:q=1,o=identity", "weights.safetensors", "builtin:pre-ln"; "cosine>0.999", "clusters <= 1".
void parse_start(const std::string& text, Settings& settings);
void parse_weights(const std::string& text, Settings& settings);
std::string weights_text(const Settings& settings);
Until parse_until(const std::string& text);
Method parse_method(const std::string& text);
const char* name(Method method);

// The least number of dimensions that the start needs: as many as tokens where it is equiangular, one less where all
// tokens together have no mean.
std::size_t start_dimensions(const Settings& settings);

// The times at which a run is looked at, increasing from 0 to the end.
std::vector<double> sample_times(const Settings& settings);

// What a command keeps of all its runs until the last of them is drawn: samples, and the points of pictures.
struct KeptToTheEnd {
    std::size_t runs = 1;
    std::size_t picture_points = 0;  // of a run, at all times (picture_samples, pictured_tokens)
};

// Bytes that a run of `streams` streams will hold at most, the last of several with what was kept of those before it.
double memory_estimate(const Settings& settings, std::size_t streams, const KeptToTheEnd& kept = {});

}  // namespace flyball::dynamics
