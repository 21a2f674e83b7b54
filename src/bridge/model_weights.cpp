#include "bridge/model_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/unreachable.hpp"
#include "model/block_code.hpp"
#include "model/locate.hpp"
#include "record/sealed.hpp"
#include "scheme/normaliser.hpp"

namespace flyball::bridge {

namespace {

using attention::Weights;
using model::Architecture;
using model::BlockLayout;
using model::Linear;
using model::Model;
using model::NormPlace;
using scheme::AttentionNorm;
using scheme::Instruction;
using scheme::RowFunction;

[[noreturn]] void refuse_model(const std::string& name, const std::string& got, const std::string& expected,
                               const std::string& hint = {}) {
    throw Error(ErrorKind::usage, "bridge.model_weights",
                fmt::format("the weights of {}, {}", flyball::quoted(name), got), expected, hint);
}

// What a norm makes of a row, as far as particles are concerned.
struct NormLength {
    double length = 1;     // of what it gives
    bool centred = false;  // it subtracts the mean of the channels first
    bool operator==(const NormLength&) const = default;
};

std::optional<NormLength> length_of(RowFunction function, std::size_t dim) {
    const double root = std::sqrt(static_cast<double>(dim));
    switch (function) {
        case RowFunction::sphere:
            return NormLength{1, false};
        case RowFunction::rms:
            return NormLength{root, false};
        case RowFunction::centred:
            return NormLength{root, true};
        case RowFunction::tanh:
        case RowFunction::erf:
            return std::nullopt;
    }
    unreachable();
}

// The one length that the norms of all blocks give.
NormLength unit_of(const Model<float>& model, const std::string& name) {
    const Architecture& a = model.architecture();
    std::optional<NormLength> found;
    for (std::size_t l = 0; l < a.layers; ++l) {
        for (const Instruction& instruction : model::block_code(model, l, 1).code.instructions) {
            if (instruction.kind != Instruction::Kind::apply) {
                continue;
            }
            const RowFunction function = instruction.norm >= 0 ? scheme::find_normaliser(a.norm).function
                                                               : scheme::row_function(instruction.function);
            const std::optional<NormLength> length = length_of(function, a.dim);
            if (!length) {
                refuse_model(name, "whose equation bends each channel by itself",
                             "norms that give vectors of one length", "only those have particles on a sphere");
            }
            if (found && *found != *length) {
                refuse_model(name, "whose norms give vectors of different lengths", "norms of one length");
            }
            found = length;
        }
    }
    if (!found) {
        refuse_model(name, "whose blocks have no norm", "a norm, whose length is the unit of length of particles");
    }
    return *found;
}

// The norm in front of a block's attention, factors aside; nothing where attention is given the stream itself.
const NormPlace* input_norm(const model::BlockCode& block) {
    const std::vector<Instruction>& all = block.code.instructions;
    const auto call = std::find_if(all.begin(), all.end(), [](const Instruction& instruction) {
        return instruction.kind == Instruction::Kind::call && instruction.sub_layer == scheme::SubLayer::attention;
    });
    if (call == all.end()) {
        return nullptr;
    }
    int wanted = call->in;
    for (auto at = std::make_reverse_iterator(call); at != all.rend(); ++at) {
        if (at->out != wanted) {
            continue;
        }
        if (at->norm >= 0) {
            return &(*block.norms)[static_cast<std::size_t>(at->norm)];
        }
        if (at->kind != Instruction::Kind::combine || at->terms.size() != 1) {
            return nullptr;
        }
        wanted = at->terms[0].source;
    }
    return nullptr;
}

// Matrices of one block after another, in the particles' units (dynamics/trained_weights.hpp): rows of queries, keys
// and values take the gains in front of them; LayerNorm's mean is taken off rows and off the columns of the output, so
// that vectors whose channels add up to 0 stay so.
class Reader {
  public:
    Reader(std::shared_ptr<const Model<float>> model, NormLength unit, bool gains)
        : model_(std::move(model)), a_(model_->architecture()), unit_(unit), gains_(gains) {}

    // s^2 scale where neither queries nor keys are normed, s scale where one of them is, scale where both are: each
    // norm takes one factor s out of the score.
    double beta() const {
        const AttentionNorm& norm = a_.attention_norm;
        const int normed = norm.any() ? (norm.query ? 1 : 0) + (norm.key ? 1 : 0) : 0;
        const double squared = std::round(unit_.length * unit_.length);  // d or 1
        return a_.score_scale(0) * (normed == 0 ? squared : normed == 1 ? unit_.length : 1);
    }

    // Unnormalized weights are exp(score - beta)/n, in the model with the scale of the block for beta: so much larger.
    double lost(std::size_t l) const {
        return a_.attention_kind == attention::Kind::unnormalized ? std::exp(beta() - a_.score_scale(l)) : 1;
    }

