// What has to be done before the constructors of the shared libraries run.
//
// They take tens of milliseconds, in which an interrupt already has the exit code that every command documents.
//
// OpenBLAS maps its work areas in a constructor, and where the system refuses it asks again for ever: under a small
// `ulimit -v` the program would hang before main. Functions in .preinit_array run before all constructors, so the same
// areas are asked for here first. Nothing is initialised yet: system calls only.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "core/error.hpp"

namespace {

constexpr std::size_t area_bytes = std::size_t{128} << 20U;   // OpenBLAS's BUFFER_SIZE on x86-64
constexpr std::size_t beside_bytes = std::size_t{64} << 20U;  // what the program needs to say anything at all
constexpr int most_threads = 1024;

// The number of areas OpenBLAS will ask for: the processors we may use, unless the environment says fewer.
int area_count(char** environment) {
    cpu_set_t processors;
    int count = sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
    for (char** entry = environment; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        for (const std::string_view name : {"OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS="}) {
            int asked = 0;
            if (text.substr(0, name.size()) == name &&
                std::from_chars(text.data() + name.size(), text.data() + text.size(), asked).ec == std::errc() &&
                asked > 0 && asked < count) {
                count = asked;
            }
        }
    }
    return count < most_threads ? count : most_threads;
}

// Piece by piece: one large map may be refused where the pieces are granted.
bool can_map(int areas) {
    std::array<void*, most_threads + 1> pieces{};
    int mapped = 0;
    bool granted = true;
    for (; granted && mapped <= areas; ++mapped) {
        const std::size_t bytes = mapped < areas ? area_bytes : beside_bytes;
        pieces[static_cast<std::size_t>(mapped)] =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        granted = pieces[static_cast<std::size_t>(mapped)] != MAP_FAILED;
    }
    for (int i = 0; i < mapped; ++i) {
        if (pieces[static_cast<std::size_t>(i)] != MAP_FAILED) {
            munmap(pieces[static_cast<std::size_t>(i)], i < areas ? area_bytes : beside_bytes);
        }
    }
    return granted;
}

void say(std::string_view text) {
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

// Until a command says what is to be saved (catch_interrupts) nothing is, and the process ends as at a kill.
extern "C" void end_at_once(int /*signal*/) {
    say("flyball: interrupted before there was anything to save\n");
    _exit(static_cast<int>(flyball::ExitCode::interrupted));
}

// A signal that whoever started us has switched off (nohup, a job in the background of a script) stays so.
void end_at_interrupts() {
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction action = {};
        if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
            action.sa_handler = end_at_once;
            sigaction(signal, &action, nullptr);
        }
    }
}

void refuse_small_address_space(char** environment) {
    const int areas = area_count(environment);
    if (can_map(areas)) {
        return;
    }
    std::array<char, 16> digits{};
    const std::size_t megabytes = (static_cast<std::size_t>(areas) * area_bytes + beside_bytes) >> 20U;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), megabytes).ptr;
    say("flyball: [cli.main] got too little address space to start, expected room for ");
    say({digits.data(), static_cast<std::size_t>(end - digits.data())});
    say(" MB more. hint: raise the limit (ulimit -v)");
    say(areas > 1 ? ", or set OMP_NUM_THREADS=1.\n" : ".\n");
    _exit(static_cast<int>(flyball::ExitCode::bad_input));
}

void begin(int /*count*/, char** /*values*/, char** environment) {
    end_at_interrupts();
    refuse_small_address_space(environment);
}

using Start = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] const Start first = begin;

}  // namespace
