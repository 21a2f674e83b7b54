// The LAPACK routines we need, on row-major matrices.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace flyball {

// Eigenvalues of a symmetric [size, size] matrix, increasing. Deterministic: runs with one BLAS thread.
std::vector<double> symmetric_eigenvalues(std::vector<double> matrix, std::size_t size);

// Eigenvalues of any [size, size] matrix, in no order; NaN where it has an entry that is not finite. Deterministic, as
// above.
std::vector<std::complex<double>> eigenvalues(std::vector<double> matrix, std::size_t size);

// Singular values of a [rows, columns] matrix, decreasing, each right to rounding of the largest. (Roots of eigenvalues
// of its Gram matrix are not: what is 1e-8 of the largest drowns there.) Deterministic, as above.
std::vector<double> singular_values(std::vector<double> matrix, std::size_t rows, std::size_t columns);

// The orthogonal factor of a [size, size] matrix, with signs chosen so that a matrix of independent normals gives a
// Haar distributed one.
std::vector<double> orthogonal_factor(std::vector<double> matrix, std::size_t size);

}  // namespace flyball
