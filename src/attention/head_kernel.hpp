// What every kernel computes: one head of one system, from queries, keys and values to the weighted sums.
//
// Legend: n tokens, w width of the head (the dimension itself for identity weights).
// Heads, projections by weights and systems are the business of attention.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "attention/attention.hpp"

namespace flyball::attention {

// Everything the choice of a kernel may depend on.
struct HeadProblem {
    std::size_t tokens = 1;
    std::size_t width = 1;
    Kind kind = Kind::softmax;
    Mask mask = Mask::none;
    bool identity = true;  // queries, keys and values are the same array
    double beta = 1;       // the largest of all heads, in absolute value
    std::size_t systems = 1;
};

template <class Real>
class HeadKernel {
  public:
    HeadKernel() = default;
    virtual ~HeadKernel() = default;
    HeadKernel(const HeadKernel&) = delete;
    HeadKernel& operator=(const HeadKernel&) = delete;

    // query, key, value, out: [n, w]; the same pointer three times when the problem says identity. out is overwritten.
    virtual void run(double beta, const Real* query, const Real* key, const Real* value, Real* out) = 0;
    // The same for `count` systems in a row, [count, n, w], of one array z: what kernels across systems do better.
    virtual void run_systems(std::size_t count, double beta, const Real* z, Real* out) {
        for (std::size_t s = 0; s < count; ++s) {
            const Real* system = z + s * system_numbers;
            run(beta, system, system, system, out + s * system_numbers);
        }
    }
    std::size_t system_numbers = 0;  // n w, set by whoever makes the kernel
    virtual std::string_view path() const = 0;
    // Set by a call that went to a kernel of another order of cost: a record that names this one alone would mislead.
    // Whoever asks clears it before the first call of an evaluation.
    bool fell_back = false;
    virtual std::size_t memory_bytes() const = 0;
};

template <class Real>
using MakeKernel = std::unique_ptr<HeadKernel<Real>> (*)(const HeadProblem& problem);

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_reference(const HeadProblem& problem);
template <class Real>
std::unique_ptr<HeadKernel<Real>> make_direct(const HeadProblem& problem);
template <class Real>
std::unique_ptr<HeadKernel<Real>> make_ensemble(const HeadProblem& problem);
template <class Real>
std::unique_ptr<HeadKernel<Real>> make_fused(const HeadProblem& problem);
template <class Real>
std::unique_ptr<HeadKernel<Real>> make_general(const HeadProblem& problem);
template <class Real>
std::unique_ptr<HeadKernel<Real>> make_blas(const HeadProblem& problem);
template <class Real>
std::unique_ptr<HeadKernel<Real>> make_circle(const HeadProblem& problem);

}  // namespace flyball::attention
