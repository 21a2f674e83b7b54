// Every field of a sample from its definition in docs/simulate.md: plain loops over pairs and coordinates of the states
// that the run shows, which share no code with the program, and closed forms where a start has them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "definitions.hpp"
#include "dynamics/run.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::sample_test {
namespace {

using namespace test;

// One system of tokens at one time.
struct Snapshot {
    Rows x;
    Rows theta;
};

struct Seen {
    Sample sample;
    std::vector<Snapshot> systems;
};

struct Watched {
    std::vector<Seen> seen;
    Record record;
};

// Schemes that read out norm(x) or a unit x: theta is x/|x|.
Watched watched_run(const Settings& settings, const scheme::Program& program) {
    Watched result;
    Watch watch;
    watch.sampled = [&](const Sample& sample, const Particles& particles) {
        Seen seen{sample, std::vector<Snapshot>(settings.systems)};
        auto at = particles.x().begin();
        for (Snapshot& system : seen.systems) {
            for (std::size_t j = 0; j < settings.tokens; ++j) {
                const std::vector<double> x(at, at + static_cast<std::ptrdiff_t>(settings.dim));
                at += static_cast<std::ptrdiff_t>(settings.dim);
                system.x.push_back(x);
                system.theta.push_back(plus(std::vector<double>(x.size(), 0.0), 1 / length(x), x));
            }
        }
        result.seen.push_back(seen);
    };
    result.record = run(settings, program, watch);
    return result;
}

Watched watched_run(const Settings& settings, const std::string& scheme) {
    return watched_run(settings, scheme::find_scheme(scheme).program);
}

struct Defined {
    double value;
    double tolerance;
};

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// What a sample of these systems must hold: of all of them, or of a single one.
std::map<std::string, Defined> defined(const Settings& settings, const std::vector<Snapshot>& seen) {
    const auto systems = static_cast<double>(seen.size());
    std::vector<double> cosines;
    std::vector<double> radii;
    double variance = 0;
    double energy = 0;
    double rank = 0;
    double clusters = 0;
    double fraction = 0;
    for (const Snapshot& system : seen) {
        cosines.push_back(defined_cosine(system.theta));
        variance += defined_variance(system.theta) / systems;
        energy += defined_energy(system.theta, settings.beta) / systems;
        rank += defined_effective_rank(system.theta) / systems;
        clusters += defined_clusters(system.theta) / systems;
        fraction += defined_pair_fraction(system.theta, settings.pair_cosine) / systems;
        for (const auto& x : system.x) {
            radii.push_back(length(x));
        }
    }
    return {
        {"cosine", {mean(cosines), 1e-13}},
        {"one_minus_cosine", {1 - mean(cosines), 1e-13}},
        {"cosine_lo", {defined_quantile(cosines, 0.05), 1e-13}},
        {"cosine_hi", {defined_quantile(cosines, 0.95), 1e-13}},
        {"radius", {mean(radii), 1e-13 * mean(radii)}},
        {"radius_min", {*std::min_element(radii.begin(), radii.end()), 1e-14 * mean(radii)}},
        {"radius_max", {*std::max_element(radii.begin(), radii.end()), 1e-13 * mean(radii)}},
        {"variance", {variance, 1e-13}},
        {"energy", {energy, 1e-13}},
        // The program takes roots of eigenvalues: a singular value of zero is known to 1e-8 of the largest.
        {"effective_rank", {rank, 2e-6}},
        {"clusters", {clusters, 1e-14 * clusters}},
        {"pair_fraction", {fraction, 1e-14}},
    };
}

void expect_defined(const Settings& settings, const Sample& sample, const std::vector<Snapshot>& systems) {
    const std::map<std::string, Defined> expected = defined(settings, systems);
    for (const SampleField& field : sample_fields()) {
        const bool elsewhere = field.value == &Sample::t || field.value == &Sample::speed;  // tests of their own
        if (field.value == nullptr || elsewhere) {
            continue;
        }
        const auto wanted = expected.find(field.name);
        ASSERT_NE(wanted, expected.end()) << "compute " << field.name << " here, from its definition";
        EXPECT_NEAR(field(sample), wanted->second.value, wanted->second.tolerance) << field.name;
    }
}

void expect_definitions(const Settings& settings, const Watched& watched) {
    ASSERT_GE(watched.seen.size(), 2U);
    const std::vector<Sample>& each = watched.record.systems;
    ASSERT_EQ(each.size(), settings.systems == 1 ? 0 : watched.seen.size() * settings.systems);
    for (std::size_t i = 0; i < watched.seen.size(); ++i) {
        const Seen& seen = watched.seen[i];
        SCOPED_TRACE("t = " + std::to_string(seen.sample.t));
        expect_defined(settings, seen.sample, seen.systems);
        std::vector<double> speeds;
        for (std::size_t m = 0; m < settings.systems && settings.systems > 1; ++m) {
            SCOPED_TRACE("system " + std::to_string(m));
            const Sample& one = each[i * settings.systems + m];
            expect_defined(settings, one, {seen.systems[m]});
            EXPECT_EQ(one.t, seen.sample.t);
            speeds.push_back(one.speed);
        }
        if (settings.systems > 1) {
            EXPECT_NEAR(seen.sample.speed, mean(speeds), 1e-14 * mean(speeds));
        }
    }
}

Settings small(std::size_t tokens, std::size_t dim) {
    Settings s;
    s.tokens = tokens;
    s.dim = dim;
    s.beta = 2.5;
    s.systems = 3;
    s.seed = 7;
    s.time = 2;
    s.samples = 4;
    s.rtol = 1e-8;
    s.atol = 1e-10;
    return s;
}

TEST(SampleDefinitions, HoldForRandomTokensOnTheSphere) {
    for (const auto& [tokens, dim] : {std::pair{5, 3}, std::pair{4, 9}, std::pair{11, 2}, std::pair{2, 6}}) {
        SCOPED_TRACE(tokens);
        const Settings s = small(static_cast<std::size_t>(tokens), static_cast<std::size_t>(dim));
        expect_definitions(s, watched_run(s, "post-ln"));
    }
}

// A member of Sample that nobody computes is NaN, and this is where that is noticed.
TEST(SampleDefinitions, EveryFieldIsMeasuredInEverySample) {
    for (const bool layers : {false, true}) {
        Settings s = small(5, 3);
        s.start = StartKind::gaussian;
        if (layers) {
            s.layers = 3;
        }
        const Record record = run(s, scheme::find_scheme("pre-ln").program);
        ASSERT_GE(record.samples.size(), 3U);
        for (const Sample& sample : record.samples) {
            for (const SampleField& field : sample_fields()) {
                EXPECT_TRUE(std::isfinite(field(sample))) << field.name << " at t = " << sample.t;
            }
        }
    }
    for (const SampleField& field : sample_fields()) {
        EXPECT_TRUE(std::isnan(field(Sample{}))) << field.name << " of a sample that nobody measured";
    }
}

TEST(SampleDefinitions, HoldForLengthsThatDiffer) {
    Settings s = small(6, 4);
    s.start = StartKind::gaussian;
    const Watched watched = watched_run(s, "pre-ln");
    expect_definitions(s, watched);
    EXPECT_LT(watched.seen[0].sample.radius_min, 0.8 * watched.seen[0].sample.radius_max) << "nothing was tested";
}

TEST(SampleDefinitions, HoldForLayers) {
    Settings s = small(6, 4);
    s.layers = 8;
    s.dt = 0.3;
    s.systems = 5;
    s.start = StartKind::gaussian;
    expect_definitions(s, watched_run(s, "peri-ln"));
}

TEST(SampleDefinitions, CountClustersThatChainTogether) {
    Settings s = small(14, 3);
    s.start = StartKind::cone;
    s.cone_delta = 0.02;
    s.time = 1;
    const Watched watched = watched_run(s, "post-ln");
    expect_definitions(s, watched);
    EXPECT_GT(watched.seen[0].sample.clusters, 1) << "nothing was tested";
    EXPECT_LT(watched.seen[0].sample.clusters, 14) << "nothing was tested";
}

// The level is what the settings say, from a share of all pairs to nearly none.
TEST(SampleDefinitions, CountThePairsAboveTheLevelThatIsAskedFor) {
    double before = 2;
    for (const double level : {-0.5, 0.0, 0.9, 0.999}) {
        Settings s = small(14, 3);
        s.time = 1;
        s.pair_cosine = level;
        const Watched watched = watched_run(s, "post-ln");
        expect_definitions(s, watched);
        EXPECT_LT(watched.seen[0].sample.pair_fraction, before) << "nothing was tested";
        before = watched.seen[0].sample.pair_fraction;
    }
    Settings alone = small(1, 3);
    EXPECT_EQ(run(alone, scheme::find_scheme("post-ln").program).samples.front().pair_fraction, 1) << "as its cosine";
}

TEST(SampleDefinitions, NeitherClustersNorPairsAreCountedAbove65536Tokens) {
    for (const std::size_t tokens : {65536U, 65537U}) {
        Settings s = small(tokens, 2);
        s.systems = 1;
        s.layers = 1;
        s.samples = 2;
        const Sample first = run(s, scheme::find_scheme("post-ln").program).samples.front();
        EXPECT_EQ(std::isnan(first.clusters), tokens > 65536);
        EXPECT_EQ(std::isnan(first.pair_fraction), tokens > 65536);
        EXPECT_TRUE(std::isfinite(first.energy));
    }
}

// ---- speed: |P A|/s, with the s of the paper's table --------------------------------------------------------------

double defined_speed(const Snapshot& system, double beta, const std::string& scheme) {
    double sum = 0;
    for (std::size_t j = 0; j < system.theta.size(); ++j) {
        const std::vector<double>& theta = system.theta[j];
        std::vector<double> attention(theta.size(), 0.0);
        double weights = 0;
        for (const auto& other : system.theta) {
            const double weight = std::exp(beta * dot(theta, other));
            attention = plus(attention, weight, other);
            weights += weight;
        }
        attention = plus(std::vector<double>(theta.size(), 0.0), 1 / weights, attention);
        const double across = length(plus(attention, -dot(attention, theta), theta));
        const double radius = length(system.x[j]);
        const double s = scheme == "post-ln" ? 1 : scheme == "pre-ln" ? radius : radius * length(attention);
        sum += across / s / static_cast<double>(system.theta.size());
    }
    return sum;
}

TEST(SampleDefinitions, SpeedIsTheTurningPartOfAttentionOverTheSpeedFactor) {
    for (const std::string scheme : {"post-ln", "pre-ln", "peri-ln"}) {
        Settings s = small(7, 5);
        s.start = StartKind::gaussian;
        const Watched watched = watched_run(s, scheme);
        for (std::size_t i = 0; i < watched.seen.size(); ++i) {
            const Seen& seen = watched.seen[i];
            double expected = 0;
            for (std::size_t m = 0; m < s.systems; ++m) {
                const double speed = defined_speed(seen.systems[m], s.beta, scheme);
                EXPECT_NEAR(watched.record.systems[i * s.systems + m].speed, speed, 1e-12) << scheme << " system " << m;
                expected += speed / static_cast<double>(s.systems);
            }
            EXPECT_NEAR(seen.sample.speed, expected, 1e-12) << scheme << " t " << seen.sample.t;
        }
    }
}

// A readout that is not normalised moves outwards too; its direction turns as before.
TEST(SampleDefinitions, SpeedIsThatOfTheDirectionWhenTheReadoutHasALength) {
    Settings s = small(7, 5);
    s.start = StartKind::gaussian;
    for (const Seen& seen : watched_run(s, scheme::Program::parse("x + dt*f(norm(x))")).seen) {
        double expected = 0;
        for (const Snapshot& system : seen.systems) {
            expected += defined_speed(system, s.beta, "pre-ln") / static_cast<double>(s.systems);
        }
        EXPECT_NEAR(seen.sample.speed, expected, 1e-12) << " t " << seen.sample.t;
    }
}

TEST(SampleDefinitions, SpeedOfLayersIsHowFarTheLastOneTurnedATokenOverDt) {
    Settings s = small(5, 4);
    s.layers = 3;
    s.samples = 4;  // every layer is a sample
    s.dt = 0.25;
    s.start = StartKind::gaussian;
    const Watched watched = watched_run(s, "pre-ln");
    const std::vector<Seen>& seen = watched.seen;
    ASSERT_EQ(seen.size(), 4U);
    const auto turned_of = [&](const Seen& before, const Seen& after, std::size_t m) {
        double sum = 0;
        for (std::size_t j = 0; j < s.tokens; ++j) {
            sum += length(plus(after.systems[m].theta[j], -1, before.systems[m].theta[j]));
        }
        return sum / static_cast<double>(s.tokens) / s.step();
    };
    const auto turned = [&](const Seen& before, const Seen& after) {
        double sum = 0;
        for (std::size_t m = 0; m < s.systems; ++m) {
            sum += turned_of(before, after, m);
        }
        return sum / static_cast<double>(s.systems);
    };
    for (std::size_t m = 0; m < s.systems; ++m) {
        EXPECT_NEAR(watched.record.systems[m].speed, turned_of(seen[0], seen[1], m), 1e-13) << "the start of " << m;
        EXPECT_NEAR(watched.record.systems[3 * s.systems + m].speed, turned_of(seen[2], seen[3], m), 1e-13) << m;
    }
    EXPECT_NEAR(seen[0].sample.speed, turned(seen[0], seen[1]), 1e-13) << "at the start: the first layer";
    for (std::size_t l = 1; l < 4; ++l) {
        EXPECT_NEAR(seen[l].sample.speed, turned(seen[l - 1], seen[l]), 1e-13) << "layer " << l;
    }
}

// ---- closed forms of the symmetric start --------------------------------------------------------------------------

TEST(SampleDefinitions, AreTheClosedFormsOfOrthonormalTokens) {
    Settings s;
    s.tokens = 6;
    s.dim = 8;
    s.beta = 1.5;
    s.r0 = 2;
    s.start = StartKind::symmetric;
    s.time = 1;
    s.samples = 2;
    const Sample first = run(s, scheme::find_scheme("pre-ln").program).samples.front();
    EXPECT_NEAR(first.cosine, 0, 1e-15);
    EXPECT_NEAR(first.one_minus_cosine, 1, 1e-15);
    EXPECT_NEAR(first.cosine_lo, 0, 1e-15);
    EXPECT_NEAR(first.cosine_hi, 0, 1e-15);
    EXPECT_DOUBLE_EQ(first.radius, 2);
    EXPECT_DOUBLE_EQ(first.radius_min, 2);
    EXPECT_DOUBLE_EQ(first.radius_max, 2);
    EXPECT_NEAR(first.variance, 1 - 1.0 / 6, 1e-15);
    EXPECT_NEAR(first.energy, -(6 + 30 * std::exp(-1.5)) / 36, 1e-15);
    EXPECT_NEAR(first.effective_rank, 6, 1e-13);
    EXPECT_EQ(first.clusters, 6);
    EXPECT_EQ(first.pair_fraction, 0);
    EXPECT_NEAR(first.speed, std::sqrt(5.0) / (std::exp(1.5) + 5) / 2, 1e-15);
}

}  // namespace
}  // namespace flyball::dynamics::sample_test