    Weights<double> weights(std::size_t l) const {
        const BlockLayout& block = model_->layout().blocks[l];
        const NormPlace* const norm = gains_ ? input_norm(model::block_code(*model_, l, 1)) : nullptr;
        const float* const gain = norm == nullptr ? nullptr : model_->at(norm->gain);
        Weights<double> weights{a_.heads, a_.head_dim, {}, norms()};
        for (std::size_t h = 0; h < a_.heads; ++h) {
            const std::size_t group = h * a_.kv_heads / a_.heads;
            attention::HeadWeights<double> head;
            head.query = rows(block, h * a_.head_dim, gain);
            head.key = rows(block, a_.query_width() + group * a_.head_dim, gain);
            head.value = rows(block, a_.query_width() + a_.key_width() + group * a_.head_dim, gain);
            head.output = output(block, l, h, group);
            head.channels = channels(block, l, h, group);
            weights.head.push_back(std::move(head));
        }
        return weights;
    }

  private:
    // Rows [first, first + head_dim) of the joint matrix of queries, keys and values: [head_dim, dim].
    std::vector<double> rows(const BlockLayout& block, std::size_t first, const float* gain) const {
        std::vector<double> result(a_.head_dim * a_.dim);
        for (std::size_t i = 0; i < a_.head_dim; ++i) {
            double* const row = result.data() + i * a_.dim;
            const std::size_t channel = first + i;
            const Linear& part = *std::find_if(block.qkv.begin(), block.qkv.end(), [channel](const Linear& one) {
                return channel >= one.offset && channel < one.offset + one.out;
            });
            double sum = 0;
            for (std::size_t c = 0; c < a_.dim; ++c) {
                row[c] = entry(part, channel - part.offset, c) * (gain == nullptr ? 1.0 : static_cast<double>(gain[c]));
                sum += row[c];
            }
            for (std::size_t c = 0; unit_.centred && c < a_.dim; ++c) {
                row[c] -= sum / static_cast<double>(a_.dim);
            }
        }
        return result;
    }

    // The columns of the output matrix that read head h: [dim, head_dim]. Normed values have lost their length, which
    // the unit of particles puts back, and their gains are here, as is what unnormalized weights lose.
    std::vector<double> output(const BlockLayout& block, std::size_t l, std::size_t h, std::size_t group) const {
        std::vector<double> result(a_.dim * a_.head_dim);
        const bool normed = a_.attention_norm.any() && a_.attention_norm.value;
        for (std::size_t i = 0; i < a_.head_dim; ++i) {
            const double factor =
                lost(l) * (normed ? 1 / unit_.length : 1) * gain_of(block, 2, group * a_.head_dim + i, i);
            double sum = 0;
            for (std::size_t c = 0; c < a_.dim; ++c) {
                result[c * a_.head_dim + i] = factor * entry(block.output, c, h * a_.head_dim + i);
                sum += result[c * a_.head_dim + i];
            }
            for (std::size_t c = 0; unit_.centred && c < a_.dim; ++c) {
                result[c * a_.head_dim + i] -= sum / static_cast<double>(a_.dim);
            }
        }
        return result;
    }

    // Gains of normed queries and keys meet in the score, and so does the scale of the block beside the first one's.
    std::vector<double> channels(const BlockLayout& block, std::size_t l, std::size_t h, std::size_t group) const {
        std::vector<double> result(a_.head_dim);
        for (std::size_t i = 0; i < a_.head_dim; ++i) {
            result[i] = a_.score_scale(l) / a_.score_scale(0) * gain_of(block, 0, h * a_.head_dim + i, i) *
                        gain_of(block, 1, group * a_.head_dim + i, i);
        }
        const bool plain = std::all_of(result.begin(), result.end(), [](double factor) { return factor == 1; });
        return plain ? std::vector<double>() : result;
    }

    // Of the norm on queries, keys or values (0, 1, 2): one for each channel, or those of a head for all heads.
    double gain_of(const BlockLayout& block, std::size_t part, std::size_t channel, std::size_t in_head) const {
        const float* const gains = model_->at(block.attention_gains[part]);
        if (gains == nullptr) {
            return 1;
        }
        return static_cast<double>(gains[a_.attention_norm.gains == AttentionNorm::Gains::head ? in_head : channel]);
    }

    double entry(const Linear& part, std::size_t out, std::size_t in) const {
        return static_cast<double>(model_->at(part.weight)[part.in_out ? in * part.out + out : out * part.in + in]);
    }

    // eps belongs to vectors that are longer by the unit. Keys and values of a group stand here once for each head that
    // reads them: their squares are counted as often.
    std::array<attention::ProjectionNorm, 3> norms() const {
        std::array<attention::ProjectionNorm, 3> result;
        const AttentionNorm& norm = a_.attention_norm;
        if (!norm.any()) {
            return result;
        }
        const bool all_heads = norm.over == AttentionNorm::Over::projection;
        const bool mean = scheme::find_normaliser(norm.norm).function == RowFunction::rms;
        const std::array<bool, 3> on = {norm.query, norm.key, norm.value};
        for (std::size_t part = 0; part < 3; ++part) {
            const std::size_t copies = all_heads && part > 0 ? a_.heads / a_.kv_heads : 1;
            const std::size_t channels = all_heads ? a_.query_width() : a_.head_dim;
            result[part].on = on[part];
            result[part].all_heads = all_heads;
            result[part].count = static_cast<double>(mean ? channels : copies);
            result[part].eps = mean ? a_.eps / (unit_.length * unit_.length) : 0;
        }
        return result;
    }

