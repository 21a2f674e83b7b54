// Loaded before the C library (LD_PRELOAD), this makes a chosen call of the program fail or be its last.
//
//     FLYBALL_FAULT=kill:N      SIGKILL at the N-th call that changes a file or a folder; a write is cut in half first
//     FLYBALL_FAULT=ENOSPC:N    from the N-th such call on the disk is full: first half a write, then nothing; deleting
//                               still works
//     FLYBALL_FAULT=EIO:N       from the N-th such call on every one of them fails
//     FLYBALL_FAULT=sync:N      the N-th fsync of a file that was written fails, and that call alone: a disk that had
//                               said yes to the writes tells that they are lost
//     FLYBALL_FAULT=short:N     from the N-th such call on every write takes half of what it is given and says so: no
//                               failure, the rest has to be written after it
//     FLYBALL_FAULT=new:N       the N-th operator new throws (counted from main on)
//     FLYBALL_FAULT=malloc:N    the N-th malloc that is not operator new's finds nothing: what C libraries meet
//     FLYBALL_FAULT_LOG=FILE    at the end "calls C sync S new D malloc E" is written there
//
// Counted are open with O_CREAT, write, pwrite, writev, ftruncate, fsync, close of a file opened so, rename, unlink,
// remove, rmdir and mkdir, except on the standard streams. fsync does not reach the disk: the tests look at what the
// program asks for, not at power failures.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t size);            // NOLINT: glibc's names
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT
void __libc_free(void* pointer);                  // NOLINT
}

