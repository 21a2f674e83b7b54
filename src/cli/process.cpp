#include "cli/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string_view>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace flyball::cli {

namespace {

// What a map of memory answers where the file no longer has the page, or the disk does not give it. Anything else that
// this signal may mean is no file's fault and ends the process as it always did.
extern "C" void on_bus_error(int signal, siginfo_t* about, void* /*context*/) {
    if (about->si_code == BUS_ADRERR) {
        constexpr std::string_view sentence =
            "flyball: [cli.main] got a file that became shorter, or could not be read on, while it was in use, "
            "expected files that stay as they are until the command has ended.\n";
        static_cast<void>(!write(STDERR_FILENO, sentence.data(), sentence.size()));
        _exit(static_cast<int>(ExitCode::bad_input));
    }
    std::signal(signal, SIG_DFL);
    raise(signal);  // delivered when this handler returns
}

void say_when_a_mapped_file_shrinks() {
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
}

void widen_stacks_of_threads() {
    pthread_attr_t usual{};
    std::size_t bytes = 0;
    if (pthread_getattr_default_np(&usual) != 0) {
        return;
    }
    if (pthread_attr_getstacksize(&usual, &bytes) == 0 && bytes < thread_stack_bytes &&
        pthread_attr_setstacksize(&usual, thread_stack_bytes) == 0) {
        static_cast<void>(pthread_setattr_default_np(&usual));
    }
    pthread_attr_destroy(&usual);
}

struct Call {
    int (*run)(int count, char** values);
    int count;
    char** values;
    int result;
};

void* call(void* given) {
    auto* const one = static_cast<Call*>(given);
    one->result = one->run(one->count, one->values);
    return nullptr;
}

}  // namespace

void settle_in() noexcept {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) == -1) {
            // The lowest free number is this one: those below it are open by now.
            static_cast<void>(open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY));
        }
    }
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    say_when_a_mapped_file_shrinks();
    widen_stacks_of_threads();
}

int with_a_large_stack(int (*run)(int count, char** values), int count, char** values) {
    rlimit stack{};
    const bool small = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < thread_stack_bytes;
    Call one{run, count, values, 0};
    pthread_t thread{};
    if (small && pthread_create(&thread, nullptr, call, &one) == 0) {
        pthread_join(thread, nullptr);
        return one.result;
    }
    return run(count, values);
}

}  // namespace flyball::cli
