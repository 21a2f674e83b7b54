#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/pattern.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <ctime>
#include <utility>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace flyball::tokenizer {

namespace {

constexpr std::size_t longest_pattern = 65536;
// Far above what any published pattern needs for a match; a nested quantifier gone wild meets it within a second.
constexpr std::uint32_t match_limit = 20'000'000;
constexpr std::uint32_t heap_limit_kilobytes = 256 * 1024;
constexpr std::size_t largest_jit_stack = std::size_t{64} << 20;
// Processor time for all matches of one pattern in one text. The slowest published pattern takes 0.1 s a megabyte.
constexpr double budget_seconds = 20;
constexpr double budget_seconds_per_megabyte = 5;
constexpr std::uint64_t matches_between_looks = 256;

std::string message_of(int code) {
    std::array<PCRE2_UCHAR, 256> buffer{};
    pcre2_get_error_message(code, buffer.data(), buffer.size());
    return reinterpret_cast<const char*>(buffer.data());
}

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <auto release>
struct Release {
    template <typename T>
    void operator()(T* pointer) const {
        release(pointer);
    }
};

using Code = std::unique_ptr<pcre2_code, Release<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Release<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Release<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Release<pcre2_jit_stack_free>>;

}  // namespace

struct Pattern::Compiled {
    Code code;
    std::string what;
};

struct Matches::State {
    MatchContext context;
    MatchData data;
    JitStack stack;
    std::uint64_t searches = 0;
    std::size_t bytes = 0;  // of all texts so far
    double started = 0;
};

Pattern Pattern::pcre(std::string_view pattern, std::string_view what) {
    if (pattern.size() > longest_pattern) {
        throw Error(ErrorKind::input, "tokenizer.pattern",
                    fmt::format("a pattern of {} bytes in {}", pattern.size(), what),
                    fmt::format("at most {} bytes", longest_pattern));
    }
    const CompileContext context(pcre2_compile_context_create(nullptr));
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int problem = 0;
    PCRE2_SIZE offset = 0;
    constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &problem, &offset,
                            context.get()));
    if (code == nullptr) {
        throw Error(ErrorKind::input, "tokenizer.pattern",
                    fmt::format("the pattern {} in {} ({} at byte {})", flyball::quoted(pattern), what,
                                message_of(problem), offset),
                    "a regular expression that PCRE2 can compile");
    }
    // Where there is no just-in-time compiler, PCRE2 interprets.
    static_cast<void>(pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE));
    Pattern result;
    result.text_ = std::string(pattern);
    result.compiled_ = std::make_shared<const Compiled>(Compiled{std::move(code), std::string(what)});
    return result;
}

Pattern Pattern::ruby(std::string_view pattern, std::string_view what) {
    return pcre(from_ruby(pattern), what);
}

Pattern Pattern::literal(std::string_view text) {
    if (text.empty()) {
        return pcre("", "an empty pattern");  // matches between any two characters, as the library has it
    }
    Pattern result;
    result.text_ = std::string(text);
    return result;
}

Matches::Matches(const Pattern& pattern) : pattern_(&pattern) {
    if (pattern.compiled_ == nullptr) {
        return;
    }
    state_ = std::make_unique<State>();
    state_->context.reset(pcre2_match_context_create(nullptr));
    state_->data.reset(pcre2_match_data_create_from_pattern(pattern.compiled_->code.get(), nullptr));
    if (state_->context == nullptr || state_->data == nullptr) {
        throw std::bad_alloc();
    }
    pcre2_set_match_limit(state_->context.get(), match_limit);
    pcre2_set_heap_limit(state_->context.get(), heap_limit_kilobytes);
}

Matches::~Matches() = default;
Matches::Matches(Matches&&) noexcept = default;

void Matches::begin(std::string_view text) noexcept {
    text_ = text;
    at_ = 0;
    last_end_.reset();
    if (state_ != nullptr) {
        state_->bytes += text.size();
    }
}

void Matches::check_budget() {
    if (state_->searches++ % matches_between_looks != 0) {
        return;
    }
    const double now = thread_seconds();
    if (state_->searches == 1) {
        state_->started = now;
    }
    const double allowed = budget_seconds + budget_seconds_per_megabyte * 1e-6 * static_cast<double>(state_->bytes);
    if (now - state_->started > allowed) {
        throw Error(ErrorKind::input, "tokenizer.pattern",
                    fmt::format("more than {:.0f} seconds of matching by the pattern {} in {}", allowed,
                                flyball::quoted(pattern_->text_), pattern_->compiled_->what),
                    "a pattern whose time grows with the text, not with its square");
    }
}

std::optional<Pattern::Match> Matches::search() {
    if (state_ == nullptr) {
        const std::size_t start = text_.find(pattern_->text_, at_);
        if (start == std::string_view::npos) {
            return std::nullopt;
        }
        return Pattern::Match{start, start + pattern_->text_.size()};
    }
    check_budget();
    const pcre2_code* const code = pattern_->compiled_->code.get();
    const auto match = [&] {
        return pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text_.data()), text_.size(), at_, PCRE2_NO_UTF_CHECK,
                           state_->data.get(), state_->context.get());
    };
    int result = match();
    if (result == PCRE2_ERROR_JIT_STACKLIMIT && state_->stack == nullptr) {
        state_->stack.reset(pcre2_jit_stack_create(32768, largest_jit_stack, nullptr));
        pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
        result = match();
    }
    if (result == PCRE2_ERROR_NOMATCH) {
        return std::nullopt;
    }
    if (result < 0) {
        throw Error(ErrorKind::input, "tokenizer.pattern",
                    fmt::format("a text on which the pattern {} in {} gives up ({})", flyball::quoted(pattern_->text_),
                                pattern_->compiled_->what, message_of(result)),
                    "a pattern that does not backtrack without end");
    }
    const PCRE2_SIZE* const offsets = pcre2_get_ovector_pointer(state_->data.get());
    // \K in a lookahead can put the start behind the end.
    return Pattern::Match{std::min(offsets[0], offsets[1]), offsets[1]};
}

std::optional<Pattern::Match> Matches::next() {
    while (at_ <= text_.size()) {
        const std::optional<Pattern::Match> found = search();
        if (!found) {
            at_ = text_.size() + 1;
            return std::nullopt;
        }
        if (found->start == found->end && last_end_ == found->end) {
            // An empty match where the last one ended would come again for ever.
            at_ += at_ < text_.size() ? point_length(text_[at_]) : 1;
            continue;
        }
        at_ = found->end;
        last_end_ = found->end;
        return found;
    }
    return std::nullopt;
}

}  // namespace flyball::tokenizer
