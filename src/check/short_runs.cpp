#include "check/short_runs.hpp"

#include <algorithm>
#include <numeric>

#include "check/beginning.hpp"
#include "core/parallel.hpp"
#include "train/run.hpp"

namespace flyball::check {

namespace {

constexpr std::size_t trained_context = 32;

train::Settings training_of(const Candidate& candidate, std::size_t depth) {
    const Settings& settings = candidate.settings;
    train::Settings run;
    run.data = "synthetic";
    run.tokens = std::size_t{1} << 17U;
    run.layers = depth;
    run.dim = Settings::measured_width;
    run.heads = Settings::measured_heads;
    run.context = trained_context;
    run.norm = settings.norm;
    run.dt = settings.dt;
    run.init = init_for_width(candidate.scheme, settings);
    run.batch = 8;
    run.steps = settings.steps;
    run.record = settings.steps;
    run.validate = settings.steps;
    run.seed = settings.seed;
    return run;
}

ShortRun trained(const scheme::Scheme& scheme, const train::Settings& settings, const train::Corpus& corpus,
                 const std::function<void()>& after_step, const std::atomic<bool>* stop) {
    ShortRun result;
    result.scheme = scheme.name;
    result.depth = settings.layers;
    train::Trainer trainer(settings, scheme, corpus);
    while (!trainer.finished()) {
        const train::StepReport report = trainer.step(stop);
        result.losses.push_back(report.loss);
        after_step();
        if (report.failure) {
            result.outcome = report.failure->outcome;
            break;
        }
    }
    result.first = result.losses.front();
    const std::size_t tail = std::max<std::size_t>(1, result.losses.size() / 10);
    result.last = std::accumulate(result.losses.end() - static_cast<std::ptrdiff_t>(tail), result.losses.end(), 0.0) /
                  static_cast<double>(tail);
    return result;
}

}  // namespace

std::vector<std::size_t> trained_depths(const Settings& settings) {
    const std::size_t deep = std::min<std::size_t>(settings.depth, 24);
    const std::size_t shallow = std::max<std::size_t>(deep / 4, 2);  // one block alone: L - 1 and log(L) would be 0
    return shallow < deep ? std::vector{shallow, deep} : std::vector{deep};
}

// Jobs run side by side, each in one thread (a Trainer called from a slot shares no work); the deepest begin first.
std::vector<ShortRun> short_runs(const std::vector<Candidate>& candidates,
                                 const std::function<void(double share)>& progress, const std::atomic<bool>* stop) {
    struct Job {
        const Candidate* candidate;
        std::size_t depth;
        std::size_t place;  // in the result
    };
    const std::vector<std::size_t> depths = trained_depths(candidates.front().settings);
    std::vector<Job> jobs;
    double work = 0;
    for (std::size_t s = 0; s < candidates.size(); ++s) {
        for (std::size_t d = 0; d < depths.size(); ++d) {
            jobs.push_back({&candidates[s], depths[d], s * depths.size() + d});
            work += static_cast<double>(depths[d] * candidates[s].settings.steps);
        }
    }
    std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.depth > b.depth; });
    train::CorpusSettings text = train::corpus_settings(training_of(candidates[0], 2));
    text.seed = candidates[0].settings.seed;
    const train::Corpus corpus = train::load_corpus(text);
    std::vector<ShortRun> runs(jobs.size());
    std::atomic<std::size_t> done{0};
    parallel_slots(jobs.size(), jobs.size(), [&](std::size_t slot, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Job& job = jobs[i];
            const auto after_step = [&] {
                const std::size_t now = done += job.depth;
                if (progress && slot == 0) {  // one voice is enough
                    progress(static_cast<double>(now) / work);
                }
            };
            runs[job.place] = trained(on_stand_in(job.candidate->scheme, job.candidate->settings),
                                      training_of(*job.candidate, job.depth), corpus, after_step, stop);
        }
    });
    return runs;
}

}  // namespace flyball::check
