// The loop of a run, what it writes in which order, and what is left of it in the end.
#include "train/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/config.hpp"
#include "core/file.hpp"
#include "core/number.hpp"
#include "core/parallel.hpp"
#include "model/locate.hpp"
#include "model/save.hpp"
#include "scheme/own_equation.hpp"
#include "train/events.hpp"

namespace flyball::train {

namespace {

constexpr std::size_t windows_on_the_way = 128;  // of the validation part
constexpr std::size_t windows_at_the_end = 1024;
constexpr std::size_t largest_text = std::size_t{1} << 30U;

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Mean loss of the last tenth of the lines.
double final_loss(const std::vector<Json>& lines) {
    const std::size_t count = std::min(lines.size(), std::max<std::size_t>(1, lines.size() / 10));
    double sum = 0;
    for (std::size_t i = lines.size() - count; i < lines.size(); ++i) {
        sum += lines[i].at("loss").is_number() ? lines[i].at("loss").get<double>() : std::nan("");
    }
    return sum / static_cast<double>(count);
}

double number_at(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

// What the last record of the layers says.
void read_layers(const std::vector<Json>& lines, Summary& summary) {
    const auto last =
        std::find_if(lines.rbegin(), lines.rend(), [](const Json& line) { return line.contains("layers"); });
    if (last == lines.rend()) {
        return;
    }
    const Json& layers = last->at("layers");
    summary.growth = number_at(layers.back(), "norm") / number_at(last->at("embedding"), "norm");
    for (const Json& layer : layers) {
        const double gradient = number_at(layer, "gradient");
        summary.smallest_gradient = std::fmin(summary.smallest_gradient, gradient);
        summary.largest_gradient = std::fmax(summary.largest_gradient, gradient);
    }
}

double tokens_per_second(const std::vector<Json>& lines) {
    std::vector<double> speeds;
    for (const Json& line : lines) {
        if (const double speed = number_at(line, "tokens_per_second"); std::isfinite(speed)) {
            speeds.push_back(speed);
        }
    }
    if (speeds.empty()) {
        return std::nan("");
    }
    std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
    return speeds[speeds.size() / 2];
}

Summary summary_of(const RunPlan& plan, const Corpus& corpus, const Trainer& trainer, const std::vector<Json>& lines,
                   Outcome outcome, const std::optional<Failure>& failure,
                   const std::optional<Trainer::Validation>& validation) {
    Summary summary;
    summary.name = plan.name;
    summary.scheme = plan.scheme.name;
    summary.equation = trainer.model().program().text();
    summary.seed = plan.settings.seed;
    summary.dt = trainer.model().architecture().dt;
    summary.outcome = outcome;
    summary.failure = failure;
    summary.steps = trainer.done();
    if (!lines.empty()) {
        summary.loss = final_loss(lines);
    }
    summary.parameters = trainer.model().layout().count();
    summary.tokens_per_second = tokens_per_second(lines);
    summary.memory = memory_estimate(trainer.model().architecture(), summary.parameters, plan.settings);
    summary.notes = trainer.notes();
    read_layers(lines, summary);
    if (corpus.floor) {
        summary.language = *corpus.floor;
        summary.language->windows.clear();
    }
    if (validation) {
        summary.validation_loss = validation->loss;
        summary.entropy_floor = validation->floor;
    }
    return summary;
}

// Nothing where it was told to stop.
std::optional<Trainer::Validation> validate(const Trainer& trainer, std::size_t windows,
                                            const std::atomic<bool>* stop) {
    const StopOn stoppable(stop);
    try {
        return trainer.validate(windows);
    } catch (const Stopped&) {
        return std::nullopt;
    }
}

// A finished run is not that of another text or model either, and says which of them differs.
record::Identity inputs_of(const RunPlan& plan, const Corpus& corpus) {
    record::Identity inputs = {{"contents of the data", corpus.checksum}};
    if (!plan.settings.from.empty()) {
        inputs.emplace_back("contents of the model to start from",
                            record::model_checksum(model::locate(plan.settings.from)));
    }
    return inputs;
}

}  // namespace

CorpusSettings corpus_settings(const Settings& s) {
    CorpusSettings result;
    result.data = s.data;
    result.encoding = s.encoding;
    result.tokenizer = s.tokenizer;
    result.validation_share = s.validation;
    result.context = s.context;
    result.tokens = s.tokens;
    return result;
}

record::Identity identity_of(const RunPlan& plan, const Corpus& corpus) {
    record::Identity identity = record::program_identity();
    identity.emplace_back("scheme", plan.scheme.name);
    identity.emplace_back("equation", plan.scheme.program.text());
    for (const SettingField& field : setting_fields()) {
        if (const auto text = field.text(plan.settings)) {
            identity.emplace_back(field.key, *text);
        }
    }
    const record::Identity inputs = inputs_of(plan, corpus);
    identity.insert(identity.end(), inputs.begin(), inputs.end());
    return identity;
}

std::string configuration(const std::vector<RunPlan>& plans,
                          const std::vector<std::pair<std::string, std::string>>& more) {
    std::vector<ConfigEntry> entries;
    const auto add = [&](const std::string& key, std::vector<std::string> values) {
        entries.push_back({"train." + key, std::move(values), ""});
    };
    std::vector<scheme::Scheme> schemes;
    for (const RunPlan& plan : plans) {
        const bool known = std::any_of(schemes.begin(), schemes.end(),
                                       [&](const scheme::Scheme& one) { return one.name == plan.scheme.name; });
        if (!known) {
            schemes.push_back(plan.scheme);
        }
    }
    for (const auto& [key, values] : scheme::scheme_flags(schemes)) {
        add(key, values);
    }
    for (const SettingField& field : setting_fields()) {
        const bool replaced =
            std::any_of(more.begin(), more.end(), [&](const auto& pair) { return pair.first == field.key; });
        if (const auto text = field.text(plans.front().settings); text && !replaced) {
            add(field.key, {*text});
        }
    }
    for (const auto& [key, value] : more) {
        add(key, {value});
    }
    return to_toml(entries);
}

RunFolder::RunFolder(std::filesystem::path path, record::FolderUse use, const RunPlan& plan, const Corpus& corpus,
                     std::string resume_command)
    : plan_(plan),
      resumes_(use == record::FolderUse::resume),
      folder_(std::move(path), use,
              {configuration({plan}, {}), identity_of(plan, corpus), std::move(resume_command), "train.run_folder",
               inputs_of(plan, corpus)}),
      files_{"config.toml", "metrics.jsonl"} {
    if (finished()) {
        return;
    }
    if (!resumes_) {
        std::error_code ignored;
        std::filesystem::remove(this->path() / "metrics.jsonl", ignored);  // of a run that is being replaced
    }
    metrics_ = std::make_unique<record::JsonLines>(this->path() / "metrics.jsonl", folder_.seal("metrics"));
}

Summary RunFolder::stored_summary() const {
    const std::filesystem::path file = path() / "summary.json";
    return read_summary(parse_json(read_regular_file(file, largest_text), file.string()), file.string());
}

// Those of a finished run are as it wrote them, since the folder has compared checksums, and are only read: by whatever
// program, machine or user.
std::vector<Json> RunFolder::lines() const {
    std::vector<Json> result;
    if (metrics_) {
        for (std::size_t i = 0; i < metrics_->size(); ++i) {
            result.push_back(metrics_->line(i));
        }
        return result;
    }
    const std::filesystem::path file = path() / "metrics.jsonl";
    const MappedFile mapped(file);
    std::string_view rest(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        result.push_back(parse_json(line, file.string()));
        result.back().erase("seal");
    }
    return result;
}

// Lines after the restart point belong to steps that will be done again: they are cut off, and TensorBoard's file,
// which is a copy of the lines, is written anew.
void RunFolder::take_up(Trainer& trainer) {
    const std::filesystem::path file = folder_.work("restart.safetensors");
    std::error_code error;
    if (resumes_ && std::filesystem::exists(file, error)) {
        trainer.restore(file, folder_.seal("restart"));
    }
    metrics_->keep(trainer.done());
    events_ = std::make_unique<record::EventFile>(path() / event_file_name);
    for (std::size_t i = 0; i < metrics_->size(); ++i) {
        write_events(metrics_->line(i), *events_);
    }
    next_save_ = seconds_now() + plan_.settings.save;
}

void RunFolder::append(const Json& line) {
    metrics_->append(line);
    write_events(line, *events_);
}

void RunFolder::save_restart_point(const Trainer& trainer, bool now) {
    const double begin = seconds_now();
    if (!now && begin < next_save_) {
        return;
    }
    trainer.save(folder_.work("restart.safetensors"), folder_.seal("restart"));
    const double took = seconds_now() - begin;
    next_save_ =
        begin + plan_.settings.save + (plan_.settings.save > 0 ? 20 * took : 0);  // at most a twentieth of the time
}

void RunFolder::write(const Trainer& trainer, const Corpus& corpus, const Summary& summary) {
    events_->flush();
    add_file(event_file_name);
    model::save_model(trainer.model(), path(), plan_.settings.storage);
    add_file("config.json");
    add_file("model.safetensors");
    corpus.write_tokenizer(path());
    for (const TokenizerFile& file : corpus.tokenizer) {
        add_file(file.name);
    }
    write_file_atomically(path() / "summary.json", dump_json(to_json(summary), 2) + "\n");
    add_file("summary.json");
}

void RunFolder::finish() {
    folder_.finish(record::provenance(plan_.settings.seed), files_);
}

// Step, line, restart point, in this order: a kill between the last two leaves a line too many, which take_up() cuts
// off, and never one too few. A run that failed ends as one that is complete; only an interrupted one is to be taken
// up.
RunResult run(const RunPlan& plan, const Corpus& corpus, RunFolder* folder, const Watch& watch) {
    const Settings& s = plan.settings;
    Trainer trainer(s, plan.scheme, corpus);
    RunResult result;
    if (folder != nullptr) {
        folder->take_up(trainer);
        result.lines = folder->lines();
    }
    std::optional<Failure> failure;
    if (!result.lines.empty() && result.lines.back().contains("failure")) {
        failure = read_failure(result.lines.back().at("failure"));  // it had ended, but was killed before it said so
    }
    const double begin = seconds_now();
    const std::size_t first = trainer.done();
    Outcome outcome = Outcome::done;
    bool can_save = true;
    while (!trainer.finished() && !failure) {
        const double step_begin = seconds_now();
        StepReport report;
        try {
            report = trainer.step(watch.stop);
        } catch (const Stopped&) {
            outcome = Outcome::interrupted;
            break;
        }
        const double seconds = seconds_now() - step_begin;
        Json line = to_json(report);
        line["tokens_per_second"] = static_cast<double>(s.tokens_per_step()) / seconds;
        failure = report.failure;
        if (!failure && (report.step % s.validation_interval() == 0 || trainer.finished())) {
            const auto validation = validate(trainer, windows_on_the_way, watch.stop);
            if (!validation) {  // the step has no line: it is done again from the last restart point on disk
                outcome = Outcome::interrupted;
                can_save = false;
                break;
            }
            line["validation_loss"] = validation->loss;
        }
        if (folder != nullptr) {
            folder->append(line);
            folder->save_restart_point(trainer, failure.has_value());
        }
        result.lines.push_back(std::move(line));
        if (watch.step) {
            const double per_step =
                (seconds_now() - begin) / static_cast<double>(trainer.done() - first + (failure ? 1 : 0));
            watch.step(result.lines.back(), per_step * static_cast<double>(s.steps - trainer.done()));
        }
        if (!trainer.finished() && watch.stop != nullptr && *watch.stop) {
            outcome = Outcome::interrupted;
            break;
        }
    }
    if (failure) {
        outcome = failure->outcome;
    }
    std::optional<Trainer::Validation> validation;
    if (outcome != Outcome::interrupted) {
        validation = validate(trainer, windows_at_the_end, watch.stop);
        outcome = validation ? outcome : Outcome::interrupted;
    }
    result.complete = outcome != Outcome::interrupted;
    if (folder != nullptr && !result.complete && can_save) {
        folder->save_restart_point(trainer, true);
    }
    result.summary = summary_of(plan, corpus, trainer, result.lines, outcome, failure, validation);
    if (folder != nullptr && result.complete) {
        folder->write(trainer, corpus, result.summary);
    }
    return result;
}

}  // namespace flyball::train
