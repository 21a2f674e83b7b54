#include "claims/claim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "core/number.hpp"
#include "core/unreachable.hpp"
#include "model/locate.hpp"

namespace flyball::claims {

namespace {

constexpr Verdict verdicts[] = {Verdict::holds,     Verdict::holds_corrected, Verdict::fails,
                                Verdict::undecided, Verdict::not_tested,      Verdict::skipped};

}  // namespace

const char* name(Verdict verdict) {
    switch (verdict) {
        case Verdict::holds:
            return "holds";
        case Verdict::holds_corrected:
            return "holds-corrected";
        case Verdict::fails:
            return "fails";
        case Verdict::undecided:
            return "undecided";
        case Verdict::not_tested:
            return "not-tested";
        case Verdict::skipped:
            return "skipped";
    }
    unreachable();
}

Verdict verdict_from_name(std::string_view text) {
    for (const Verdict verdict : verdicts) {
        if (text == name(verdict)) {
            return verdict;
        }
    }
    throw Error(ErrorKind::input, "claims.verdict", flyball::quoted(text),
                "holds, holds-corrected, fails, undecided, not-tested or skipped");
}

Verdict verdict_of(bool as_stated) {
    return as_stated ? Verdict::holds : Verdict::fails;
}

Verdict verdict_of(bool as_stated, bool as_corrected) {
    return as_stated ? Verdict::holds : as_corrected ? Verdict::holds_corrected : Verdict::fails;
}

Need checkpoint_need(const std::string& model) {
    return {fmt::format("the checkpoint {}", model), fmt::format("huggingface-cli download {}", model), [model] {
                try {
                    model::locate(model);
                    return true;
                } catch (const Error&) {  // says why, to someone who asked for the model by name
                    return false;
                }
            }};
}

Need file_need(const std::string& path, const std::string& how) {
    return {fmt::format("the file {}", path), how, [path] {
                std::error_code ignored;
                return std::filesystem::is_regular_file(path, ignored);
            }};
}

std::string text_of(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) {
        return fmt::format("{:.6g}", *number);
    }
    const auto* words = std::get_if<std::string>(&value);
    return words != nullptr ? *words : "";
}

std::string markdown(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        safe += c == '|' || c == '*' || c == '_' || c == '<' ? std::string{'\\', c} : std::string(1, c);
    }
    return safe;
}

double Context::predict(std::string_view quantity, double stated, const std::vector<double>& place) const {
    return replaced ? replaced(quantity, stated, place) : stated;
}

void Context::at(double share) const {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
        throw Interrupted{};
    }
    if (progress) {
        progress(std::clamp(share, 0.0, 1.0));
    }
}

Context Context::part(double begin, double end) const {
    Context inner = *this;
    if (progress) {
        inner.progress = [outer = progress, begin, end](double share) { outer(begin + (end - begin) * share); };
    }
    return inner;
}

}  // namespace flyball::claims