    std::shared_ptr<const Model<float>> model_;
    const Architecture& a_;
    NormLength unit_;
    bool gains_;
};

void check_attention(const Architecture& a, const std::string& name) {
    if (a.score_cap > 0) {
        refuse_model(name, fmt::format("whose scores are capped at {}", a.score_cap),
                     "scores that are products of queries and keys", "no kernel of particles has a soft cap");
    }
    const AttentionNorm& norm = a.attention_norm;
    if (norm.any() && scheme::find_normaliser(norm.norm).function == RowFunction::centred) {
        refuse_model(name, "whose queries or keys pass a LayerNorm", "RMSNorm or unit length on them, or none");
    }
}

// Whether some norm in front of attention has gains; Error where they are asked for and some block has none.
void check_gains(const Model<float>& model, const std::string& name) {
    for (std::size_t l = 0; l < model.architecture().layers; ++l) {
        const NormPlace* const norm = input_norm(model::block_code(model, l, 1));
        if (norm == nullptr || norm->gain == model::absent) {
            refuse_model(
                name, fmt::format("with the gains of the norm in front of attention, which block {} does not have", l),
                "a model whose attention is given normed vectors in every block",
                fmt::format("leave out {}", setting("gains")));
        }
    }
}

std::vector<std::string> notes_of(const Model<float>& model, bool centred, bool gains) {
    const Architecture& a = model.architecture();
    std::vector<std::string> notes;
    if (a.learned_positions || a.rope.dims > 0) {
        notes.push_back(fmt::format("{} positions are dropped.", a.rope.dims > 0 ? "Rotary" : "Learned"));
    }
    if (a.qkv_bias || a.output_bias || a.norm_bias) {
        notes.push_back("Biases are dropped.");
    }
    if (gains) {
        notes.push_back("The gains of the norm in front of attention are taken; those of other norms are dropped.");
    } else if (scheme::find_normaliser(a.norm).gain) {
        notes.push_back("The gains of norms are dropped.");
    }
    if (!model.program().learned().empty()) {
        notes.push_back("The learned numbers of its equation are dropped: those of the simulated scheme are taken.");
    }
    notes.push_back("The feed-forward network is dropped.");
    if (a.attention_kind == attention::Kind::unnormalized) {
        notes.push_back(
            "Output matrices are larger by exp(beta - scale), since unnormalized weights are exp(score - beta)/n here "
            "and exp(score - scale)/n in the model.");
    }
    if (centred) {
        notes.push_back("LayerNorm: particles live where the channels of a vector add up to 0.");
    }
    return notes;
}

}  // namespace

dynamics::TrainedWeights model_weights(std::shared_ptr<const Model<float>> model, const std::string& name, bool gains) {
    const Architecture& a = model->architecture();
    check_attention(a, name);
    if (gains) {
        check_gains(*model, name);
    }
    const NormLength unit = unit_of(*model, name);
    if (unit.centred && a.dim < 2) {
        refuse_model(name, "whose LayerNorm leaves no dimension", "at least two channels");
    }
    dynamics::TrainedWeights result;
    result.model = name;
    result.dim = a.dim;
    result.heads = a.heads;
    result.width = a.head_dim;
    result.blocks = a.layers;
    result.dt = a.dt;
    result.kind = a.attention_kind;
    result.causal = a.causal;
    result.centred = unit.centred;
    for (std::size_t l = 0; l < a.layers; ++l) {
        if (const std::size_t window = a.window(l); window > 0) {
            result.window = result.window == 0 ? window : std::min(result.window, window);
        }
    }
    result.notes = notes_of(*model, unit.centred, gains);
    const auto reader = std::make_shared<const Reader>(std::move(model), unit, gains);
    result.beta = reader->beta();
    constexpr double most = 300;  // as an exponent: what is lost can be put back
    for (std::size_t l = 0; l < result.blocks; ++l) {
        if (!(std::log(reader->lost(l)) <= most)) {
            refuse_model(name, fmt::format("whose unnormalized attention has a beta of {} as particles", result.beta),
                         fmt::format("at most {} more than the scale of its scores", most),
                         "exp(-beta) is in all of its weights");
        }
    }
    result.weights = [reader](std::size_t block) { return reader->weights(block); };
    result.checksum = [] { return std::string(); };
    return result;
}

std::shared_ptr<const dynamics::TrainedWeights> read_model_weights(const std::string& name, bool gains) {
    const std::filesystem::path folder = model::locate(name);
    auto result = std::make_shared<dynamics::TrainedWeights>(
        model_weights(std::make_shared<const Model<float>>(model::load_model(folder)), name, gains));
    result->checksum = [folder] { return record::model_checksum(folder); };
    return result;
}

}  // namespace flyball::bridge
