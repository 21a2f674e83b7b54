// Heads, projections and systems around the head kernels.
#include "attention/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "attention/kernels.hpp"
#include "core/blas.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

namespace flyball::attention {

namespace {

// Up to this size one system is too small to be shared by threads: threads take whole systems instead.
constexpr std::size_t small_system = 512;
constexpr std::size_t most_system_slots = 32;
constexpr std::size_t rows_per_slot = 64;  // of projections
constexpr std::size_t most_row_slots = 32;

[[noreturn]] void refuse(const std::string& got, std::string_view expected) {
    throw Error(ErrorKind::usage, "attention.Attention", got, expected);
}

void check(const Shape& shape, const Settings& settings, std::size_t heads) {
    if (shape.systems == 0 || shape.tokens == 0 || shape.dim == 0) {
        refuse(fmt::format("{} systems of {} tokens in dimension {}", shape.systems, shape.tokens, shape.dim),
               "at least one of each");
    }
    constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double);
    if (shape.tokens > most / shape.dim || shape.systems > most / shape.dim / shape.tokens) {
        refuse(fmt::format("{} systems of {} tokens in dimension {}", shape.systems, shape.tokens, shape.dim),
               "sizes whose product fits the address space");
    }
    if (!settings.head_betas.empty() && settings.head_betas.size() != heads) {
        refuse(fmt::format("{} values of beta for {} heads", settings.head_betas.size(), heads),
               "one per head, or none");
    }
    const bool finite = std::all_of(settings.head_betas.begin(), settings.head_betas.end(),
                                    [](double beta) { return std::isfinite(beta); });
    if (!std::isfinite(settings.beta) || !finite) {
        refuse("a beta that is not finite", "finite numbers");
    }
}

template <class Real>
void check(const Weights<Real>& weights, std::size_t dim) {
    if (weights.heads == 0) {
        refuse("0 heads", "at least 1");
    }
    if (weights.identity()) {
        return;
    }
    if (weights.head.size() != weights.heads || weights.width == 0) {
        refuse(fmt::format("weights of {} heads of width {} where {} are announced", weights.head.size(), weights.width,
                           weights.heads),
               "one set of weights per head, and a width above 0");
    }
    const std::size_t size = weights.width * dim;
    for (const HeadWeights<Real>& head : weights.head) {
        if (!head.channels.empty() && head.channels.size() != weights.width) {
            refuse(fmt::format("{} factors of queries", head.channels.size()),
                   fmt::format("{}, one for each channel of a head", weights.width));
        }
        if (head.query.size() != size || head.key.size() != size || head.value.size() != size ||
            head.output.size() != size) {
            refuse(fmt::format("matrices of {}, {}, {} and {} numbers", head.query.size(), head.key.size(),
                               head.value.size(), head.output.size()),
                   fmt::format("{} each: width {} times dimension {}", size, weights.width, dim));
        }
    }
}

// out = in m' + keep out, by blocks of rows: in [rows, from], m [to, from], out [rows, to]. Row blocks depend on sizes
// alone, and each is one single-threaded product, so the bits do not depend on threads.
template <class Real>
void project(std::size_t rows, std::size_t from, std::size_t to, const Real* in, const Real* m, Real keep, Real* out) {
    const std::size_t slots = std::clamp<std::size_t>(rows / rows_per_slot, 1, most_row_slots);
    parallel_slots(rows, slots, [&](std::size_t, std::size_t begin, std::size_t end) {
        const BlasThreads one(1);
        gemm(Transpose::no, Transpose::yes, end - begin, to, from, Real{1}, in + begin * from, from, m, from, keep,
             out + begin * to, to);
    });
}

// Rows [n, width] by their own length, or by that of the whole projection where `squares` [n] has its sums of squares.
template <class Real>
void norm_rows(const ProjectionNorm& norm, std::size_t n, std::size_t width, const std::vector<double>& squares,
               Real* rows) {
    for (std::size_t j = 0; j < n; ++j) {
        Real* const row = rows + j * width;
        double sum = norm.all_heads ? squares[j] : 0;
        for (std::size_t c = 0; !norm.all_heads && c < width; ++c) {
            sum += static_cast<double>(row[c]) * static_cast<double>(row[c]);
        }
        const double length = std::sqrt(sum / norm.count + norm.eps);
        for (std::size_t c = 0; length > 0 && c < width; ++c) {
            row[c] = static_cast<Real>(static_cast<double>(row[c]) / length);
        }
    }
}

}  // namespace

template <class Real>
struct Attention<Real>::Body {
    Shape shape;
    Settings settings;
    Weights<Real> weights;
    std::string kernel;
    bool spread_systems = false;
    std::size_t systems_at_once = 1;
    bool evaluated = false;

