// Included by tile_kernels_plain.cpp and tile_kernels_avx2.cpp, each inside a namespace of its own.

#include "attention/lanes.inl"
// Tiles, padding and sums below have room for vectors of AVX2 and shorter ones.
static_assert(lane_bytes <= 32);
//
#include "attention/direct_rows.inl"
//
#include "attention/direct_tiles.inl"
//
#include "attention/ensemble.inl"
//
#include "attention/fused_tiles.inl"
//
#include "attention/general_tiles.inl"
//
#include "attention/circle_sums.inl"

template <class Real>
constexpr TileKernels<Real> table = {exp_all<Real>,     direct_rows<Real>,   direct_tiles<Real>,    ensemble<Real>,
                                     fused_tiles<Real>, general_tiles<Real>, exponential_row<Real>, sigmoid_row<Real>,
                                     circle_moments,    circle_sums};
