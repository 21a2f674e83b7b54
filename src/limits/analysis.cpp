// Passes of the model, blocks of scores as they come, and the sums of every head.
#include "limits/analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "core/blas.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "limits/head_sums.hpp"
#include "limits/over_heads.hpp"
#include "limits/vector_source.hpp"
#include "model/pass.hpp"

namespace flyball::limits {

namespace {

using View = model::TapView<float>;

std::size_t padded(std::size_t count) {
    return (count + 31) / 32 * 32;
}

// One text of one length through the model.
class PassAnalysis {
  public:
    PassAnalysis(const model::Model<float>& model, const model::Input& input, const Plan& plan, Vectors vectors,
                 const std::vector<Normaliser>& normalisers)
        : architecture_(model.architecture()),
          plan_(plan),
          normalisers_(normalisers),
          source_(model, input, vectors, plan.include_masked) {
        for (std::size_t layer = 0; layer < architecture_.layers; ++layer) {
            for (std::size_t head = 0; head < architecture_.heads; ++head) {
                for (const Normaliser& normaliser : normalisers) {
                    sums_.push_back(std::make_unique<HeadSums>(plan, normaliser));
                }
            }
        }
        for (std::size_t layer = 0; plan.is_longest && layer < architecture_.layers; ++layer) {
            std::vector<std::vector<double>>& directions = directions_[architecture_.window(layer)];
            for (std::size_t t = directions.size(); t < plan.tokens(); ++t) {
                directions.push_back(direction_of(plan.seed, t, keys_of(layer, t)));
            }
        }
        rows_done_.resize(architecture_.layers * architecture_.heads);
        coverage_.resize(normalisers.size());
    }

    void run(model::Pass<float>& pass, const model::Input& input, const Watch& watch) {
        model::Taps<float> taps;
        source_.listen(taps);
        taps.add("blocks.*.attn.scores", [&](const View& view) {
            check_stop();
            block(view);
            tell(view, watch);
        });
        taps.add("blocks.*.attn.out", [this](const View& view) { end_layer(view.layer); });
        model::forward(pass, input, taps);
        if (std::all_of(rows_done_.begin(), rows_done_.end(), [](std::size_t rows) { return rows == 0; })) {
            throw Error(ErrorKind::input, "limits.analyse", "a model whose blocks call no attention",
                        "a block that does", "the equation has to read f( ) or attn( )");
        }
    }

    HeadSums& sums(std::size_t layer, std::size_t head, std::size_t normaliser) {
        return *sums_[(layer * architecture_.heads + head) * normalisers_.size() + normaliser];
    }
    const std::vector<Coverage>& coverage(std::size_t normaliser) const { return coverage_[normaliser]; }