    // What one system needs: as many as there are slots over systems, so that no two slots share one.
    struct Worker {
        std::unique_ptr<HeadKernel<Real>> kernel;
        std::vector<Real> query;  // [n, width]
        std::vector<Real> key;    // [n, width]
        std::vector<Real> value;  // [n, width]
        std::vector<Real> sums;   // [n, width]
        // [n] each of queries, keys, values: squares summed over all heads, where a norm asks for them
        std::array<std::vector<double>, 3> squares;
    };
    std::vector<Worker> workers;

    std::size_t numbers() const { return shape.tokens * shape.dim; }
    std::size_t groups() const { return (shape.systems + systems_at_once - 1) / systems_at_once; }
    double beta(std::size_t head) const {
        return settings.head_betas.empty() ? settings.beta : settings.head_betas[head];
    }
    // Systems [begin, end), one after the other or however the kernel likes it.
    void systems(Worker& worker, std::size_t begin, std::size_t end, const Real* z, Real* out) const {
        if (one_head()) {
            worker.kernel->run_systems(end - begin, beta(0), z + begin * numbers(), out + begin * numbers());
            return;
        }
        for (std::size_t s = begin; s < end; ++s) {
            one_system(worker, z + s * numbers(), out + s * numbers());
        }
    }

    // Identity heads of one beta are the same head several times over: their mean is one of them.
    bool one_head() const {
        return weights.identity() && (weights.heads == 1 || settings.head_betas.empty() ||
                                      std::all_of(settings.head_betas.begin(), settings.head_betas.end(),
                                                  [this](double b) { return b == settings.head_betas.front(); }));
    }

    void one_system(Worker& worker, const Real* z, Real* out) const {
        if (weights.identity()) {
            identity_heads(worker, z, out);
        } else {
            weighted_heads(worker, z, out);
        }
    }

    void identity_heads(Worker& worker, const Real* z, Real* out) const {
        const Real share = 1 / static_cast<Real>(weights.heads);
        std::fill_n(out, numbers(), Real{0});
        for (std::size_t h = 0; h < weights.heads; ++h) {
            worker.kernel->run(beta(h), z, z, z, worker.sums.data());
            for (std::size_t i = 0; i < numbers(); ++i) {
                out[i] += share * worker.sums[i];
            }
        }
    }

    static const std::vector<Real>& matrix(const HeadWeights<Real>& head, std::size_t part) {
        return part == 0 ? head.query : part == 1 ? head.key : head.value;
    }
    static std::vector<Real>& rows(Worker& worker, std::size_t part) {
        return part == 0 ? worker.query : part == 1 ? worker.key : worker.value;
    }

    // squares_j = sum over heads and channels of (W z_j)^2, which has to be known before the first head is normed.
    // Costs the projection twice, of models whose heads are normed together; keeping all heads would cost memory
    // instead.
    void sum_squares(Worker& worker, std::size_t part, const Real* z) const {
        std::vector<double>& squares = worker.squares[part];
        std::vector<Real>& room = rows(worker, part);
        squares.assign(shape.tokens, 0);
        for (const HeadWeights<Real>& head : weights.head) {
            project<Real>(shape.tokens, shape.dim, weights.width, z, matrix(head, part).data(), 0, room.data());
            for (std::size_t i = 0; i < room.size(); ++i) {
                squares[i / weights.width] += static_cast<double>(room[i]) * static_cast<double>(room[i]);
            }
        }
    }

    // out = sum_h O_h (head h), one head at a time in the same memory: project, norm, attend, project back and add.
    void weighted_heads(Worker& worker, const Real* z, Real* out) const {
        const std::size_t n = shape.tokens;
        const std::size_t width = weights.width;
        for (std::size_t part = 0; part < 3; ++part) {
            if (weights.norms[part].on && weights.norms[part].all_heads) {
                sum_squares(worker, part, z);
            }
        }
        for (std::size_t h = 0; h < weights.heads; ++h) {
            const HeadWeights<Real>& head = weights.head[h];
            for (std::size_t part = 0; part < 3; ++part) {
                Real* const to = rows(worker, part).data();
                project<Real>(n, shape.dim, width, z, matrix(head, part).data(), 0, to);
                if (weights.norms[part].on) {
                    norm_rows(weights.norms[part], n, width, worker.squares[part], to);
                }
            }
            for (std::size_t i = 0; !head.channels.empty() && i < n * width; ++i) {
                worker.query[i] *= head.channels[i % width];
            }
            worker.kernel->run(beta(h), worker.query.data(), worker.key.data(), worker.value.data(),
                               worker.sums.data());
            project<Real>(n, width, shape.dim, worker.sums.data(), head.output.data(), h == 0 ? Real{0} : Real{1}, out);
        }
    }
};

