#include "check/conformance_reading.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "check/conformance_alter.hpp"
#include "check/conformance_compare.hpp"

namespace flyball::check {

namespace {

using scheme::Code;
using scheme::Environment;
using scheme::Instruction;
using scheme::RowMap;

constexpr double most_error = 10;  // one hopeless place does not decide which equation is nearest

double counted(double error) {
    const double most = error < most_error ? error : most_error;  // NaN counts as most
    return most * most;
}

scheme::SubLayers sub_layers_of(const RunFile& run) {
    return run.has_ffn ? scheme::SubLayers::attention_and_ffn : scheme::SubLayers::attention_only;
}

Environment environment_of(const RunFile& run, const Hypothesis& hypothesis, std::size_t step) {
    Environment env = Environment::block(hypothesis.depth[step] + 1, run.layers(), hypothesis.dt, run.tokens, run.dim);
    env.t += hypothesis.clock_shift;
    return env;
}

Code block_code(const RunFile& run, const Hypothesis& hypothesis, std::size_t step) {
    const Environment env = environment_of(run, hypothesis, step);
    Code code = lower_block(hypothesis.program, sub_layers_of(run), hypothesis.program.decide(env));
    if (hypothesis.alters(step)) {
        alter_code(hypothesis, code);
    }
    if (hypothesis.branches != scheme::BranchFactors{}) {
        scale_branches(hypothesis.branches, code);
    }
    return code;
}

// By instance: which of the file's norms gives its gains, or -1.
using GainChoice = std::vector<int>;

std::vector<int> norms_in_order(const Code& code, const Hypothesis& hypothesis) {
    std::vector<const Instruction*> found;
    for (const Instruction& instruction : code.instructions) {
        if (instruction.norm >= 0) {
            found.push_back(&instruction);
        }
    }
    if (hypothesis.gains == GainOrder::written) {
        const int norms = hypothesis.program.norm_count();
        const auto key = [&](const Instruction* one) { return std::pair(one->norm / norms, one->origin->span.begin); };
        std::stable_sort(found.begin(), found.end(),
                         [&](const Instruction* a, const Instruction* b) { return key(a) < key(b); });
    }
    std::vector<int> order;
    for (const Instruction* one : found) {
        order.push_back(one->norm);
    }
    return order;
}

GainChoice choose_in_order(const Code& code, const Hypothesis& hypothesis, std::size_t saved) {
    GainChoice choice(code.norm_count, -1);
    const std::vector<int> order = norms_in_order(code, hypothesis);
    const bool again = hypothesis.gains == GainOrder::shared && saved > 0;
    for (std::size_t k = 0; k < order.size() && (k < saved || again) && hypothesis.gains != GainOrder::free; ++k) {
        choice[scheme::index(order[k])] = static_cast<int>(again ? k % saved : k);
    }
    return choice;
}

std::vector<RowMap<double>> maps_of(const RunFile& run, const Hypothesis& hypothesis, const GainChoice& choice,
                                    const std::vector<SavedNorm>& saved) {
    std::vector<RowMap<double>> maps;
    for (const int from : choice) {
        RowMap<double> map;
        map.function = hypothesis.function;
        map.eps = hypothesis.eps;
        map.alpha = run.alpha;
        if (from >= 0) {
            const SavedNorm& norm = saved[scheme::index(from)];
            map.alpha = norm.alpha;
            map.shift = norm.shift;
            map.gain = norm.gain.empty() ? nullptr : norm.gain.data();
            map.bias = norm.bias.empty() ? nullptr : norm.bias.data();
        }
        maps.push_back(map);
    }
    return maps;
}

struct StreamState {
    std::vector<Estimate> streams;
    Estimate embedding;

    std::vector<const Estimate*> pointers() const {
        std::vector<const Estimate*> result;
        for (const Estimate& stream : streams) {
            result.push_back(&stream);
        }
        return result;
    }
};

StreamState start_of(const RunFile& run, const Hypothesis& hypothesis) {
    StreamState state;
    state.embedding = estimate_of(run.embed, true);
    state.streams.assign(hypothesis.program.stream_count(), state.embedding);
    return state;
}

std::vector<double> less(std::vector<double> from, const std::vector<double>& what) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] -= what[i];
    }
    return from;
}

