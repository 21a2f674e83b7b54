#include "model/sample.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/unreachable.hpp"
#include "model/generate.hpp"
#include "model/model_rows.hpp"
#include "model/pass.hpp"

namespace flyball::model {

namespace {

// Positions there are for one sequence.
std::size_t limit_of(const Architecture& architecture) {
    return goes_on_for_ever(architecture) ? std::numeric_limits<std::size_t>::max() : architecture.positions;
}

}  // namespace

double sample_memory(const Architecture& a, std::size_t prompt, std::size_t tokens) {
    const std::size_t limit = limit_of(a);
    const auto longest =
        std::min(static_cast<double>(prompt) + static_cast<double>(tokens), static_cast<double>(limit));
    const double cache = 8.0 * static_cast<double>(a.layers * a.key_width()) * longest;
    const std::size_t read = std::min(prompt, limit);
    const std::size_t all = read + std::min(tokens, limit - read);
    const bool cached = has_exact_cache(a, scheme::Program::parse(a.equation), all);
    const std::size_t rows = !cached ? all : all < limit ? read : std::max(read, limit / 2);  // of the longest pass
    return 2 * cache + memory_estimate(a, rows, Keep::nothing);
}

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
    return std::chrono::duration<double>(end - start).count();
}

// Takes one more token; at the limit the newest half of the text, that token included, takes the place of all.
void take_one(Generator<float>& generator, std::int32_t id, std::size_t limit, SampleResult& result) {
    if (generator.ids().size() < limit) {
        generator.take(std::span(&id, 1));
        return;
    }
    std::vector<std::int32_t> newest = generator.ids();
    newest.push_back(id);
    newest.erase(newest.begin(), newest.end() - static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, limit / 2)));
    generator.clear();
    generator.take(newest);
    ++result.forgotten;
}

// Tokens after the prompt: the last one chosen is given to nobody, unless what the model made of it ended the text.
std::size_t taken_in(const SampleResult& result) {
    return result.end == SampleEnd::not_finite ? result.ids.size() : std::max<std::size_t>(1, result.ids.size()) - 1;
}

Json maybe(const std::optional<std::string>& text) {
    return text ? Json(*text) : Json(nullptr);
}

}  // namespace

const char* name(SampleEnd end) noexcept {
    switch (end) {
        case SampleEnd::tokens:
            return "tokens";
        case SampleEnd::end_of_text:
            return "end-of-text";
        case SampleEnd::interrupted:
            return "interrupted";
        case SampleEnd::not_finite:
            return "not-finite";
    }
    unreachable();
}

double SampleResult::tokens_per_second() const {
    return ids.size() > 1 ? static_cast<double>(taken_in(*this)) / seconds : std::numeric_limits<double>::quiet_NaN();
}

SampleResult sample(const Model<float>& model, std::vector<std::int32_t> prompt, const SampleSettings& settings,
                    FunctionRef<bool(std::int32_t)> written) {
    check(settings.sampling);
    Generator<float> generator(model);
    SampleResult result;
    const std::size_t limit = limit_of(model.architecture());
    if (prompt.size() > limit) {
        result.cut_prompt = prompt.size() - limit;
        prompt.erase(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(result.cut_prompt));
    }
    const Clock::time_point start = Clock::now();
    std::optional<Clock::time_point> taken;  // when all of the prompt was
    try {
        generator.take(prompt);
        taken = Clock::now();
        while (result.ids.size() < settings.tokens) {
            const auto chosen = choose_token<float>(generator.logits(), settings.sampling, settings.seed,
                                                    static_cast<std::uint64_t>(result.ids.size()));
            if (!chosen) {
                result.end = SampleEnd::not_finite;
                break;
            }
            result.ids.push_back(*chosen);
            const bool go_on = written(*chosen);
            if (std::find(settings.last_ids.begin(), settings.last_ids.end(), *chosen) != settings.last_ids.end()) {
                result.end = SampleEnd::end_of_text;
                break;
            }
            if (!go_on) {
                result.end = SampleEnd::interrupted;
                break;
            }
            if (result.ids.size() < settings.tokens) {
                take_one(generator, *chosen, limit, result);
            }
        }
    } catch (const Stopped&) {
        result.end = SampleEnd::interrupted;
    }
    const Clock::time_point end = Clock::now();
    result.prompt_seconds = seconds_between(start, taken.value_or(end));
    result.seconds = seconds_between(taken.value_or(end), end);
    const std::size_t taken_tokens = prompt.size() + taken_in(result);
    result.cached = has_exact_cache(model.architecture(), model.program(), std::min(limit, taken_tokens));
    return result;
}

