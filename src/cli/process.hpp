// What the process needs before a command can run in it: streams, signals, stacks.
#pragma once

namespace flyball::cli {

// The first act of the program. Of the three standard streams those that are closed are opened on nothing, so that no
// file of ours takes their number and gets what is meant for a terminal; writing to a closed stdout still fails.
// A file that grows beyond its limit and a pipe nobody reads are errors of writing, not the end of the process. A file
// that becomes shorter while it is read through a map of memory ends the process with a sentence and not without one.
// Threads that libraries start (OpenMP's, of the matrix library) get thread_stack_bytes, as those of our own pool do.
void settle_in() noexcept;

// What `run` returns, with thread_stack_bytes of stack at least, whatever `ulimit -s` leaves the first thread.
int with_a_large_stack(int (*run)(int count, char** values), int count, char** values);

}  // namespace flyball::cli