// One block of one step, with everything that does not change while gains are tried.
class StepReader {
  public:
    StepReader(const RunFile& run, const Hypothesis& hypothesis, std::size_t step, const SavedRows& before,
               const StreamState& state)
        : run_(run),
          hypothesis_(hypothesis),
          block_(run.blocks[hypothesis.order[step]]),
          env_(environment_of(run, hypothesis, step)),
          code_(block_code(run, hypothesis, step)),
          roundoff_(std::max(block_.resid.computed, run.compute)),
          before_(estimate_of(before, true)) {
        const bool exchanged = hypothesis.alteration == Alteration::ffn_first && run.has_ffn && hypothesis.alters(step);
        is_parallel_ = hypothesis.alteration == Alteration::parallel && hypothesis.alters(step);
        attention_in_ = exchanged ? &block_.ffn_in : &block_.attention_in;
        ffn_in_ = exchanged ? &block_.attention_in : &block_.ffn_in;
        attention_out_ = estimate_of(exchanged ? block_.ffn_out : block_.attention_out, true);
        ffn_out_ = estimate_of(exchanged ? block_.attention_out : block_.ffn_out, true);
        given_.streams = state.pointers();
        given_.streams[0] = &before_;
        given_.embedding = &state.embedding;
    }

    BlockReading read() {
        GainChoice choice = choose_in_order(code_, hypothesis_, block_.norms.size());
        if (hypothesis_.gains != GainOrder::fitted || block_.norms.empty()) {
            return read_chosen(choice);
        }
        BlockReading best = read_roughly(choice);
        for (const int instance : norms_in_order(code_, hypothesis_)) {
            for (int from = -1; from < static_cast<int>(block_.norms.size()); ++from) {
                GainChoice other = choice;
                other[scheme::index(instance)] = from;
                BlockReading reading = read_roughly(other);
                if (total(reading) < total(best)) {
                    best = std::move(reading);
                    choice = std::move(other);
                }
            }
        }
        return read_chosen(choice);
    }

    // After read(): the streams that the block leaves, by the equation.
    std::vector<Estimate> take_streams() { return std::move(streams_); }

  private:
    BlockReading read_chosen(const GainChoice& choice) {
        return hypothesis_.rough && hypothesis_.gains != GainOrder::free ? read_roughly(choice) : read_with(choice);
    }

    static double total(const BlockReading& reading) {
        double sum = 0;
        for (const PlaceReading& place : reading.places) {
            sum += counted(place.error);
        }
        return sum;
    }

    BlockResult walk(const BlockNumbers& numbers, const Estimate* attention, const Estimate* ffn) const {
        BlockGiven given = given_;
        given.attention = attention;
        given.ffn = ffn;
        return walk_block(code_, numbers, given, run_.rows, run_.dim);
    }

    const Estimate* ffn_out() const { return run_.has_ffn ? &ffn_out_ : nullptr; }

    BlockResult walk_all(const BlockNumbers& numbers) const {
        BlockResult result = walk(numbers, &attention_out_, ffn_out());
        if (is_parallel_) {
            result.ffn_in = walk(numbers, nullptr, ffn_out()).ffn_in;
        }
        return result;
    }

    // What the rounding of the saved outputs alone does.
    BlockResult walk_errors_of_outputs(BlockNumbers numbers) const {
        constexpr double exact = 1e-30;
        numbers.roundoff = exact;
        BlockGiven given = given_;
        std::vector<Estimate> without_error;
        for (const Estimate* stream : given.streams) {
            without_error.push_back({stream->value, std::vector<double>(stream->value.size(), 0.0)});
        }
        for (std::size_t i = 0; i < given.streams.size(); ++i) {
            given.streams[i] = &without_error[i];
        }
        given.attention = &attention_out_;
        given.ffn = ffn_out();
        return walk_block(code_, numbers, given, run_.rows, run_.dim);
    }

    BlockNumbers numbers_with(const GainChoice& choice, double roundoff) const {
        return {env_, learned_of(hypothesis_, code_, env_, block_.learned),
                maps_of(run_, hypothesis_, choice, block_.norms), roundoff};
    }

