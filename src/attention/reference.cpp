// The definition: plain double loops, one row at a time, O(n^2 w). Every other kernel is compared with this one, so it
// is kept free of tricks; float tokens are widened and only the result is rounded.
#include <algorithm>
#include <vector>

#include "attention/head_kernel.hpp"
#include "attention/row_weights.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

constexpr std::size_t most_reference_slots = 64;

template <class Real>
class Reference final : public HeadKernel<Real> {
  public:
    explicit Reference(const HeadProblem& problem)
        : problem_(problem), slots_(std::min(problem.tokens, most_reference_slots)) {
        rows_.resize(slots_);
    }

    void run(double beta, const Real* query, const Real* key, const Real* value, Real* out) override {
        parallel_slots(problem_.tokens, slots_, [&](std::size_t slot, std::size_t begin, std::size_t end) {
            for (std::size_t j = begin; j < end; ++j) {
                check_stop();
                one_row(beta, j, query, key, value, rows_[slot], out + j * problem_.width);
            }
        });
    }

    std::string_view path() const override { return "rows in double"; }
    std::size_t memory_bytes() const override {
        return slots_ * (2 * problem_.tokens + problem_.width) * sizeof(double);
    }

  private:
    struct Row {
        std::vector<double> weights;  // [n]
        std::vector<double> sum;      // [w]
        std::vector<double> room;
    };

    // scores -> weights (row_weights) -> weighted sum of values, all in double.
    void one_row(double beta, std::size_t j, const Real* query, const Real* key, const Real* value, Row& row,
                 Real* out) const {
        const std::size_t width = problem_.width;
        const std::size_t allowed = problem_.mask == Mask::causal ? j + 1 : problem_.tokens;
        row.weights.resize(problem_.tokens);
        for (std::size_t k = 0; k < allowed; ++k) {
            double score = 0;
            for (std::size_t c = 0; c < width; ++c) {
                score += static_cast<double>(query[j * width + c]) * static_cast<double>(key[k * width + c]);
            }
            row.weights[k] = score;
        }
        row_weights(problem_.kind, beta, problem_.tokens, allowed, row.weights.data(), row.room);
        row.sum.assign(width, 0.0);
        for (std::size_t k = 0; k < allowed; ++k) {
            for (std::size_t c = 0; c < width; ++c) {
                row.sum[c] += row.weights[k] * static_cast<double>(value[k * width + c]);
            }
        }
        for (std::size_t c = 0; c < width; ++c) {
            out[c] = static_cast<Real>(row.sum[c]);
        }
    }

    HeadProblem problem_;
    std::size_t slots_;
    std::vector<Row> rows_;
};

}  // namespace

template <class Real>
std::unique_ptr<HeadKernel<Real>> make_reference(const HeadProblem& problem) {
    return std::make_unique<Reference<Real>>(problem);
}
template std::unique_ptr<HeadKernel<double>> make_reference(const HeadProblem&);
template std::unique_ptr<HeadKernel<float>> make_reference(const HeadProblem&);

}  // namespace flyball::attention
