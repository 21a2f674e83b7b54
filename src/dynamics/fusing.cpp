// Which tokens share a direction. Groups change only between steps, and their history is all that a restart needs.
#include "dynamics/fusing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "measure/rows.hpp"

namespace flyball::dynamics {

namespace {

constexpr double jumped_over = 0.5;  // steps times rate
constexpr double parting = 1e3;
// A pair at rest approaches at a speed that is rounding: d/dt of the distance counts as not positive up to this.
constexpr double noise = 4e-15;  // of a relative velocity, in units of rate times distance

double distance(const double* a, const double* b, std::size_t dim) {
    return std::sqrt(measure::squared_distance(a, b, dim));
}

// The first of a chain of links.
std::size_t root(const std::vector<std::size_t>& link, std::size_t row) {
    while (link[row] != row) {
        row = link[row];
    }
    return row;
}

void unite(std::vector<std::size_t>& link, std::size_t a, std::size_t b) {
    const std::size_t first = std::min(root(link, a), root(link, b));
    link[root(link, a)] = first;
    link[root(link, b)] = first;
}

}  // namespace

Groups::Groups(std::size_t systems, std::size_t tokens)
    : systems_(systems), tokens_(tokens), leader_(systems * tokens) {
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
}

// A group's first token leads. When the leader itself leaves, the next of its tokens leads those that stay.
void Groups::apply(const Fusing& fusing) {
    const std::size_t first = fusing.system * tokens_;
    if (!fusing.apart) {
        for (const std::size_t token : fusing.tokens) {
            leader_[first + token] = first + fusing.tokens.front();
        }
    } else {
        for (const std::size_t token : fusing.tokens) {
            // Whoever it led is led by the next of them.
            const std::size_t row = first + token;
            std::size_t next = row;
            for (std::size_t other = row + 1; other < first + tokens_; ++other) {
                if (leader_[other] == row) {
                    next = next == row ? other : next;
                    leader_[other] = next;
                }
            }
            leader_[row] = row;
        }
    }
    any_ = false;
    for (std::size_t row = 0; row < leader_.size(); ++row) {
        any_ = any_ || leader_[row] != row;
    }
}

void Groups::set_history(std::vector<Fusing> history) {
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
    any_ = false;
    history_ = std::move(history);
    for (const Fusing& fusing : history_) {
        const bool fits = fusing.system < systems_ && !fusing.tokens.empty() &&
                          std::is_sorted(fusing.tokens.begin(), fusing.tokens.end()) && fusing.tokens.back() < tokens_;
        if (!fits) {
            throw Error(ErrorKind::input, "dynamics.Groups", "fused tokens that the run does not have",
                        "the history of a run of these sizes");
        }
        apply(fusing);
    }
}

// Leaders of different groups that are within the tolerance are candidates; one evaluation (`move`) with all of them
// taken as grouped gives the rates of their mutual pulls. Before anything is joined, tokens that no longer belong are
// let go; if there are any, nothing is joined in this step, so that no token is joined and parted at the same t.
bool Groups::update(double t, double h, double tolerance, std::size_t dim, const Values& theta, const Move& move) {
    struct Pair {
        std::size_t j, k;
    };
    std::vector<Pair> near;
    std::vector<std::size_t> tried = leader_;
    for (std::size_t m = 0; m < systems_; ++m) {
        for (std::size_t j = m * tokens_; j < (m + 1) * tokens_; ++j) {
            for (std::size_t k = j + 1; leader_[j] == j && k < (m + 1) * tokens_; ++k) {
                if (leader_[k] == k && distance(theta.data() + j * dim, theta.data() + k * dim, dim) <= tolerance) {
                    near.push_back({j, k});
                    unite(tried, j, k);
                }
            }
        }
    }
    if (near.empty() && !any_) {
        return false;
    }
    for (std::size_t row = 0; row < tried.size(); ++row) {
        tried[row] = root(tried, row);
    }
    Moved moved;
    move(tried, moved);
    if (part(t, tolerance, dim, moved)) {
        return true;
    }
    const std::size_t before = history_.size();
    std::vector<std::size_t> united = leader_;
    for (const auto& [j, k] : near) {
        const double gap = distance(theta.data() + j * dim, theta.data() + k * dim, dim);
        const double rate = moved.alone.rate[j] + moved.alone.rate[k];
        double approach = 0;
        for (std::size_t c = 0; c < dim; ++c) {
            approach +=
                (theta[k * dim + c] - theta[j * dim + c]) * (moved.shared[k * dim + c] - moved.shared[j * dim + c]);
        }
        if (h * rate >= jumped_over && approach <= noise * rate * gap) {
            unite(united, j, k);
        }
    }
    for (std::size_t m = 0; m < systems_; ++m) {
        for (std::size_t j = m * tokens_; j < (m + 1) * tokens_; ++j) {
            Fusing fusing{t, m, {}, false};
            bool grown = false;
            for (std::size_t k = j; united[j] == j && k < (m + 1) * tokens_; ++k) {
                if (root(united, k) == j) {
                    fusing.tokens.push_back(k - m * tokens_);
                    grown = grown || leader_[k] != j;  // of another group than j, the first of all
                }
            }
            if (grown) {
                history_.push_back(std::move(fusing));
            }
        }
    }
    for (std::size_t i = before; i < history_.size(); ++i) {
        apply(history_[i]);
    }
    return history_.size() > before;
}

// Tokens that their own velocity, less that of the group, would hold away from it.
bool Groups::part(double t, double tolerance, std::size_t dim, const Moved& moved) {
    bool parted = false;
    for (std::size_t row = 0; row < leader_.size(); ++row) {
        const double away = distance(moved.alone.turn.data() + row * dim, moved.shared.data() + row * dim, dim);
        const bool grouped = leader_[row] != row;
        if (grouped && away > parting * tolerance * moved.alone.rate[row]) {
            history_.push_back({t, row / tokens_, {row % tokens_}, true});
            apply(history_.back());
            parted = true;
        }
    }
    return parted;
}

void Groups::share_directions(Values& x, std::size_t dim) const {
    const auto length = [&](std::size_t row) { return measure::length(x.data() + row * dim, dim); };
    for (std::size_t row = 0; row < leader_.size(); ++row) {
        if (leader_[row] != row) {
            const double ratio = length(row) / length(leader_[row]);
            for (std::size_t c = 0; c < dim; ++c) {
                x[row * dim + c] = ratio * x[leader_[row] * dim + c];
            }
        }
    }
}

std::vector<double> packed(const std::vector<Fusing>& history) {
    std::vector<double> numbers;
    for (const Fusing& fusing : history) {
        numbers.insert(numbers.end(), {fusing.t, static_cast<double>(fusing.system), fusing.apart ? 1.0 : 0.0,
                                       static_cast<double>(fusing.tokens.size())});
        for (const std::size_t token : fusing.tokens) {
            numbers.push_back(static_cast<double>(token));
        }
    }
    return numbers;
}

std::vector<Fusing> unpacked_fusings(const std::vector<double>& numbers) {
    std::vector<Fusing> history;
    for (std::size_t at = 0; at + 4 <= numbers.size();) {
        Fusing fusing{numbers[at], static_cast<std::size_t>(numbers[at + 1]), {}, numbers[at + 2] != 0};
        const auto count = std::min(static_cast<std::size_t>(numbers[at + 3]), numbers.size() - at - 4);
        for (std::size_t i = 0; i < count; ++i) {
            fusing.tokens.push_back(static_cast<std::size_t>(numbers[at + 4 + i]));
        }
        at += 4 + count;
        history.push_back(std::move(fusing));
    }
    return history;
}

}  // namespace flyball::dynamics
