#include "claims/stability_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "claims/stability_run.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "train/corpus.hpp"

namespace flyball::claims {

namespace {

struct RunField {
    const char* name;
    std::vector<double> TrainedRun::*values;
};

// All that a run keeps, for the shelf.
const std::vector<RunField>& run_fields() {
    static const std::vector<RunField> fields = {
        {"validation", &TrainedRun::validation},
        {"training", &TrainedRun::training},
        {"gradient_norms", &TrainedRun::gradient_norms},
        {"rms", &TrainedRun::rms},
        {"mean_abs", &TrainedRun::mean_abs},
        {"entry_variance", &TrainedRun::entry_variance},
        {"data_variance", &TrainedRun::data_variance},
        {"gradient_start", &TrainedRun::gradient_start},
        {"gradient_20", &TrainedRun::gradient_20},
        {"gradient_50", &TrainedRun::gradient_50},
        {"gradient", &TrainedRun::gradient},
        {"sub_sigma", &TrainedRun::sub_sigma},
        {"sub_added", &TrainedRun::sub_added},
        {"sub_turned", &TrainedRun::sub_turned},
        {"sub_sigma_start", &TrainedRun::sub_sigma_start},
        {"sub_added_start", &TrainedRun::sub_added_start},
        {"sub_turned_start", &TrainedRun::sub_turned_start},
        {"back_start", &TrainedRun::back_start},
        {"back_bound_start", &TrainedRun::back_bound_start},
        {"back_end", &TrainedRun::back_end},
        {"back_bound_end", &TrainedRun::back_bound_end},
        {"back_share", &TrainedRun::back_share},
        {"angle", &TrainedRun::angle},
        {"angle_predicted", &TrainedRun::angle_predicted},
        {"bound_share", &TrainedRun::bound_share},
        {"length_start", &TrainedRun::length_start},
        {"bound_start", &TrainedRun::bound_start},
        {"length_end", &TrainedRun::length_end},
        {"bound_end", &TrainedRun::bound_end},
        {"output_norm", &TrainedRun::output_norm},
        {"removed", &TrainedRun::removed},
        {"replaced", &TrainedRun::replaced},
    };
    return fields;
}

std::string text_of_run(const TrainedRun& run) {
    Json document = Json::object();
    for (const RunField& field : run_fields()) {
        document[field.name] = run.*field.values;  // a number that is not finite becomes null
    }
    return dump_json(document);
}

TrainedRun run_of_text(const std::string& text, const std::string& name) {
    const Json document = parse_json(text, name);
    TrainedRun run;
    for (const RunField& field : run_fields()) {
        if (!document.is_object() || !document.contains(field.name) || !document.at(field.name).is_array()) {
            throw Error(ErrorKind::input, "claims.study", fmt::format("{} without {}", name, field.name),
                        "a run as it was kept", "begin the run anew");
        }
        for (const Json& value : document.at(field.name)) {
            (run.*field.values).push_back(value.is_number() ? value.get<double>() : std::nan(""));
        }
    }
    return run;
}

struct Kept {
    std::mutex mutex;
    std::map<std::string, TrainedRun> runs;
    std::map<std::string, train::Corpus> corpora;
};

Kept& kept() {
    static Kept all;
    return all;
}

// In memory there are quick runs and others.
std::string key_of(const Context& context, const std::string& name) {
    return (context.quick ? "quick " : "full ") + name;
}

std::vector<std::string> run_names(const Context& context, const Condition& condition) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(study_sizes(context).seeds, condition.seeds); ++i) {
        names.push_back(fmt::format("trained-{}-seed-{}", condition.name(), context.seed + i));
    }
    return names;
}

const train::Corpus& corpus_for(const StudySizes& sizes) {
    const std::string key = fmt::format("{} {}", sizes.context, sizes.tokens);
    auto& corpora = kept().corpora;
    const auto found = corpora.find(key);
    if (found != corpora.end()) {
        return found->second;
    }
    train::CorpusSettings settings;
    settings.data = "synthetic";
    settings.context = sizes.context;
    settings.tokens = sizes.tokens;
    settings.validation_share = 0.25;
    return corpora.emplace(key, train::load_corpus(settings)).first->second;
}

}  // namespace

std::string Condition::name() const {
    std::string text = fmt::format("{}-dt-{}", scheme, dt);
    text += layers == 0 ? "" : fmt::format("-layers-{}", layers);
    text += weight_decay ? fmt::format("-decay-{}", *weight_decay) : "";
    text += dropout == 0 ? "" : fmt::format("-dropout-{}", dropout);
    text += rate == 1 ? "" : fmt::format("-rate-{}", rate);
    text += init.empty() ? "" : "-" + init;
    for (char& c : text) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
        c = plain ? c : '_';
    }
    return text;
}

StudySizes study_sizes(const Context& context) {
    return context.quick ? StudySizes{4, 32, 2, 32, 8, 100, 3, std::size_t{1} << 15U}
                         : StudySizes{8, 48, 4, 64, 8, 200, 5, std::size_t{1} << 16U};
}

std::string describe_study(const Context& context) {
    const StudySizes s = study_sizes(context);
    return fmt::format("{} seeds of {} blocks x {}, {} steps of {} tokens of generated text", s.seeds, s.layers, s.dim,
                       s.steps, s.batch * s.context);
}

void train_all(const Context& context, const std::vector<Condition>& conditions) {
    struct Job {
        const Condition* condition;
        std::uint64_t seed;
        std::string name;
        TrainedRun run;
    };
    const StudySizes sizes = study_sizes(context);
    const std::lock_guard<std::mutex> lock(kept().mutex);
    const train::Corpus& corpus = corpus_for(sizes);
    std::map<std::string, Job> missing;
    for (const Condition& condition : conditions) {
        std::uint64_t seed = context.seed;
        for (const std::string& name : run_names(context, condition)) {
            if (kept().runs.count(key_of(context, name)) == 0) {
                missing.emplace(name, Job{&condition, seed, name, {}});
            }
            ++seed;
        }
    }
    std::vector<Job*> jobs;
    for (auto& [name, job] : missing) {
        jobs.push_back(&job);
    }
    // The longest first: those with the most blocks.
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job* a, const Job* b) { return a->condition->layers > b->condition->layers; });
    std::mutex progress;
    std::size_t done = 0;
    parallel_slots(jobs.size(), jobs.size(), [&](std::size_t slot, std::size_t, std::size_t) {
        Job& job = *jobs[slot];
        const std::optional<std::string> stored = context.shelf.find ? context.shelf.find(job.name) : std::nullopt;
        job.run =
            stored ? run_of_text(*stored, job.name) : train_one(*job.condition, sizes, job.seed, corpus, context.stop);
        if (!stored && context.shelf.keep) {
            context.shelf.keep(job.name, text_of_run(job.run));
        }
        const std::lock_guard<std::mutex> one_at_a_time(progress);
        ++done;
        context.at(0.95 * static_cast<double>(done) / static_cast<double>(jobs.size()));
    });
    for (Job* const job : jobs) {
        kept().runs.emplace(key_of(context, job->name), std::move(job->run));
    }
}

std::vector<TrainedRun> trained(const Context& context, const Condition& condition) {
    train_all(context, {condition});
    const std::lock_guard<std::mutex> lock(kept().mutex);
    std::vector<TrainedRun> runs;
    for (const std::string& name : run_names(context, condition)) {
        runs.push_back(kept().runs.at(key_of(context, name)));
    }
    return runs;
}

}  // namespace flyball::claims
