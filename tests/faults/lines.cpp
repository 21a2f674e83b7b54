// Writes a file of JSON lines as a run does, for faults_test.py: lines FILE COUNT. Started again it goes on where the
// file ends; at the end the file has COUNT lines. No command of the program writes such a file alone.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "core/error.hpp"
#include "record/json_lines.hpp"

namespace {

int no_memory() noexcept {
    std::fputs("flyball: [lines] got too little memory, expected enough.\n", stderr);
    return 2;
}

}  // namespace

int main(int count, char** values) {
    if (count != 3) {
        return 3;
    }
    // The destructor of a JSON value may want memory; then no exception gets through.
    std::set_terminate([] { std::_Exit(no_memory()); });
    try {
        const auto wanted = static_cast<std::size_t>(std::atol(values[2]));
        flyball::record::JsonLines lines(values[1], {"lines", {{"count", values[2]}}},
                                         flyball::record::JsonLines::Reach::disk);
        // A run that goes on from an earlier point: the last line is written again.
        lines.keep(lines.size() < wanted && lines.size() > 0 ? lines.size() - 1 : lines.size());
        while (lines.size() < wanted) {
            const std::size_t step = lines.size();
            lines.append({{"step", step}, {"loss", 1.0 / static_cast<double>(step + 1)}});
        }
        return 0;
    } catch (const flyball::Error& error) {
        std::fprintf(stderr, "flyball: %s\n", error.what());
    } catch (const std::bad_alloc&) {
        return no_memory();
    }
    return 2;
}