    BlockReading read_roughly(const GainChoice& choice) {
        const BlockNumbers numbers = numbers_with(choice, 0);
        BlockResult result = walk_all(numbers);
        const BlockResult nothing = walk(numbers, nullptr, nullptr);
        BlockReading reading;
        const auto compare = [&](Place place, const Estimate& computed, const SavedRows& saved,
                                 const std::vector<double>* base) {
            PlaceReading& at = reading.places[static_cast<std::size_t>(place)];
            at.checked = !computed.empty();
            at.error = computed.empty() ? 0 : error_of_rows(computed.value, saved, base);
        };
        compare(Place::attention_in, result.attention_in, *attention_in_, nullptr);
        compare(Place::ffn_in, result.ffn_in, *ffn_in_, nullptr);
        compare(Place::resid, result.streams[0], block_.resid, &nothing.streams[0].value);
        streams_ = std::move(result.streams);
        for (Estimate& stream : streams_) {  // the next block may ask for errors of those that are carried on
            stream.error.assign(stream.value.size(), 0);
        }
        return reading;
    }

    BlockReading read_with(const GainChoice& choice) {
        BlockNumbers numbers = numbers_with(choice, roundoff_);
        const bool free_gains = hypothesis_.gains == GainOrder::free;
        BlockResult result = walk_all(numbers);
        BlockResult of_outputs = walk_errors_of_outputs(numbers);
        numbers.roundoff = 0;
        const BlockResult nothing = walk(numbers, nullptr, nullptr);
        const BlockResult attention_alone = run_.has_ffn ? walk(numbers, &attention_out_, nullptr) : BlockResult{};
        numbers.round_to = roundoff_;
        BlockResult rounded = walk_all(numbers);
        BlockReading reading;
        const auto compare = [&](Place place, Estimate& computed, const SavedRows& saved, PlaceParts parts,
                                 Estimate& in_the_type, Estimate& by_outputs) {
            if (computed.empty()) {
                return;
            }
            if (free_gains && place != Place::resid) {
                fit_gains(computed, saved, run_.dim);
            } else {
                parts.rounded = std::move(in_the_type.value);
                parts.of_outputs = std::move(by_outputs.error);
            }
            reading.places[static_cast<std::size_t>(place)] = compare_rows(computed, saved, parts, roundoff_, run_.dim);
        };
        compare(Place::attention_in, result.attention_in, *attention_in_, {}, rounded.attention_in,
                of_outputs.attention_in);
        PlaceParts of_ffn;
        if (!result.ffn_in.empty() && !free_gains) {
            of_ffn.branches = {less(result.ffn_in.value, nothing.ffn_in.value)};
        }
        compare(Place::ffn_in, result.ffn_in, *ffn_in_, of_ffn, rounded.ffn_in, of_outputs.ffn_in);
        PlaceParts of_stream;
        of_stream.base = &nothing.streams[0].value;
        if (run_.has_ffn) {
            const std::vector<double>& first = attention_alone.streams[0].value;
            of_stream.branches = {less(first, *of_stream.base), less(result.streams[0].value, first)};
        }
        compare(Place::resid, result.streams[0], block_.resid, of_stream, rounded.streams[0], of_outputs.streams[0]);
        streams_ = std::move(result.streams);
        for (const Instruction& instruction : code_.instructions) {
            if (instruction.norm >= 0) {
                reading.gains.push_back(choice[scheme::index(instruction.norm)]);
            }
        }
        return reading;
    }

    const RunFile& run_;
    const Hypothesis& hypothesis_;
    const SavedBlock& block_;
    Environment env_;
    Code code_;
    double roundoff_;
    Estimate before_;
    bool is_parallel_ = false;
    const SavedRows* attention_in_ = nullptr;
    const SavedRows* ffn_in_ = nullptr;
    Estimate attention_out_;
    Estimate ffn_out_;
    BlockGiven given_;
    std::vector<Estimate> streams_;
};

bool ends_with_norm(const Code& code) {
    return std::any_of(code.instructions.begin(), code.instructions.end(), [&](const Instruction& instruction) {
        return instruction.out == code.streams_out[0] && instruction.norm >= 0;
    });
}

