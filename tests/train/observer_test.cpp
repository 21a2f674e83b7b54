// The record of a layer against plain loops over what the taps show.
#include "train/observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "model/convert.hpp"
#include "model/family.hpp"
#include "model/initialise.hpp"
#include "scheme/own_equation.hpp"
#include "train/small.hpp"

namespace flyball::train {
namespace {

constexpr std::size_t sequences = 5;  // all of them are looked at: 5 * 6 * 2 rows
constexpr std::size_t tokens = 6;
constexpr std::size_t dim = 8;
constexpr std::size_t heads = 2;
using Kept = std::map<std::string, std::vector<double>>;

struct Seen {
    Kept rows;               // by name of the tap
    double entropy[2] = {};  // by layer: sums over rows and heads of all sequences
    double largest[2] = {-1e300, -1e300};
};

void keep(const char* tap, model::Taps<float>& taps, Kept& kept) {
    taps.add(tap, [&kept](const model::TapView<float>& view) {
        kept[view.name()].assign(view.data, view.data + view.rows * dim);
    });
}

class ObserverTest : public testing::Test {
  protected:
    explicit ObserverTest(const char* scheme = "peri-ln")
        : model_(model_of(scheme)), pass_(model_, {sequences, tokens}, model::Keep::everything) {
        for (std::size_t i = 0; i < sequences * tokens; ++i) {
            ids_.push_back(static_cast<std::int32_t>((i * i + 3 * i) % 7));
            targets_.push_back(static_cast<std::int32_t>((i * 5 + 1) % 7));
        }
    }
    static model::Model<float> model_of(const char* scheme) {
        Settings s = test::small_settings();
        s.context = tokens;
        s.init = "matrices=0.4,embedding=0.7";
        return initial_model(s, scheme::find_scheme(scheme), 7).model;
    }
    Seen look() {
        Seen seen;
        model::Taps<float> taps;
        for (const char* tap :
             {"embed", "blocks.*.resid", "blocks.*.attn.added", "blocks.*.ffn.added", "blocks.*.grad"}) {
            keep(tap, taps, seen.rows);
        }
        std::mutex mutex;
        taps.add("blocks.*.attn.pattern", [&](const model::TapView<float>& view) {
            const std::lock_guard lock(mutex);
            for (std::size_t i = 0; i < view.rows; ++i) {
                for (std::size_t k = 0; k < view.columns; ++k) {
                    const double p = static_cast<double>(view.row(i)[k]);
                    seen.entropy[view.layer] -= p > 0 ? p * std::log(p) : 0;
                }
            }
        });
        taps.add("blocks.*.attn.scores", [&](const model::TapView<float>& view) {
            const std::lock_guard lock(mutex);
            for (std::size_t i = 0; i < view.rows; ++i) {
                for (std::size_t k = 0; k < view.columns; ++k) {
                    seen.largest[view.layer] = std::max(seen.largest[view.layer], static_cast<double>(view.row(i)[k]));
                }
            }
        });
        model::Parameters<float> gradients(model_.layout());
        pass_.forward(ids_, taps);
        pass_.loss_and_backward(targets_, gradients, 0.25, taps);
        return seen;
    }

    model::Model<float> model_;
    model::Pass<float> pass_;
    std::vector<std::int32_t> ids_;
    std::vector<std::int32_t> targets_;
};

double mean_length(const std::vector<double>& rows) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); i += dim) {
        double square = 0;
        for (std::size_t k = 0; k < dim; ++k) {
            square += rows[i + k] * rows[i + k];
        }
        sum += std::sqrt(square);
    }
    return sum / static_cast<double>(rows.size() / dim);
}

double mean_angle(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); i += dim) {
        double dot = 0;
        double aa = 0;
        double bb = 0;
        for (std::size_t k = 0; k < dim; ++k) {
            dot += a[i + k] * b[i + k];
            aa += a[i + k] * a[i + k];
            bb += b[i + k] * b[i + k];
        }
        sum += std::acos(dot / std::sqrt(aa * bb));
    }
    return sum / static_cast<double>(a.size() / dim);
}

