// The rows of one head, one after another: what is measured of each, summed, and the means at the end.
//
// Rows are put into buckets by position: bucket k holds those that the k-th length has and the one before has not. The
// mean for a length is over all buckets up to its own, so that one pass over the longest text serves all lengths of a
// causal model. Rows come in rising order from one thread: the same bits at any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "limits/gram.hpp"
#include "limits/normaliser.hpp"
#include "limits/result.hpp"
#include "limits/separation.hpp"
#include "limits/walk.hpp"

namespace flyball::limits {

// What all heads of a pass share.
struct Plan {
    std::vector<std::size_t> lengths;     // rising; the last is the number of tokens of the pass
    std::vector<std::size_t> listed;      // rising: the N of which more than the two distances are kept
    std::vector<std::size_t> top;         // those of them that are shown over N
    std::vector<std::size_t> separation;  // rising
    std::vector<double> temperatures;
    std::vector<double> steps;
    bool include_masked = false;
    bool is_longest = true;  // separation, sensitivity and the measures of a head belong to the longest pass alone
    std::uint64_t seed = 1;

    std::size_t tokens() const { return lengths.back(); }
};

// Memory that a thread uses for its rows.
struct RowRoom {
    RowWalk walk;
    SeparationWalk separation;
    std::vector<double> moved, base, sort;
    std::vector<std::size_t> separated;
    WithMasked masked;
    std::vector<std::size_t> order;  // of the keys seen, also where masked keys count
};

// v of algorithm 5: uniform on the sphere of the row's keys, the same for all heads.
std::vector<double> direction_of(std::uint64_t seed, std::size_t token, std::size_t keys);

struct RowOfHead {
    std::size_t token = 0;
    Seen seen;
    const Gram* gram = nullptr;
    Gram::Least least;                  // among the keys that count
    const double* direction = nullptr;  // [keys] direction_of its token
    const double* logits = nullptr;     // [keys] raw products of query and keys
    const double* weights = nullptr;    // [keys]
    const double* along = nullptr;      // [keys] <x_i, S>
    double temperature = 1;             // the head's own
};

class HeadSums {
  public:
    HeadSums(const Plan& plan, const Normaliser& normaliser);

    void add(const RowOfHead& row, RowRoom& room);
    void leave_out(std::size_t token);
    std::size_t left_out() const { return left_out_.size(); }
    bool is_left_out(std::size_t token) const;
    bool saw_distinct_vectors() const { return saw_distinct_; }

    // The keys that the diagnosis' N separated, by row: for the coverage of a layer. Emptied by the caller.
    std::vector<std::vector<std::uint32_t>>& separated() { return separated_; }

    // Means over rows; layer, head and temperature are the caller's to set.
    HeadResult result() const;
    // Mean distance and expectation of all N for the k-th length; NaN where no row counts.
    struct Curves {
        std::vector<double> distance, expected;
    };
    Curves curves(std::size_t length_index) const;

  private:
    struct Listed {
        double rms = 0;
        double bound = 0;
        double share = 0;
        double uniformity = 0;
    };
    struct Bucket {
        std::vector<double> distance, expected;  // [N - 1]
        std::vector<std::uint32_t> rows;         // [N - 1]
        std::vector<Listed> listed;
    };
    void add_distances(const RowOfHead& row, RowRoom& room);
    void add_separation(const RowOfHead& row, const RowInput& input, RowRoom& room);
    void add_shape(const RowOfHead& row, const RowRoom& room);
    void add_sensitivity(const RowOfHead& row, RowRoom& room);
    void add_jacobian(std::size_t t, const std::vector<std::size_t>& order, const std::vector<double>& weights,
                      std::vector<double>& room);
    DistanceMeans means(std::size_t length_index, std::size_t listed) const;

    const Plan& plan_;
    Normaliser normaliser_;
    std::vector<Bucket> buckets_;
    std::vector<SeparationMeans> separation_;
    std::vector<std::uint32_t> separation_rows_;
    std::vector<double> sensitivity_;  // [temperature, step]
    std::vector<JacobianMeans> jacobian_;
    std::vector<double> received_;        // by key: the shares of the weight that it gets
    std::vector<std::uint32_t> seen_by_;  // by key: rows that see it
    HeadResult shape_;                    // sums of what has no N
    std::vector<std::vector<std::uint32_t>> separated_;
    std::vector<std::size_t> left_out_;  // tokens, rising
    bool saw_distinct_ = false;
};

}  // namespace flyball::limits
