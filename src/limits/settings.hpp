// What an analysis of a model's attention is: everything that decides its result beside the model and the text.
//
// `setting_fields()` is the one list of what a user can set: flags and configuration files walk it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/setting_field.hpp"
#include "limits/normaliser.hpp"
#include "model/architecture.hpp"

namespace flyball::limits {

// Which vectors play x.
enum class Vectors {
    embedding,  // rows of the token embedding, without positions and norm
    hidden,     // the stream that enters the block, before its norm
    value,      // the head's own value vectors, with bias; grouped heads share them
};
const char* name(Vectors vectors) noexcept;

struct Settings {
    std::vector<std::size_t> lengths;  // rising; empty: 32, 64, .. 1024, up to the model's limit
    std::vector<std::size_t> top = {1, 5, 10, 20, 100};
    Vectors vectors = Vectors::hidden;
    std::vector<Normaliser> attention;  // the first is the one of the document's own fields; empty: the model's
    double alpha = 0.01;                // of the Kolmogorov-Smirnov test
    bool include_masked = false;        // keys behind the mask count as keys of weight 0
    std::uint64_t seed = 1;             // of the directions of algorithm 5
    std::optional<std::pair<std::size_t, std::size_t>> head;  // layer and head, both from 0
    std::optional<std::size_t> row;                           // token, from 0
};

// N of the distances over length, as in the paper, and of the diagnosis.
inline constexpr std::size_t n_over_length = 5;
inline constexpr std::size_t n_of_diagnosis = 20;

// T from 1e-3 to 10, three to a decade; the three sizes of a step.
std::vector<double> temperature_grid();
const std::vector<double>& step_sizes();

using SettingField = flyball::SettingField<Settings>;
const std::vector<SettingField>& setting_fields();

// Throws Error(usage) where a setting makes no sense.
void check(const Settings& settings);

// The lengths that a text of so many tokens has room for, and a sentence about each that was left out. Error(usage) for
// a length beyond the model's limit, Error(input) for a text of fewer than three tokens.
struct Lengths {
    std::vector<std::size_t> lengths;
    std::vector<std::string> notes;
};
Lengths lengths_for(const Settings& settings, const model::Architecture& architecture, std::size_t tokens);

// How many tokens of a text are worth reading.
std::size_t tokens_wanted(const Settings& settings, const model::Architecture& architecture);

}  // namespace flyball::limits