TEST_F(ObserverTest, RecordsWhatPlainLoopsFind) {
    const Seen seen = look();
    Observer observer(model_, {sequences, tokens});
    model::Parameters<float> gradients(model_.layout());
    pass_.forward(ids_, observer.taps());
    pass_.loss_and_backward(targets_, gradients, 0.25, observer.taps());
    std::vector<ParameterStep> steps(model_.layout().parameters.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i] = {1.0 + static_cast<double>(i), 4, 2};
    }
    std::vector<LayerRecord> records = observer.records(0.25);
    observer.add_matrices(steps, records);
    ASSERT_EQ(records.size(), 2U);
    std::vector<double> before = seen.rows.at("embed");
    EXPECT_NEAR(observer.embedding().norm, mean_length(before), 1e-6);
    for (std::size_t l = 0; l < 2; ++l) {
        const std::string block = "blocks." + std::to_string(l);
        const std::vector<double>& x = seen.rows.at(block + ".resid");
        const LayerRecord& record = records[l];
        EXPECT_NEAR(record.norm, mean_length(x), 1e-6);
        double sum = 0;
        for (const double value : x) {
            sum += std::fabs(value);
        }
        EXPECT_NEAR(record.mean_abs, sum / static_cast<double>(x.size()), 1e-7);
        EXPECT_NEAR(record.attention_norm, mean_length(seen.rows.at(block + ".attn.added")), 1e-6);
        EXPECT_NEAR(record.ffn_norm, mean_length(seen.rows.at(block + ".ffn.added")), 1e-6);
        EXPECT_NEAR(record.attention_ratio, record.attention_norm / mean_length(before), 1e-6);
        EXPECT_NEAR(record.ffn_ratio, record.ffn_norm / mean_length(before), 1e-6);
        EXPECT_NEAR(record.angle, mean_angle(before, x), 1e-6);
        EXPECT_NEAR(record.angle_ratio, record.angle / record.angle_predicted, 1e-12);
        double gradient = 0;
        for (const double value : seen.rows.at(block + ".grad")) {
            gradient += value * value;
        }
        EXPECT_NEAR(record.gradient, 4 * std::sqrt(gradient), 1e-6) << "of the loss, not of a quarter of it";
        EXPECT_NEAR(record.entropy, seen.entropy[l] / (sequences * tokens * heads), 1e-9);
        EXPECT_NEAR(record.largest_logit, seen.largest[l], 1e-12);
        ASSERT_EQ(record.matrices.size(), 4U);
        EXPECT_EQ(record.matrices[0].name, "qkv");
        EXPECT_EQ(record.matrices[3].name, "ffn_out");
        EXPECT_EQ(record.matrices[3].gradient, 1.0 + static_cast<double>(model_.layout().blocks[l].ffn_out.weight));
        EXPECT_EQ(record.matrices[3].update, 0.5);
        before = x;
    }
}

// Attention is added to x twice: what it adds is the sum of both.
TEST(Observer, AddsUpWhatASubLayerAddsInSeveralPlaces) {
    Settings s = test::small_settings();
    s.init = "matrices=0.4,embedding=0.7";
    const scheme::Scheme scheme = scheme::scheme_of_equation("norm(x + dt*f(x)) + dt*f(norm(x)) | norm(x)");
    const model::Model<float> model = initial_model(s, scheme, 4).model;
    const std::vector<std::int32_t> ids = {0, 1, 2, 3, 3, 1, 0, 2};
    model::Pass<float> pass(model, {1, 8}, model::Keep::everything);
    std::vector<std::vector<std::vector<double>>> added(2);  // by layer
    model::Taps<float> taps;
    taps.add("blocks.*.attn.added", [&](const model::TapView<float>& view) {
        added[view.layer].emplace_back(view.data, view.data + view.rows * dim);
    });
    pass.forward(ids, taps);
    Observer observer(model, {1, 8});
    pass.forward(ids, observer.taps());
    const std::vector<LayerRecord> records = observer.records(1);
    for (std::size_t l = 0; l < 2; ++l) {
        ASSERT_EQ(added[l].size(), 2U);
        std::vector<double> sum = added[l][0];
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += added[l][1][i];
        }
        EXPECT_GT(mean_length(added[l][0]), 0.1);
        EXPECT_NEAR(records[l].attention_norm, mean_length(sum), 1e-6);
    }
}

// Llama's names say what each matrix is.
TEST(Observer, NamesTheMatricesOfAModelThatHasThemApart) {
    Settings s = test::small_settings();
    s.ffn_kind = Ffn::swiglu;
    s.norm = "rmsnorm";
    const model::Model<float> fused = initial_model(s, scheme::find_scheme("pre-ln"), 4).model;
    const auto llama = std::find_if(model::families().begin(), model::families().end(),
                                    [](const model::Family& family) { return family.model_type == "llama"; });
    const model::Model<float> model = model::converted(fused, fused.architecture(), llama->names);
    const std::vector<model::ParameterSpec>& specs = model.layout().parameters;
    std::vector<ParameterStep> steps(specs.size());
    const std::map<std::string, std::string> names = {
        {"q_proj", "query"},       {"k_proj", "key"},     {"v_proj", "value"},      {"o_proj", "output"},
        {"gate_proj", "ffn_gate"}, {"up_proj", "ffn_up"}, {"down_proj", "ffn_out"},
    };
    std::map<std::string, double> expected;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        steps[i] = {static_cast<double>(i), 1, 1};
        for (const auto& [theirs, ours] : names) {
            if (specs[i].name.find("layers.1.") != std::string::npos &&
                specs[i].name.find(theirs + ".weight") != std::string::npos) {
                expected[ours] = static_cast<double>(i);
            }
        }
    }
    std::vector<LayerRecord> records(2);
    Observer(model, {1, 8}).add_matrices(steps, records);
    std::map<std::string, double> found;
    for (const MatrixRecord& matrix : records[1].matrices) {
        found[matrix.name] = matrix.gradient;
    }
    EXPECT_EQ(expected.size(), 7U);
    EXPECT_EQ(found, expected);
}

TEST_F(ObserverTest, FindsTheFirstLayerThatIsNotFinite) {
    Observer observer(model_, {sequences, tokens});
    pass_.forward(ids_, observer.taps());
    EXPECT_EQ(observer.first_not_finite(), 2U);
    model_.parameters()->at(model_.layout().blocks[1].ffn_in[0].weight)[3] = std::numeric_limits<float>::quiet_NaN();
    pass_.forward(ids_, observer.taps());
    EXPECT_EQ(observer.first_not_finite(), 1U);
}

}  // namespace
}  // namespace flyball::train
