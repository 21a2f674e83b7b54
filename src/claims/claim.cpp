#include "claims/claim.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/number.hpp"

namespace flyball::claims {

namespace {

constexpr Verdict verdicts[] = {Verdict::holds, Verdict::holds_corrected, Verdict::fails, Verdict::not_tested};

}  // namespace

const char* name(Verdict verdict) {
    switch (verdict) {
        case Verdict::holds:
            return "holds";
        case Verdict::holds_corrected:
            return "holds-corrected";
        case Verdict::fails:
            return "fails";
        case Verdict::not_tested:
            return "not-tested";
    }
    return "";
}

Verdict verdict_from_name(std::string_view text) {
    for (const Verdict verdict : verdicts) {
        if (text == name(verdict)) {
            return verdict;
        }
    }
    throw Error(ErrorKind::input, "claims.verdict", flyball::quoted(text),
                "holds, holds-corrected, fails or not-tested");
}

Verdict verdict_of(bool as_stated) {
    return as_stated ? Verdict::holds : Verdict::fails;
}

Verdict verdict_of(bool as_stated, bool as_corrected) {
    return as_stated ? Verdict::holds : as_corrected ? Verdict::holds_corrected : Verdict::fails;
}

std::string text_of(const Value& value) {
    if (const auto* number = std::get_if<double>(&value)) {
        return fmt::format("{:.6g}", *number);
    }
    return std::get<std::string>(value);
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

std::string summary(const std::vector<Judged>& claims) {
    const auto count = [&](auto matches) { return std::count_if(claims.begin(), claims.end(), matches); };
    const char* words[] = {"hold", "hold corrected", "fail", "not tested"};
    std::string text = fmt::format("{} claim{}: ", claims.size(), claims.size() == 1 ? "" : "s");
    bool first = true;
    for (std::size_t i = 0; i < std::size(verdicts); ++i) {
        const auto found = count([&](const Judged& claim) { return claim.verdict == verdicts[i]; });
        if (found > 0) {
            text += fmt::format("{}{} {}", first ? "" : ", ", found, words[i]);
            first = false;
        }
    }
    const auto differ = count([](const Judged& claim) { return claim.verdict != claim.expected; });
    return text + (differ == 0 ? "; all as recorded" : fmt::format("; {} not as recorded", differ));
}

}  // namespace flyball::claims
