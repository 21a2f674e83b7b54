// The positions in an H5MD file, read from its bytes.
//
// The HDF5 library is not made for files of strangers: of 29,442 trajectories with one to four bytes changed two kept
// it busy for ever (docs/decisions/0041-starts-from-files.md). What `--trajectory` writes needs little of the format,
// the part that HDF5 writes unless asked for a newer one:
//
//     superblock 0 or 1 -> root group -> symbol tables (a B-tree of names) -> object headers, version 1
//     a data set in one piece ("contiguous") of IEEE numbers, little-endian, with 4 or 8 bytes each
//
// Chunked or compressed data, newer groups, external files and user blocks are refused with a sentence. Every address
// is checked against the size of the file, every walk is bounded, nothing is allocated in the size of the file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace flyball::dynamics {

struct H5mdPositions {
    std::size_t samples = 0;
    std::size_t rows = 0;  // systems*tokens
    std::size_t dim = 0;
    std::size_t systems = 1;            // as /parameters says; 1 where it says nothing
    std::size_t number_size = 8;        // bytes of a number
    std::span<const std::byte> values;  // [samples, rows, dim]
};

// /particles/tokens/position/value, or that of the only group in /particles. Error(input) where there is none; `path`
// is for messages.
H5mdPositions read_h5md(std::span<const std::byte> contents, const std::string& path);

}  // namespace flyball::dynamics
