// A training run from beginning to end, with or without a folder.
//
//     config.toml                        the settings, as flags
//     metrics.jsonl                      one line a step (record/json_lines.hpp), every few steps with the record of
//                                        all layers
//     events.out.tfevents.0.flyball      the same for TensorBoard
//     config.json, model.safetensors,    the trained model: the folder is a MODEL
//     tokenizer.json
//     summary.json, provenance.json      what came out, and where it came from; figures
//     work/                              the last restart point while the run goes on
//
// Killed at any moment and taken up again, a run ends with the same weights and records, to the bit, at any number of
// threads; only the times in metrics.jsonl differ.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "record/event_file.hpp"
#include "record/folder.hpp"
#include "record/json_lines.hpp"
#include "train/summary.hpp"

namespace flyball::train {

class RunFolder {
  public:
    RunFolder(std::filesystem::path path, record::FolderUse use, const RunPlan& plan, const Corpus& corpus,
              std::string resume_command);

    const std::filesystem::path& path() const { return folder_.path(); }
    bool finished() const { return folder_.finished(); }
    Summary stored_summary() const;
    std::vector<Json> lines() const;  // of metrics.jsonl

    // Takes up what a killed run left; otherwise the run begins with no lines.
    void take_up(Trainer& trainer);
    void append(const Json& line);
    // At most every few seconds; `now` insists.
    void save_restart_point(const Trainer& trainer, bool now);

    // The model, the summary and TensorBoard's file; after that figures may be added and named.
    void write(const Trainer& trainer, const Corpus& corpus, const Summary& summary);
    void add_file(std::string name) { files_.push_back(std::move(name)); }
    void finish();

  private:
    RunPlan plan_;
    bool resumes_;
    record::Folder folder_;
    std::unique_ptr<record::JsonLines> metrics_;
    std::unique_ptr<record::EventFile> events_;
    std::vector<std::string> files_;
    double next_save_ = 0;
};

struct Watch {
    const std::atomic<bool>* stop = nullptr;
    // After every step: its line of metrics.jsonl, and the seconds that are left.
    std::function<void(const Json& line, double seconds_left)> step;
};

struct RunResult {
    Summary summary;
    std::vector<Json> lines;
    bool complete = false;  // false: interrupted, to be taken up
};

// Without a folder nothing is written.
RunResult run(const RunPlan& plan, const Corpus& corpus, RunFolder* folder, const Watch& watch);

// The flags that make this run, as a configuration file.
std::string configuration(const std::vector<RunPlan>& plans,
                          const std::vector<std::pair<std::string, std::string>>& more);

// What decides the bits of a run.
record::Identity identity_of(const RunPlan& plan, const Corpus& corpus);

CorpusSettings corpus_settings(const Settings& settings);

}  // namespace flyball::train