TextEnds text_ends(const std::filesystem::path& folder, const Architecture& architecture) {
    constexpr std::size_t largest = std::size_t{64} << 20;
    const std::filesystem::path path = folder / "config.json";
    const Json config = parse_json(read_regular_file(path, largest), path.string());
    TextEnds ends;
    const auto add_all = [&](const char* key) {
        const auto found = config.find(key);
        if (found == config.end()) {
            return;
        }
        const Json list = found->is_array() ? *found : Json::array({*found});
        for (const Json& id : list) {
            const std::int64_t value = id.is_number_integer() ? id.get<std::int64_t>() : -1;
            if (value >= 0 && value < static_cast<std::int64_t>(architecture.vocab)) {
                ends.last.push_back(static_cast<std::int32_t>(value));
            }
        }
    };
    add_all("bos_token_id");
    if (!ends.last.empty()) {
        ends.begin = ends.last.front();
    }
    add_all("eos_token_id");
    return ends;
}

const std::vector<SampleField>& sample_fields() {
    using Report = SampleReport;
    static const std::vector<SampleField> fields = {
        {"model", "the model: name, family, equation, sizes", [](const Report& r) { return r.model; }},
        {"prompt", "the prompt as given; null where token ids were given",
         [](const Report& r) { return maybe(r.prompt); }},
        {"prompt_ids", "its token ids, as the model gets them", [](const Report& r) { return Json(r.prompt_ids); }},
        {"text", "what the model wrote, without the prompt; null for a model without a tokenizer",
         [](const Report& r) { return maybe(r.text); }},
        {"ids", "its token ids", [](const Report& r) { return Json(r.result.ids); }},
        {"end", "why it ended: tokens (as many as asked for), end-of-text, interrupted, not-finite",
         [](const Report& r) { return Json(name(r.result.end)); }},
        {"temperature", "as asked for", [](const Report& r) { return Json(r.settings.sampling.temperature); }},
        {"top", "as asked for; 0 for all tokens", [](const Report& r) { return Json(r.settings.sampling.top); }},
        {"seed", "as asked for", [](const Report& r) { return Json(r.settings.seed); }},
        {"cached", "whether keys and values were kept; otherwise every token ran the whole text again",
         [](const Report& r) { return Json(r.result.cached); }},
        {"forgotten", "how many times the older half of the text was let go at the last position",
         [](const Report& r) { return Json(r.result.forgotten); }},
        {"cut_prompt", "tokens at the beginning of the prompt that the model has no positions for",
         [](const Report& r) { return Json(r.result.cut_prompt); }},
        {"prompt_seconds", "time for the prompt", [](const Report& r) { return Json(r.result.prompt_seconds); }},
        {"seconds", "time for the tokens after it", [](const Report& r) { return Json(r.result.seconds); }},
        {"tokens_per_second", "tokens taken in after the prompt by those seconds; null for fewer than two tokens",
         [](const Report& r) { return Json(r.result.tokens_per_second()); }},
    };
    return fields;
}

Json document(const SampleReport& report) {
    Json result = Json::object();
    for (const SampleField& field : sample_fields()) {
        result[field.name] = field.value(report);
    }
    return result;
}

}  // namespace flyball::model