namespace {

enum class Fault { none, kill, full, broken, no_sync, halves, no_new, no_malloc };

struct Plan {
    Fault fault = Fault::none;
    long at = 0;
};

Plan plan() {
    static const Plan found = [] {
        Plan result;
        const char* const text = std::getenv("FLYBALL_FAULT");
        const char* const colon = text == nullptr ? nullptr : std::strchr(text, ':');
        if (colon == nullptr) {
            return result;
        }
        result.at = std::strtol(colon + 1, nullptr, 10);
        const auto is = [&](const char* name) { return std::strncmp(text, name, std::strlen(name)) == 0; };
        result.fault = is("kill:")     ? Fault::kill
                       : is("ENOSPC:") ? Fault::full
                       : is("EIO:")    ? Fault::broken
                       : is("sync:")   ? Fault::no_sync
                       : is("short:")  ? Fault::halves
                       : is("new:")    ? Fault::no_new
                       : is("malloc:") ? Fault::no_malloc
                                       : Fault::none;
        return result;
    }();
    return found;
}

std::atomic<bool> in_main{false};
std::atomic<long> calls{0};
std::atomic<long> syncs{0};
std::atomic<long> news{0};
std::atomic<long> mallocs{0};
std::array<std::atomic<bool>, 1024> is_output{};  // descriptors that were opened with O_CREAT

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

enum class Answer { go_on, half, fail };

// What becomes of the next call. `half`: of a write the first half is done.
Answer next_call(bool frees_space = false) {
    const long number = ++calls;
    switch (plan().fault) {
        case Fault::kill:
            return number == plan().at ? Answer::half : Answer::go_on;
        case Fault::full:
            errno = ENOSPC;
            return number < plan().at || frees_space ? Answer::go_on
                   : number == plan().at             ? Answer::half
                                                     : Answer::fail;
        case Fault::broken:
            errno = EIO;
            return number < plan().at ? Answer::go_on : Answer::fail;
        case Fault::halves:
            return number < plan().at ? Answer::go_on : Answer::half;
        case Fault::none:
        case Fault::no_sync:
        case Fault::no_new:
        case Fault::no_malloc:
            break;
    }
    return Answer::go_on;
}

void die_if_planned() {
    if (plan().fault == Fault::kill) {
        ::kill(::getpid(), SIGKILL);
        for (;;) {
            ::pause();
        }
    }
}

// A call that is done or not: everything but writing.
template <class Call>
int whole(Call call, bool frees_space = false) {
    const int before = errno;
    if (next_call(frees_space) != Answer::go_on && plan().fault != Fault::halves) {
        die_if_planned();
        return -1;
    }
    errno = before;
    return call();
}

template <class Call>
ssize_t written(int descriptor, std::size_t size, Call call) {
    const int before = errno;
    if (descriptor <= STDERR_FILENO) {
        return call(size);
    }
    const Answer answer = next_call();
    if (answer == Answer::go_on) {
        errno = before;
        return call(size);
    }
    if (answer == Answer::half && size > 1) {
        const ssize_t part = call(size / 2);
        die_if_planned();
        return part;
    }
    if (plan().fault == Fault::halves) {  // a single byte has no half
        return call(size);
    }
    die_if_planned();
    errno = plan().fault == Fault::full ? ENOSPC : EIO;
    return -1;
}

int opened(int flags, int descriptor) {
    if (descriptor >= 0 && static_cast<std::size_t>(descriptor) < is_output.size()) {
        is_output[static_cast<std::size_t>(descriptor)] = (flags & O_CREAT) != 0;
    }
    return descriptor;
}

template <class Call>
int maybe_created(int flags, Call call) {
    return opened(flags, (flags & O_CREAT) != 0 ? whole(call) : call());
}

// Folders are synced too, but not every file system can do that.
int synced(int descriptor) {
    const bool counts = descriptor >= 0 && static_cast<std::size_t>(descriptor) < is_output.size() &&
                        is_output[static_cast<std::size_t>(descriptor)];
    if (counts && ++syncs == plan().at && plan().fault == Fault::no_sync) {
        errno = EIO;
        return -1;
    }
    return whole([] { return 0; });
}

mode_t mode_of(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

void write_log() {
    const char* const path = std::getenv("FLYBALL_FAULT_LOG");
    if (path == nullptr) {
        return;
    }
    char text[128];
    const int size = std::snprintf(text, sizeof text, "calls %ld sync %ld new %ld malloc %ld\n", calls.load(),
                                   syncs.load(), news.load(), mallocs.load());
    const int file = real<int(const char*, int, ...)>("open")(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    static_cast<void>(
        !real<ssize_t(int, const void*, std::size_t)>("write")(file, text, static_cast<std::size_t>(size)));
}

int (*program_main)(int, char**, char**) = nullptr;

int counted_main(int count, char** values, char** environment) {
    in_main = true;
    const int code = program_main(count, values, environment);
    in_main = false;
    write_log();
    return code;
}

void* allocated(std::size_t size, std::size_t alignment) {
    const bool counts = in_main.load(std::memory_order_relaxed);
    if (counts && ++news == plan().at && plan().fault == Fault::no_new) {
        throw std::bad_alloc();
    }
    void* const memory = alignment == 0 ? __libc_malloc(size == 0 ? 1 : size) : __libc_memalign(alignment, size);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

}  // namespace

void* operator new(std::size_t size) {
    return allocated(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocated(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    __libc_free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    __libc_free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    __libc_free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    __libc_free(memory);
}

extern "C" {

void* malloc(std::size_t size) {
    if (in_main.load(std::memory_order_relaxed) && ++mallocs == plan().at && plan().fault == Fault::no_malloc) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(size);
}

// NOLINTNEXTLINE: glibc's name
int __libc_start_main(int (*main)(int, char**, char**), int count, char** values, void (*init)(), void (*fini)(),
                      void (*loader)(), void* stack) {
    program_main = main;
    using Start = int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
    return real<Start>("__libc_start_main")(counted_main, count, values, init, fini, loader, stack);
}

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return maybe_created(flags, [&] { return real<int(const char*, int, ...)>("open")(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return maybe_created(flags, [&] { return real<int(const char*, int, ...)>("open64")(path, flags, mode); });
}

int close(int descriptor) {
    const auto call = [&] { return real<int(int)>("close")(descriptor); };
    if (descriptor < 0 || static_cast<std::size_t>(descriptor) >= is_output.size() ||
        !is_output[static_cast<std::size_t>(descriptor)].exchange(false)) {
        return call();
    }
    return whole(call) == 0 ? 0 : (call(), errno = plan().fault == Fault::full ? ENOSPC : EIO, -1);
}

ssize_t write(int descriptor, const void* bytes, std::size_t size) {
    return written(descriptor, size, [&](std::size_t part) {
        return real<ssize_t(int, const void*, std::size_t)>("write")(descriptor, bytes, part);
    });
}

ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
    return written(descriptor, size, [&](std::size_t part) {
        return real<ssize_t(int, const void*, std::size_t, off_t)>("pwrite")(descriptor, bytes, part, offset);
    });
}

ssize_t pwrite64(int descriptor, const void* bytes, std::size_t size, off64_t offset) {
    return written(descriptor, size, [&](std::size_t part) {
        return real<ssize_t(int, const void*, std::size_t, off64_t)>("pwrite64")(descriptor, bytes, part, offset);
    });
}

ssize_t writev(int descriptor, const iovec* pieces, int count) {
    if (descriptor > STDERR_FILENO && whole([] { return 0; }) != 0) {
        return -1;
    }
    return real<ssize_t(int, const iovec*, int)>("writev")(descriptor, pieces, count);
}

int ftruncate(int descriptor, off_t size) {
    return whole([&] { return real<int(int, off_t)>("ftruncate")(descriptor, size); });
}

int ftruncate64(int descriptor, off64_t size) {
    return whole([&] { return real<int(int, off64_t)>("ftruncate64")(descriptor, size); });
}

int fsync(int descriptor) {
    return synced(descriptor);
}

int fdatasync(int descriptor) {
    return synced(descriptor);
}

int rename(const char* from, const char* to) {
    return whole([&] { return real<int(const char*, const char*)>("rename")(from, to); });
}

int mkdir(const char* path, mode_t mode) {
    return whole([&] { return real<int(const char*, mode_t)>("mkdir")(path, mode); });
}

int unlink(const char* path) {
    return whole([&] { return real<int(const char*)>("unlink")(path); }, true);
}

int remove(const char* path) {
    return whole([&] { return real<int(const char*)>("remove")(path); }, true);
}

int rmdir(const char* path) {
    return whole([&] { return real<int(const char*)>("rmdir")(path); }, true);
}

int unlinkat(int folder, const char* path, int flags) {
    return whole([&] { return real<int(int, const char*, int)>("unlinkat")(folder, path, flags); }, true);
}

}  // extern "C"
