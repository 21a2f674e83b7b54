#include <fmt/format.h>

#include <cmath>
#include <map>
#include <mutex>

#include "claims/limits_model.hpp"
#include "core/file.hpp"
#include "core/parallel.hpp"
#include "limits/analysis.hpp"
#include "model/builtin.hpp"
#include "model/locate.hpp"
#include "tokenizer/tokenizer.hpp"

namespace flyball::claims {

namespace {

Analysed analyse(const Context& context, const limits::Settings& settings, const std::string& name,
                 const std::filesystem::path& text) {
    constexpr std::size_t largest_text = std::size_t{1} << 30U;
    const std::filesystem::path folder = model::locate(name);
    const model::Model<float> model = model::load_model(folder);
    const model::Architecture& a = model.architecture();
    const tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::load(folder);
    const std::vector<std::int32_t> ids =
        tokenizer.encode_at_most(limits::tokens_wanted(settings, a), read_text_file(text, largest_text));
    const limits::Lengths lengths = limits::lengths_for(settings, a, ids.size());
    limits::Watch watch;
    watch.stop = context.stop;
    watch.progress = [&](double share) {
        if (context.progress) {
            context.progress(0.95 * share);
        }
    };
    Analysed analysed;
    try {
        analysed.result = limits::analyse(model, ids, settings, lengths.lengths, watch).front();
    } catch (const Stopped&) {
        throw Interrupted{};
    }
    analysed.model = name;
    analysed.about = fmt::format("{}, {} heads, {} tokens, vectors: {}", name, a.layers * a.heads,
                                 lengths.lengths.back(), limits::name(settings.vectors));
    return analysed;
}

}  // namespace

const Analysed& analysed(const Context& context, const limits::Settings& settings, const std::string& model) {
    static std::mutex mutex;
    static std::map<std::string, Analysed> kept;
    const std::string name = !model.empty()                   ? model
                             : !context.subject.model.empty() ? context.subject.model
                                                              : std::string("builtin:pre-ln");
    const std::filesystem::path text = context.subject.text.empty() || !model.empty()
                                           ? model::builtin_text()
                                           : std::filesystem::path(context.subject.text);
    std::string key = name + "\n" + text.string();
    for (const limits::SettingField& field : limits::setting_fields()) {
        key += "\n" + field.text(settings).value_or("");
    }
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = kept.find(key);
    return found != kept.end() ? found->second
                               : kept.emplace(key, analyse(context, settings, name, text)).first->second;
}

double separation_ratio(const limits::Result& result, std::size_t n) {
    for (const limits::SeparationMeans& row : result.separation) {
        if (row.n == n) {
            return row.ratio;
        }
    }
    return std::nan("");
}

}  // namespace flyball::claims