void read_readout(const RunFile& run, const Hypothesis& hypothesis, StreamState& state, Reading& reading) {
    const SavedRows& last = run.blocks[hypothesis.order.back()].resid;
    state.streams[0] = estimate_of(last, true);
    const Environment env = environment_of(run, hypothesis, run.layers() - 1);
    Code code = lower_readout(hypothesis.program, hypothesis.program.decide(env));
    if (hypothesis.alteration == Alteration::without_norm && hypothesis.only.empty()) {
        alter_code(hypothesis, code);
    }
    const double roundoff = std::max({last.computed, run.readout.computed, run.compute});
    const GainChoice choice = choose_in_order(code, hypothesis, run.readout_norms.size());
    BlockNumbers numbers{env, learned_of(hypothesis, code, env, run.readout_learned),
                         maps_of(run, hypothesis, choice, run.readout_norms), roundoff};
    BlockGiven given;
    given.streams = state.pointers();
    given.embedding = &state.embedding;
    Estimate out = std::move(walk_block(code, numbers, given, run.rows, run.dim).streams[0]);
    numbers.roundoff = 0;
    numbers.round_to = roundoff;
    PlaceParts parts;
    parts.rounded = std::move(walk_block(code, numbers, given, run.rows, run.dim).streams[0].value);
    reading.readout = compare_rows(out, run.readout, parts, roundoff, run.dim);
    const bool block_gains =
        std::any_of(run.blocks.begin(), run.blocks.end(), [](const SavedBlock& block) { return !block.norms.empty(); });
    if (reading.readout.conforms() || !run.readout_norms.empty() || !block_gains || !ends_with_norm(code) ||
        run.rows < rows_for_gains) {
        return;
    }
    fit_gains(out, run.readout, run.dim);
    const PlaceReading fitted = compare_rows(out, run.readout, {}, roundoff, run.dim);
    if (fitted.conforms()) {
        reading.readout = fitted;
        reading.readout_gains_fitted = true;
    }
}

}  // namespace

Hypothesis::Hypothesis(const scheme::Program& program_, const RunFile& run)
    : program(program_), dt(run.dt), function(run.function), eps(run.eps), order(run.layers()), depth(run.layers()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::iota(depth.begin(), depth.end(), std::size_t{0});
}

bool Hypothesis::alters(std::size_t step) const {
    return only.empty() || std::find(only.begin(), only.end(), step) != only.end();
}

Reading read_as(const RunFile& run, const Hypothesis& hypothesis) {
    Reading reading;
    StreamState state = start_of(run, hypothesis);
    double squares = 0;
    std::size_t count = 0;
    const auto add = [&](const PlaceReading& place) {
        if (place.checked) {
            squares += counted(place.error);
            ++count;
        }
    };
    reading.conforms = true;
    for (std::size_t step = 0; step < run.layers(); ++step) {
        const SavedRows& before = step == 0 ? run.embed : run.blocks[hypothesis.order[step - 1]].resid;
        StepReader reader(run, hypothesis, step, before, state);
        reading.blocks.push_back(reader.read());
        state.streams = reader.take_streams();
        reading.conforms = reading.conforms && reading.blocks.back().conforms();
        for (const PlaceReading& place : reading.blocks.back().places) {
            add(place);
        }
    }
    read_readout(run, hypothesis, state, reading);
    reading.conforms = reading.conforms && reading.readout.conforms();
    add(reading.readout);
    reading.error = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, count)));
    return reading;
}

BlockReading read_step(const RunFile& run, const Hypothesis& hypothesis, std::size_t step, const SavedRows& before) {
    const StreamState state = start_of(run, hypothesis);
    return StepReader(run, hypothesis, step, before, state).read();
}

std::size_t norms_at(const RunFile& run, const Hypothesis& hypothesis, std::size_t step) {
    return norms_in_order(block_code(run, hypothesis, step), hypothesis).size();
}

bool alters_a_block(const RunFile& run, const Hypothesis& hypothesis) {
    for (std::size_t step = 0; step < run.layers(); ++step) {
        const Environment env = environment_of(run, hypothesis, step);
        Code code = lower_block(hypothesis.program, sub_layers_of(run), hypothesis.program.decide(env));
        if (alter_code(hypothesis, code)) {
            return true;
        }
    }
    return false;
}

std::optional<scheme::SubLayer> called_twice(const RunFile& run, const scheme::Program& program) {
    const Hypothesis hypothesis(program, run);
    for (std::size_t step = 0; step < run.layers(); ++step) {
        std::array<int, 2> calls = {0, 0};
        for (const Instruction& instruction : block_code(run, hypothesis, step).instructions) {
            if (instruction.kind == Instruction::Kind::call &&
                ++calls[static_cast<std::size_t>(instruction.sub_layer)] > 1) {
                return instruction.sub_layer;
            }
        }
    }
    return std::nullopt;
}

}  // namespace flyball::check
