#include "limits/over_heads.hpp"

#include <algorithm>
#include <cmath>

#include "limits/diagnosis.hpp"

namespace flyball::limits {

namespace {

// A member averaged over heads. A head that has no row counts nowhere: it has no value of `measured` either. Where one
// that has rows lacks this member alone there is no mean: that of the others would be of other heads.
template <class Row, class Member>
double mean_over(const std::vector<std::vector<Row>>& heads, std::size_t i, Member measured, Member member) {
    double sum = 0;
    double count = 0;
    for (const std::vector<Row>& rows : heads) {
        if (std::isfinite(rows[i].*measured)) {
            sum += rows[i].*member;
            ++count;
        }
    }
    return sum / count;
}

std::vector<DistanceMeans> means_of(const std::vector<std::vector<DistanceMeans>>& heads) {
    std::vector<DistanceMeans> result = heads.empty() ? std::vector<DistanceMeans>() : heads.front();
    for (std::size_t i = 0; i < result.size(); ++i) {
        for (double DistanceMeans::*const member :
             {&DistanceMeans::distance, &DistanceMeans::expected, &DistanceMeans::expected_rms, &DistanceMeans::bound,
              &DistanceMeans::share, &DistanceMeans::uniformity}) {
            result[i].*member = mean_over(heads, i, &DistanceMeans::distance, member);
        }
    }
    return result;
}

std::vector<SeparationMeans> means_of(const std::vector<std::vector<SeparationMeans>>& heads) {
    std::vector<SeparationMeans> result = heads.empty() ? std::vector<SeparationMeans>() : heads.front();
    for (std::size_t i = 0; i < result.size(); ++i) {
        for (double SeparationMeans::*const member :
             {&SeparationMeans::ratio, &SeparationMeans::lower, &SeparationMeans::upper,
              &SeparationMeans::upper_patched, &SeparationMeans::lower_exact, &SeparationMeans::upper_exact,
              &SeparationMeans::lower_distinct, &SeparationMeans::upper_distinct, &SeparationMeans::lower_broken,
              &SeparationMeans::upper_broken, &SeparationMeans::patched_broken, &SeparationMeans::exact_broken}) {
            result[i].*member = mean_over(heads, i, &SeparationMeans::ratio, member);
        }
    }
    return result;
}

double larger(double a, double b) {
    return b > a || std::isnan(a) ? b : a;
}

}  // namespace

// Heads that separate a share p of a row's keys each, independently, would separate 1 - (1-p)^H of them together: the
// prediction. Measured is the union. Rows that see N keys or fewer are left out,
// and those that one of the heads has left out.
Coverage coverage_of(const std::vector<HeadSums*>& heads, const std::vector<std::size_t>& keys, std::size_t tokens) {
    Coverage result;
    result.heads = heads.size();
    std::vector<bool> covered(tokens);
    double rows = 0;
    for (std::size_t t = 0; t < tokens; ++t) {
        const bool left_out =
            std::any_of(heads.begin(), heads.end(), [t](const HeadSums* head) { return head->is_left_out(t); });
        if (keys[t] <= n_of_diagnosis || left_out) {
            continue;
        }
        covered.assign(tokens, false);
        double all = 0;
        for (HeadSums* const head : heads) {
            for (const std::uint32_t key : head->separated()[t]) {
                covered[key] = true;
            }
            all += static_cast<double>(head->separated()[t].size());
        }
        const auto L = static_cast<double>(keys[t]);
        result.share += all / static_cast<double>(heads.size()) / L;
        result.measured += static_cast<double>(std::count(covered.begin(), covered.end(), true)) / L;
        result.predicted +=
            1 - std::pow(1 - all / static_cast<double>(heads.size()) / L, static_cast<double>(heads.size()));
        ++rows;
    }
    for (HeadSums* const head : heads) {
        head->separated().clear();
        head->separated().shrink_to_fit();
    }
    result.share /= rows;
    result.measured /= rows;
    result.predicted /= rows;
    return result;
}

void OverHeads::add(std::size_t layer, std::size_t head, double temperature, const Plan& plan, const HeadSums& sums) {
    curves_.resize(plan.lengths.size());
    for (std::size_t k = 0; k < plan.lengths.size(); ++k) {
        curves_[k].push_back(sums.curves(k));
    }
    HeadResult result = sums.result();
    result.layer = layer;
    result.head = head;
    result.temperature = temperature;
    by_length_.resize(std::max(by_length_.size(), head_ + 1));
    std::vector<DistanceMeans>& by_length = by_length_[head_];
    by_length.insert(by_length.end(), result.by_length.begin(), result.by_length.end());
    result_.rows_left_out += sums.left_out();
    saw_distinct_ = saw_distinct_ || sums.saw_distinct_vectors();
    if (plan.is_longest) {
        result.by_length = by_length;
        result_.heads.push_back(std::move(result));
    }
    ++head_;
}

// After all heads of a pass. For each length and every N, two samples of as many numbers as there are heads: mean true
// and mean expected distances, compared by their distribution functions.
void OverHeads::end_pass(const Plan& plan, double alpha, const std::vector<Coverage>& coverage) {
    for (std::size_t k = 0; k < plan.lengths.size(); ++k) {
        KsCurve curve;
        curve.length = plan.lengths[k];
        // A head without a row (its block calls no attention) has no curve.
        std::erase_if(curves_[k], [](const HeadSums::Curves& head) {
            return std::all_of(head.distance.begin(), head.distance.end(), [](double d) { return std::isnan(d); });
        });
        const std::size_t heads = curves_[k].size();
        for (std::size_t n = 0; n + 1 < plan.lengths[k]; ++n) {
            std::vector<double> distance;
            std::vector<double> expected;
            for (const HeadSums::Curves& head : curves_[k]) {
                distance.push_back(head.distance[n]);
                expected.push_back(head.expected[n]);
            }
            curve.distances.push_back(ks_distance(std::move(distance), std::move(expected)));
        }
        curve.by_level = critical_by_level(curve.distances, heads, alpha);
        curve.by_distance = critical_by_distance(curve.distances, heads, fixed_distance);
        result_.critical.push_back(std::move(curve));
    }
    curves_.clear();
    head_ = 0;
    if (!plan.is_longest) {
        return;
    }
    std::vector<std::vector<DistanceMeans>> by_n;
    std::vector<std::vector<SeparationMeans>> separation;
    for (const HeadResult& head : result_.heads) {
        by_n.push_back(head.by_n);
        separation.push_back(head.separation);
    }
    const std::size_t told_n = diagnosis_n(result_.heads);
    for (HeadResult& head : result_.heads) {
        head.told_n = told_n;
    }
    result_.by_length = means_of(by_length_);
    result_.by_n = means_of(by_n);
    result_.separation = means_of(separation);
    result_.coverage = coverage;
    result_.repeated_vectors = !saw_distinct_;
    for (const HeadResult& head : result_.heads) {
        if (result_.sensitivity.empty()) {
            result_.sensitivity = head.sensitivity;
            result_.jacobian = head.jacobian;
        }
        for (std::size_t i = 0; i < head.sensitivity.size(); ++i) {
            result_.sensitivity[i].value = larger(result_.sensitivity[i].value, head.sensitivity[i].value);
        }
        for (std::size_t i = 0; i < head.jacobian.size(); ++i) {
            JacobianMeans& most = result_.jacobian[i];
            most.spectral = larger(most.spectral, head.jacobian[i].spectral);
            most.spectral_largest = larger(most.spectral_largest, head.jacobian[i].spectral_largest);
            most.infinity = larger(most.infinity, head.jacobian[i].infinity);
        }
    }
}

}  // namespace flyball::limits