// Small systems are shared out whole, each slot with a kernel and memory of its own; a large one is worked on by all
// threads inside its kernel.
template <class Real>
Attention<Real>::Attention(Shape shape, Settings settings, Weights<Real> weights, std::string_view kernel)
    : body_(std::make_unique<Body>()) {
    check(weights, shape.dim);
    check(shape, settings, weights.heads);
    Body& body = *body_;
    body.shape = shape;
    body.settings = std::move(settings);
    body.weights = std::move(weights);
    HeadProblem problem;
    problem.tokens = shape.tokens;
    problem.identity = body.weights.identity();
    problem.width = problem.identity ? shape.dim : body.weights.width;
    problem.kind = body.settings.kind;
    problem.mask = body.settings.mask;
    problem.beta = 0;
    problem.systems = body.one_head() ? shape.systems : 1;
    for (std::size_t h = 0; h < body.weights.heads; ++h) {
        problem.beta = std::max(problem.beta, std::fabs(body.beta(h)));
    }
    const KernelEntry& entry = choose_kernel(problem, sizeof(Real) == sizeof(float), kernel);
    body.kernel = entry.name;
    body.spread_systems = shape.systems > 1 && shape.tokens <= small_system;
    body.systems_at_once = entry.systems_at_once;
    body.workers.resize(body.spread_systems ? std::min(body.groups(), most_system_slots) : 1);
    for (typename Body::Worker& worker : body.workers) {
        worker.kernel = entry.make<Real>()(problem);
        worker.kernel->system_numbers = problem.tokens * problem.width;
        const std::size_t size = problem.tokens * problem.width;
        if (!body.one_head()) {
            worker.sums.resize(size);
        }
        if (!problem.identity) {
            worker.query.resize(size);
            worker.key.resize(size);
            worker.value.resize(size);
        }
    }
}

template <class Real>
Attention<Real>::~Attention() = default;
template <class Real>
Attention<Real>::Attention(Attention&&) noexcept = default;
template <class Real>
Attention<Real>& Attention<Real>::operator=(Attention&&) noexcept = default;

template <class Real>
void Attention<Real>::operator()(const Real* z, Real* out) {
    Body& body = *body_;
    for (typename Body::Worker& worker : body.workers) {
        worker.kernel->fell_back = false;
    }
    if (body.spread_systems) {
        parallel_slots(body.groups(), body.workers.size(), [&](std::size_t slot, std::size_t begin, std::size_t end) {
            body.systems(body.workers[slot], begin * body.systems_at_once,
                         std::min(end * body.systems_at_once, body.shape.systems), z, out);
        });
    } else {
        body.systems(body.workers.front(), 0, body.shape.systems, z, out);
    }
    body.evaluated = true;
}

template <class Real>
void Attention<Real>::set_weights(Weights<Real> weights) {
    check(weights, body_->shape.dim);
    const Weights<Real>& before = body_->weights;
    if (weights.identity() != before.identity() || weights.heads != before.heads ||
        (!weights.identity() && weights.width != before.width)) {
        throw Error(ErrorKind::usage, "attention.set_weights",
                    fmt::format("{} heads of width {}", weights.heads, weights.width),
                    fmt::format("{} heads of width {}, as at the start", before.heads, before.width));
    }
    body_->weights = std::move(weights);
}

template <class Real>
const std::string& Attention<Real>::kernel() const {
    return body_->kernel;
}

template <class Real>
std::string_view Attention<Real>::path() const {
    return body_->evaluated ? body_->workers.front().kernel->path() : std::string_view();
}

template <class Real>
bool Attention<Real>::fell_back() const {
    return body_->evaluated && std::any_of(body_->workers.begin(), body_->workers.end(),
                                           [](const auto& worker) { return worker.kernel->fell_back; });
}

template <class Real>
std::size_t Attention<Real>::memory_bytes() const {
    std::size_t bytes = 0;
    for (const typename Body::Worker& worker : body_->workers) {
        bytes += worker.kernel->memory_bytes();
        bytes += (worker.query.size() + worker.key.size() + worker.value.size() + worker.sums.size()) * sizeof(Real);
    }
    for (const HeadWeights<Real>& head : body_->weights.head) {
        bytes += (head.query.size() + head.key.size() + head.value.size() + head.output.size()) * sizeof(Real);
    }
    return bytes;
}

template class Attention<double>;
template class Attention<float>;

}  // namespace flyball::attention
