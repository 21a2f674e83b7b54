// Training steps of a small GPT: forward, loss, backward and AdamW. Time, share of the multiply-add peak measured in
// the same run, and memory. bench/compare_train.py runs it beside torch and jax.
//
//     flyball_bench_train [--layers N] [--dim N] [--heads N] [--vocab N] [--tokens T] [--sequences B] [--rounds N]
//                         [--threads N] [--pass groups|inputs|everything] [--folder DIR] [--losses N]
//
// Without sizes the four models of docs/performance.md, one after the other. DIR holds weights.safetensors (parameters
// by Flyball's names) and ids.bin (32-bit ids, [steps, sequences, tokens + 1]), as compare_train.py writes them; the
// first N steps' losses are printed. Operations: six for each weight and token, half of the score matrix.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/blas_core.hpp"
#include "core/parallel.hpp"
#include "core/safetensors.hpp"
#include "model/batch_step.hpp"
#include "model/initialise.hpp"
#include "peak.hpp"
#include "train/adamw_kernels.hpp"

using namespace flyball;

namespace {

using Flags = std::map<std::string, std::string>;

std::size_t number(const Flags& flags, const char* key) {
    return static_cast<std::size_t>(std::strtoull(flags.at(key).c_str(), nullptr, 10));
}

double processor_seconds() {
    std::timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double peak_megabytes() {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kilobytes = 0;
    while (status >> word && word != "VmHWM:") {
    }
    status >> kilobytes;
    return kilobytes / 1024;
}

model::Architecture architecture_of(const Flags& flags) {
    model::Architecture a;
    a.layers = number(flags, "--layers");
    a.dim = number(flags, "--dim");
    a.heads = a.kv_heads = number(flags, "--heads");
    a.head_dim = a.dim / a.heads;
    a.ffn_dim = 4 * a.dim;
    a.vocab = number(flags, "--vocab");
    a.positions = number(flags, "--tokens");
    a.learned_positions = true;
    a.qkv_bias = a.output_bias = a.ffn_bias = a.norm_bias = true;
    return a;
}

std::vector<std::int32_t> made_up_ids(std::size_t count, std::size_t vocab) {
    std::vector<std::int32_t> ids(count);
    for (std::size_t i = 0; i < count; ++i) {
        ids[i] = static_cast<std::int32_t>((i * 7919 + i / 7 + 13) % vocab);
    }
    return ids;
}

std::vector<std::int32_t> read_ids(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::int32_t> ids(bytes.size() / sizeof(std::int32_t));
    std::copy_n(bytes.begin(), ids.size() * sizeof(std::int32_t), reinterpret_cast<char*>(ids.data()));
    return ids;
}

// torch's AdamW with its defaults but the rate: decay on everything, as the script beside us does it.
class Training {
  public:
    Training(const Flags& flags, model::Model<float>& model, model::Batch batch)
        : model_(model), batch_(batch), gradients_(model.layout()) {
        const std::size_t size = gradients_.all().size();
        first_.assign(size, 0);
        second_.assign(size, 0);
        if (flags.at("--pass") == "groups") {
            groups_.emplace(model, batch);
        } else {
            const bool inputs = flags.at("--pass") == "inputs";
            pass_.emplace(model, batch, inputs ? model::Keep::inputs : model::Keep::everything);
        }
    }

    // ids: [sequences, tokens + 1]
    double step(const std::int32_t* ids) {
        inputs_.resize(batch_.rows());
        targets_.resize(batch_.rows());
        for (std::size_t i = 0; i < batch_.rows(); ++i) {
            const std::size_t at = i / batch_.tokens * (batch_.tokens + 1) + i % batch_.tokens;
            inputs_[i] = ids[at];
            targets_[i] = ids[at + 1];
        }
        gradients_.clear();
        double loss = 0;
        if (groups_) {
            loss = groups_->run(inputs_, targets_, gradients_);
        } else {
            pass_->forward(inputs_);
            loss = pass_->loss_and_backward(targets_, gradients_);
        }
        ++steps_;
        const LineVector<float>& gradients = gradients_.all();
        train::AdamwStep adamw;
        adamw.rate = 1e-3;
        adamw.decay = 0.01;
        adamw.bias1 = 1 - std::pow(adamw.beta1, steps_);
        adamw.bias2 = 1 - std::pow(adamw.beta2, steps_);
        train::adamw_update(gradients.size(), model_.parameters()->all().data(), first_.data(), second_.data(),
                            gradients.data(), adamw);
        return loss;
    }

  private:
    model::Model<float>& model_;
    model::Batch batch_;
    model::Parameters<float> gradients_;
    std::vector<float> first_, second_;
    std::vector<std::int32_t> inputs_, targets_;
    std::optional<model::BatchStep<float>> groups_;
    std::optional<model::Pass<float>> pass_;
    double steps_ = 0;
};

void run(const Flags& flags) {
    const model::Architecture a = architecture_of(flags);
    const model::Batch batch(number(flags, "--sequences"), number(flags, "--tokens"));
    model::Model<float> model = model::initialised<float>(a, {}, 1);
    const std::size_t step_size = batch.sequences * (batch.tokens + 1);
    std::vector<std::int32_t> ids = made_up_ids(step_size, a.vocab);
    if (const std::string& folder = flags.at("--folder"); !folder.empty()) {
        const SafeTensors weights = SafeTensors::open(folder + "/weights.safetensors");
        for (std::size_t i = 0; i < model.layout().parameters.size(); ++i) {
            const model::ParameterSpec& spec = model.layout().parameters[i];
            weights.copy_to<float>(spec.name, {model.parameters()->at(static_cast<int>(i)), spec.elements()});
        }
        ids = read_ids(folder + "/ids.bin");
    }
    Training training(flags, model, batch);
    const std::size_t steps = ids.size() / step_size;
    std::string losses;
    std::size_t done = 0;
    const auto next = [&] { return training.step(ids.data() + (done++ % steps) * step_size); };
    for (std::size_t i = 0; i < number(flags, "--losses"); ++i) {
        char text[32];
        std::snprintf(text, sizeof text, "%s%.7f", i > 0 ? ", " : "", next());
        losses += text;
    }
    double best = 1e300;
    double best_processor = 1e300;
    double peak = bench::measured_peak<float>();
    for (std::size_t round = 0; round < number(flags, "--rounds"); ++round) {
        const double processor = processor_seconds();
        const auto start = std::chrono::steady_clock::now();
        next();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        best_processor = std::min(best_processor, processor_seconds() - processor);
    }
    peak = std::max(peak, bench::measured_peak<float>());
    const auto rows = static_cast<double>(batch.rows());
    const auto d = static_cast<double>(a.dim);
    const auto blocks = static_cast<double>(a.layers);
    const double operations = rows * (6 * (12 * blocks * d * d + static_cast<double>(a.vocab) * d) +
                                      6 * blocks * static_cast<double>(batch.tokens) * d);
    std::printf(
        "{\"layers\": %zu, \"dim\": %zu, \"threads\": %d, \"seconds\": %.5f, \"processor_seconds\": %.5f, "
        "\"tokens_a_second\": %.0f, \"peak_gflops\": %.1f, \"share\": %.3f, \"gflops_a_processor\": %.1f, "
        "\"memory_mb\": %.0f, \"parameters\": %zu, \"losses\": [%s]}\n",
        a.layers, a.dim, threads(), best, best_processor, rows / best, peak * 1e-9, operations / best / peak,
        operations / best_processor * 1e-9, peak_megabytes(), model.layout().count(), losses.c_str());
}

}  // namespace

int main(int count, char** values) {
    choose_blas_core();
    Flags flags = {{"--layers", ""},  {"--dim", ""},       {"--heads", ""},     {"--vocab", "96"},
                   {"--tokens", ""},  {"--sequences", ""}, {"--rounds", "5"},   {"--folder", ""},
                   {"--losses", "0"}, {"--threads", "0"},  {"--pass", "groups"}};
    for (int i = 1; i + 1 < count; i += 2) {
        flags.at(values[i]) = values[i + 1];
    }
    if (number(flags, "--threads") > 0) {
        set_threads(static_cast<int>(number(flags, "--threads")));
    }
    if (!flags.at("--layers").empty()) {
        run(flags);
        return 0;
    }
    const std::vector<std::vector<std::string>> models = {{"6", "384", "6", "256", "8"},
                                                          {"12", "256", "4", "256", "16"},
                                                          {"24", "128", "4", "128", "32"},
                                                          {"48", "64", "2", "128", "32"}};
    for (const std::vector<std::string>& m : models) {
        flags["--layers"] = m[0];
        flags["--dim"] = m[1];
        flags["--heads"] = m[2];
        flags["--tokens"] = m[3];
        flags["--sequences"] = m[4];
        run(flags);
    }
    return 0;
}
