// Uses the installed library the way a stranger's program does; run.sh builds and runs it.
#include <cstdio>
#include <flyball/core/error.hpp>
#include <flyball/core/version.hpp>
#include <string>

int main() {
    const flyball::Error error(flyball::ErrorKind::usage, "consumer.main", flyball::quoted("a\tb"), "no tab");
    const std::string expected = "[consumer.main] got 'a\\x09b', expected no tab.";
    if (error.what() != expected) {
        std::printf("got: %s\nexpected: %s\n", error.what(), expected.c_str());
        return 1;
    }
    std::printf("flyball %s: the installed library works\n", flyball::version);
    return 0;
}
