// Whether this build carries sanitizers: there the reference loops of the tests are tens of times slower, and large
// cases, which only repeat what small ones ask of memory, are thinned out.
#pragma once

namespace flyball {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

// Of a long table of numbers under a sanitizer every third row is asked: memory is used in the same way by all.
inline constexpr unsigned sanitized_stride = sanitized ? 3 : 1;

}  // namespace flyball
