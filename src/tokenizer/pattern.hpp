// Regular expressions of tokenizer files, run by PCRE2 with its just-in-time compiler.
//
// The files are written for Oniguruma in Ruby's dialect. What the two read differently is rewritten: \s \w \h and their
// opposites, ^ and $ at every line, nested sets, \uXXXX, {,n}; a set intersection or a negated inner set is refused.
// \p{..} follows the Unicode version of the PCRE2 that is installed. A pattern that backtracks without end is an Error,
// not a hang: PCRE2's match limit bounds one match, a budget of processor time all of them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace flyball::tokenizer {

// Pieces of classes, in PCRE2's words, for inside [..].
inline constexpr std::string_view white_space_class =
    R"(\x09-\x0d\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
// Alphabetic, marks, decimal digits and connectors: what both Oniguruma and Rust's regex call \w ...
inline constexpr std::string_view word_class =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
inline constexpr std::string_view ruby_word_extra = R"(\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})";  // ... the former alone
inline constexpr std::string_view rust_word_extra = R"(\x{200c}\x{200d})";                 // ... the latter alone

// The pattern in PCRE2's dialect.
std::string from_ruby(std::string_view pattern);

class Pattern {
  public:
    // `what` names the pattern's place in messages.
    static Pattern ruby(std::string_view pattern, std::string_view what);
    static Pattern pcre(std::string_view pattern, std::string_view what);
    static Pattern literal(std::string_view text);

    struct Match {
        std::size_t start = 0, end = 0;
    };

  private:
    struct Compiled;  // PCRE2's code; read-only once built, so threads may share it
    friend class Matches;
    std::shared_ptr<const Compiled> compiled_;  // null for a literal
    std::string text_;
};

// The successive matches in valid UTF-8. One object a thread; it may be pointed at one text after another.
class Matches {
  public:
    explicit Matches(const Pattern& pattern);
    ~Matches();
    Matches(Matches&&) noexcept;
    Matches(const Matches&) = delete;
    Matches& operator=(const Matches&) = delete;

    void begin(std::string_view text) noexcept;
    std::optional<Pattern::Match> next();

  private:
    struct State;
    std::optional<Pattern::Match> search();
    void check_budget();

    const Pattern* pattern_;
    std::unique_ptr<State> state_;
    std::string_view text_;
    std::size_t at_ = 0;
    std::optional<std::size_t> last_end_;
};

}  // namespace flyball::tokenizer
