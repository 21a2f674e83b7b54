// provenance.json: with what a run was made, and checksums of what it read and wrote.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>

#include "core/json.hpp"

namespace flyball::record {

// Refuses a file that lies in the folder of a finished run and is no longer as that run wrote it (`sum` is its
// checksum). Of any other file nothing is known, and nothing said.
void expect_as_recorded(const std::filesystem::path& file, const std::string& sum);

// Of all that a provenance.json says, in the form in which we write it: numbers and texts count, blanks do not.
std::string provenance_sum(const Json& about);

// Whether the text of a provenance.json is what a run wrote: it carries that checksum.
bool is_provenance_as_written(Json about);

// As "2026-01-31T12:00:00Z"; a time that no calendar has, as a clock that was never set may tell, as its seconds.
std::string in_utc(std::time_t time);

// Version, seed, threads, instruction set, BLAS core, machine and time.
Json provenance(std::uint64_t seed);

}  // namespace flyball::record