  private:
    // Work grows with the square of a row's keys.
    void tell(const View& view, const Watch& watch) {
        if (!watch.progress) {
            return;
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        for (std::size_t i = 0; i < view.rows; ++i) {
            const auto keys = static_cast<double>(keys_of(view.layer, view.first_row + i));
            work_ += keys * keys;
        }
        if (all_work_ == 0) {
            for (std::size_t layer = 0; layer < architecture_.layers; ++layer) {
                for (std::size_t t = 0; t < plan_.tokens(); ++t) {
                    const auto keys = static_cast<double>(keys_of(layer, t));
                    all_work_ += keys * keys * static_cast<double>(architecture_.heads);
                }
            }
        }
        watch.progress(work_ / all_work_);
    }
    std::size_t keys_of(std::size_t layer, std::size_t t) const {
        return seen_by(architecture_, layer, t, plan_.tokens()).count();
    }

    // Memory of a thread: weights of a block of rows and their products with the Gram matrix.
    struct BlockRoom {
        RowRoom row;
        std::vector<double> weights, along, logits;
    };

    // One block of rows of one head. <x_i, S> of all its rows is one product of their weights with the Gram matrix:
    // O(L^2) a row, as all keys that join a row are together.
    void block(const View& view) {
        std::size_t& done = rows_done_[view.layer * architecture_.heads + view.head];
        if (done != view.first_row) {
            throw Error(ErrorKind::input, "limits.analyse", "an equation that calls attention twice in a block",
                        "one call of attention a block");
        }
        done += view.rows;
        thread_local BlockRoom room;
        const Gram& gram = source_.gram(view.layer, view.head);
        const std::vector<Gram::Least>& least = source_.least(view.layer, view.head);
        for (std::size_t k = 0; k < normalisers_.size(); ++k) {
            weigh(view, normalisers_[k], room);
            const std::size_t stride = padded(view.columns);
            const BlasThreads one(1);
            gemm(Transpose::no, Transpose::no, view.rows, view.columns, view.columns, 1.0, room.weights.data(), stride,
                 gram.row(view.first_column) + view.first_column, gram.count(), 0.0, room.along.data(), stride);
            HeadSums& sums = this->sums(view.layer, view.head, k);
            for (std::size_t i = 0; i < view.rows; ++i) {
                add_row(view, i, gram, least, normalisers_[k], room, sums);
            }
        }
    }

    // Raw logits and weights of a block's rows; what the mask hides is 0 in both.
    void weigh(const View& view, const Normaliser& normaliser, BlockRoom& room) const {
        const std::size_t stride = padded(view.columns);
        const double own = 1 / architecture_.score_scale(view.layer);
        const double factor = 1 / normaliser.temperature(own);
        room.weights.assign(view.rows * stride, 0.0);
        room.logits.assign(view.rows * stride, 0.0);
        room.along.resize(view.rows * stride);
        thread_local std::vector<double> z;
        for (std::size_t i = 0; i < view.rows; ++i) {
            const Seen seen = seen_by(architecture_, view.layer, view.first_row + i, plan_.tokens());
            const std::size_t first = seen.begin - view.first_column;
            z.assign(padded(seen.count()), 0.0);
            bool finite = true;
            for (std::size_t j = 0; j < seen.count(); ++j) {
                const double raw = double{view.row(i)[first + j]} * own;
                room.logits[i * stride + first + j] = raw;
                z[j] = raw * factor;
                finite = finite && std::isfinite(raw);
            }
            if (finite) {
                normaliser.weigh(seen.count(), z.data(), room.row.sort);
            } else {
                z[0] = std::nan("");
            }
            std::copy_n(z.data(), seen.count(), room.weights.data() + i * stride + first);
        }
    }

    void add_row(const View& view, std::size_t i, const Gram& gram, const std::vector<Gram::Least>& least,
                 const Normaliser& normaliser, BlockRoom& room, HeadSums& sums) const {
        const std::size_t token = view.first_row + i;
        const Seen seen = seen_by(architecture_, view.layer, token, plan_.tokens());
        const std::size_t at = i * padded(view.columns) + seen.begin - view.first_column;
        if (!gram.is_finite() || std::isnan(room.weights[at])) {
            sums.leave_out(token);
            return;
        }
        RowOfHead row;
        row.token = token;
        row.seen = seen;
        row.gram = &gram;
        row.least = least[token];
        row.direction = plan_.is_longest ? directions_.at(architecture_.window(view.layer))[token].data() : nullptr;
        row.logits = room.logits.data() + at;
        row.weights = room.weights.data() + at;
        row.along = room.along.data() + at;
        row.temperature = normaliser.temperature(1 / architecture_.score_scale(view.layer));
        sums.add(row, room.row);
    }

    void end_layer(std::size_t layer) {
        for (std::size_t k = 0; plan_.is_longest && k < normalisers_.size(); ++k) {
            std::vector<HeadSums*> heads;
            for (std::size_t head = 0; head < architecture_.heads; ++head) {
                heads.push_back(&sums(layer, head, k));
            }
            std::vector<std::size_t> keys;
            for (std::size_t t = 0; t < plan_.tokens(); ++t) {
                keys.push_back(keys_of(layer, t));
            }
            Coverage coverage = coverage_of(heads, keys, plan_.tokens());
            coverage.layer = layer;
            coverage_[k].push_back(coverage);
        }
    }

    const model::Architecture& architecture_;
    const Plan& plan_;
    const std::vector<Normaliser>& normalisers_;
    VectorSource source_;
    std::vector<std::unique_ptr<HeadSums>> sums_;                         // [layer, head, normaliser]
    std::vector<std::size_t> rows_done_;                                  // [layer, head]
    std::map<std::size_t, std::vector<std::vector<double>>> directions_;  // by window: [token][keys]
    std::vector<std::vector<Coverage>> coverage_;
    std::mutex mutex_;
    double work_ = 0;
    double all_work_ = 0;
};

std::vector<std::size_t> sorted_once(std::vector<std::size_t> counts) {
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
}

Plan plan_of(const Settings& settings, std::vector<std::size_t> lengths, bool is_longest) {
    Plan plan;
    plan.lengths = std::move(lengths);
    plan.top = settings.top;
    plan.listed = settings.top;
    plan.listed.push_back(n_over_length);
    plan.listed = sorted_once(plan.listed);
    plan.separation = separation_counts(settings);
    plan.temperatures = temperature_grid();
    plan.steps = step_sizes();
    plan.include_masked = settings.include_masked;
    plan.is_longest = is_longest;
    plan.seed = settings.seed;
    return plan;
}

}  // namespace

std::vector<std::size_t> separation_counts(const Settings& settings) {
    std::vector<std::size_t> counts = settings.top;
    for (std::size_t n = 1; n <= 128; n *= 2) {
        counts.push_back(n);
    }
    counts.push_back(n_of_diagnosis);
    return sorted_once(counts);
}

Seen seen_by(const model::Architecture& a, std::size_t layer, std::size_t t, std::size_t tokens) {
    if (!a.causal) {
        return {0, tokens};
    }
    const std::size_t window = a.window(layer);
    return {window > 0 && t + 1 > window ? t + 1 - window : 0, t + 1};
}

double memory_estimate(const model::Architecture& a, std::size_t tokens, const Settings& settings) {
    const auto n = static_cast<double>(tokens);
    const double grams = settings.vectors == Vectors::value ? threads() : 1;
    const double gram = Gram::memory_bytes(tokens, settings.vectors == Vectors::value ? a.head_dim : a.dim);
    const double kinds = std::max<double>(1, static_cast<double>(settings.attention.size()));
    const double sums = static_cast<double>(a.layers * a.heads) * kinds * 60 * n;
    const double blocks = threads() * 128.0 * 3 * 8 * n;
    const double directions = 8 * n * n * (a.causal ? 0.5 : 1);
    return grams * gram + sums + blocks + directions + model::memory_estimate(a, tokens, model::Keep::nothing);
}

// Passes from the shortest to the longest; only the last gives separation, sensitivity and the measures of a head.
// Work, and with it progress, grows like the third power of a length: rows, keys, and keys that join.
std::vector<Result> analyse(const model::Model<float>& model, const model::Input& input, const Settings& settings,
                            const std::vector<std::size_t>& lengths, const Watch& watch) {
    const model::Architecture& a = model.architecture();
    const StopOn stop(watch.stop);
    std::vector<Normaliser> normalisers = settings.attention;
    if (normalisers.empty()) {
        normalisers.push_back(Normaliser::of(a.attention_kind));
    }
    const bool one_pass = a.causal && !settings.include_masked;
    std::vector<std::vector<std::size_t>> passes;
    if (one_pass) {
        passes.push_back(lengths);
    } else {
        for (const std::size_t length : lengths) {
            passes.push_back({length});
        }
    }
    double all = 0;
    double done = 0;
    for (const auto& pass : passes) {
        all += std::pow(static_cast<double>(pass.back()), 3);
    }
    std::vector<OverHeads> over(normalisers.size());
    for (const std::vector<std::size_t>& own : passes) {
        const Plan plan = plan_of(settings, own, &own == &passes.back());
        const model::Input first = input.first(own.back());
        PassAnalysis analysis(model, first, plan, settings.vectors, normalisers);
        model::Pass<float> pass(model, own.back());
        const double share = std::pow(static_cast<double>(own.back()), 3) / all;
        Watch part = watch;
        if (watch.progress) {
            part.progress = [&watch, done, share](double inside) { watch.progress(done + share * inside); };
        }
        analysis.run(pass, first, part);
        done += share;
        for (std::size_t k = 0; k < normalisers.size(); ++k) {
            for (std::size_t layer = 0; layer < a.layers; ++layer) {
                for (std::size_t head = 0; head < a.heads; ++head) {
                    over[k].add(layer, head, normalisers[k].temperature(1 / a.score_scale(layer)), plan,
                                analysis.sums(layer, head, k));
                }
            }
            over[k].end_pass(plan, settings.alpha, analysis.coverage(k));
        }
    }
    std::vector<Result> results;
    for (std::size_t k = 0; k < normalisers.size(); ++k) {
        results.push_back(over[k].result());
        results.back().attention = normalisers[k].name();
    }
    return results;
}

}  // namespace flyball::limits
