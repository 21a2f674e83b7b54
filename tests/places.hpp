// Where the sources and the program of this build are. In a file of their own: a path on the command line of every test
// would keep a compiler cache from knowing the same test in another checkout.
#pragma once

namespace flyball::test {

extern const char* const source_folder;
extern const char* const program;

}  // namespace flyball::test
