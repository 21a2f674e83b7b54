// Data parallelism whose result does not depend on the number of threads.
//
// [0, count) is cut into at most `slots` contiguous ranges that depend on count and slots only; every range is run
// once, by the caller or by a thread of a process-wide pool. A body that writes per slot and a caller that combines the
// slots in order therefore get the same bits at any thread count.
//
// Rejected: OpenMP (ThreadSanitizer cannot see into its runtime), work stealing (the split would depend on timing).
// Not here: tasks, futures, priorities, fork.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace flyball {

template <class Signature>
class FunctionRef;

// A callable by reference: two words, no allocation. The callable must outlive the call, as a lambda argument does.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
  public:
    template <class Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
             std::is_invocable_r_v<Result, Callable&, Arguments...>) FunctionRef(Callable&& callable)
    noexcept  // NOLINT: implicit, so that a lambda can be passed
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<Callable>*>(object))(std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

  private:
    void* object_;
    Result (*call_)(void*, Arguments...);
};

using SlotBody = FunctionRef<void(std::size_t slot, std::size_t begin, std::size_t end)>;
using SlotSum = FunctionRef<double(std::size_t slot, std::size_t begin, std::size_t end)>;

// Bytes of stack that a thread of the pool has at least, whatever `ulimit -s` says: the matrix library puts megabytes on
// it. A caller's own thread, which takes slots too, should have as many.
inline constexpr std::size_t thread_stack_bytes = std::size_t{8} << 20U;

// Threads used from now on, the caller included; between 1 and 1024. Not from inside a body.
void set_threads(int count);
int threads();

// The CPUs this process may use: affinity mask and control group limit considered. The default of threads().
int available_cpus();

// True inside a body that the pool runs; nested calls then run serially in the calling thread.
bool inside_parallel() noexcept;

// Runs body(slot, begin, end) for every non-empty range and returns when all are done. If bodies throw, the exception
// of the lowest slot is rethrown here and slots above it may not have run. Several threads may call at the same time:
// one gets the pool, the others run their slots themselves.
void parallel_slots(std::size_t count, std::size_t slots, SlotBody body);

// The bodies' results added in slot order.
double parallel_sum(std::size_t count, std::size_t slots, SlotSum body);

// Thrown out of work that was told to stop. No std::exception: only who gave the flag knows what to do about it.
struct Stopped {};

// While one lives, whatever this thread starts through parallel_slots looks at `flag` (null: nothing) before every slot
// and wherever a body calls check_stop(), in any thread of the pool; once the flag is set, Stopped is thrown.
class StopOn {
  public:
    explicit StopOn(const std::atomic<bool>* flag) noexcept;
    ~StopOn();
    StopOn(const StopOn&) = delete;
    StopOn& operator=(const StopOn&) = delete;

  private:
    const std::atomic<bool>* outer_;
};

// For loops that may take longer than a moment. Costs two loads: once a tile or a row, not once a number.
void check_stop();

}  // namespace flyball
