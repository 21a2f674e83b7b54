// Files that are no run: one sentence each. And how rows and numbers are read.
#include "check/run_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "saved_runs.hpp"

namespace flyball::check::against_test {
namespace {

std::string refusal(const EditedRun& run) {
    try {
        run.read();
    } catch (const Error& error) {
        EXPECT_EQ(exit_code(error.kind()), ExitCode::bad_input);
        return error.what();
    }
    return "";
}

void expect_refused(const std::function<void(EditedRun&)>& edit, const std::string& part) {
    EditedRun run("pre-ln-f32");
    edit(run);
    const std::string said = refusal(run);
    EXPECT_NE(said.find(part), std::string::npos) << "expected '" << part << "' in: " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
}

TEST(RunFileErrors, EveryTensorIsNeeded) {
    for (const char* const name : {"embed", "readout", "blocks.0.attn.in", "blocks.1.attn.out", "blocks.2.ffn.in",
                                   "blocks.3.ffn.out", "blocks.3.resid"}) {
        expect_refused([&](EditedRun& run) { run.tensors.erase(name); }, std::string("no tensor ") + name);
    }
}

TEST(RunFileErrors, BlocksAreCountedWithoutGaps) {
    expect_refused(
        [](EditedRun& run) {
            std::erase_if(run.tensors, [](const auto& one) { return one.first.starts_with("blocks.1."); });
        },
        "blocks up to 3 and none numbered 1");
    expect_refused([](EditedRun& run) { run.rename("blocks.3.resid", "blocks.999999999999.resid"); },
                   "blocks.999999999999.resid");
    expect_refused([](EditedRun& run) { run.rename("blocks.3.resid", "blocks.x.resid"); }, "blocks.x.resid");
    expect_refused([](EditedRun& run) { run.rename("blocks.3.resid", "blocks.03.resid"); }, "blocks.03.resid");
    expect_refused([](EditedRun& run) { run.metadata["layers"] = "6"; }, "4 blocks, expected 6");
    expect_refused(
        [](EditedRun& run) {
            std::erase_if(run.tensors, [](const auto& one) { return one.first.starts_with("blocks."); });
        },
        "a file without tensors named blocks.0.attn.in");
}

TEST(RunFileErrors, ShapesAreThoseOfTheEmbedding) {
    const auto reshape = [](const char* name, std::vector<std::size_t> shape) {
        return [=](EditedRun& run) { run.tensors.at(name).shape = shape; };
    };
    expect_refused(reshape("blocks.1.attn.in", {12, 8}), "blocks.1.attn.in of shape [12, 8]");
    expect_refused(reshape("blocks.1.resid", {96}), "blocks.1.resid of shape [96]");
    expect_refused(reshape("embed", {96}), "embed of shape [96]");
    expect_refused([](EditedRun& run) { run.tensors.at("embed") = {{0, 12}, {}}; }, "embed of shape [0, 12]");
    expect_refused(
        [](EditedRun& run) {
            run.tensors.at("blocks.2.norms.1.gain") = {{11}, std::vector<float>(11, 1)};
        },
        "blocks.2.norms.1.gain of shape [11]");
    expect_refused([](EditedRun& run) { run.rename("blocks.2.norms.1.gain", "blocks.2.norms.7.gain"); },
                   "blocks.2.norms.7.gain");
}

TEST(RunFileErrors, ValuesAreFinite) {
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (const char* const name : {"embed", "blocks.2.attn.out", "readout", "blocks.0.norms.0.gain"}) {
            expect_refused([&](EditedRun& run) { run.at(name)[7] = value; },
                           std::string("a value that is not finite in ") + name + ", at 7");
        }
    }
}

TEST(RunFileErrors, MetadataSayWhatTheNormIs) {
    expect_refused([](EditedRun& run) { run.metadata.clear(); }, "a run without `norm` in its metadata");
    expect_refused([](EditedRun& run) { run.metadata["norm"] = "layernrm"; }, "did you mean layernorm?");
    expect_refused([](EditedRun& run) { run.metadata["eps"] = "small"; }, "eps = 'small'");
    expect_refused([](EditedRun& run) { run.metadata["eps"] = "-1"; }, "eps = '-1'");
    expect_refused([](EditedRun& run) { run.metadata["dt"] = "nan"; }, "dt = 'nan'");
    expect_refused([](EditedRun& run) { run.metadata["compute"] = "FP8"; }, "compute = 'FP8'");
}

TEST(RunFile, LeadingDimensionsAreRows) {
    EditedRun run("pre-ln-f32");
    for (auto& [name, one] : run.tensors) {
        if (one.shape.size() == 2) {
            one.shape = {2, 4, 12};
        }
    }
    const RunFile read = run.read();
    EXPECT_EQ(read.rows, 8U);
    EXPECT_EQ(read.tokens, 4U);
    EXPECT_EQ(read.dim, 12U);
    EXPECT_TRUE(run.judged("pre-ln").conforms);
}

TEST(RunFile, OfALargeFileSomeRowsAreRead) {
    const EditedRun run("pre-ln-f32");
    const RunFile read = run.read((2 + 5 * 4) * 12 * 4);  // room for four rows of eight
    EXPECT_EQ(read.file_rows, 8U);
    EXPECT_EQ(read.rows, 4U);
    const RunFile all = run.read();
    for (std::size_t i = 0; i < 4; ++i) {  // every second
        for (std::size_t k = 0; k < 12; ++k) {
            EXPECT_EQ(read.blocks[2].ffn_out.values[i * 12 + k], all.blocks[2].ffn_out.values[2 * i * 12 + k]);
        }
    }
    const Conformance result = conformance(scheme_named("pre-ln"), read);
    EXPECT_TRUE(result.conforms);
    EXPECT_NE(finding(result, "some-rows"), nullptr);
    EXPECT_EQ(fewer_rows(all, 3).rows, 3U);
    EXPECT_EQ(fewer_rows(all, 3).blocks[1].resid.values.size(), 36U);
    // Evenly over the whole file: of 8 rows 0, 8/3 and 16/3.
    const std::vector<double> three = fewer_rows(all, 3).blocks[1].resid.values;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t row = std::vector<std::size_t>{0, 2, 5}[i];
        for (std::size_t c = 0; c < 12; ++c) {
            EXPECT_EQ(three[i * 12 + c], all.blocks[1].resid.values[row * 12 + c]) << row;
        }
    }
}

// What is said of a run is said of some of its rows too.
TEST(RunFile, FewerRowsKeepEverySetting) {
    RunFile run = EditedRun("pre-ln-f32").read();
    run.file_rows = 77;
    run.tokens = 2;
    run.alpha = 3.5;
    run.eps = 0.25;
    run.dt = 0.75;
    run.compute = 0x1p-8;
    const RunFile less = fewer_rows(run, 3);
    EXPECT_EQ(less.file_rows, 77U);
    EXPECT_EQ(less.tokens, 2U);
    EXPECT_EQ(less.dim, run.dim);
    EXPECT_EQ(less.has_ffn, run.has_ffn);
    EXPECT_EQ(less.norm, run.norm);
    EXPECT_EQ(less.function, run.function);
    EXPECT_EQ(less.alpha, 3.5);
    EXPECT_EQ(less.eps, 0.25);
    EXPECT_EQ(less.dt, 0.75);
    EXPECT_EQ(less.compute, 0x1p-8);
    EXPECT_EQ(less.stored, run.stored);
}

TEST(RunFile, KnowsTheTypeThatNumbersWereComputedIn) {
    EXPECT_EQ(EditedRun("pre-ln-f32").read().blocks[0].resid.computed, 0x1p-24);
    const RunFile narrow = EditedRun("pre-ln-bf16").read();
    EXPECT_EQ(narrow.blocks[0].resid.stored, 0x1p-24);
    EXPECT_EQ(narrow.blocks[0].resid.computed, 0x1p-8);
    EXPECT_EQ(read_run(SafeTensors::open(golden_run("pre-ln-bf16"))).blocks[0].resid.stored, 0x1p-8);
    EXPECT_EQ(EditedRun("pre-ln-f16").read().blocks[0].resid.computed, 0x1p-11);
}

TEST(RunFile, UsualNumbersStandInForMetadataThatAreNotThere) {
    EditedRun run("pre-ln-f32");
    run.metadata = {{"norm", "layernorm"}};
    const RunFile read = run.read();
    EXPECT_EQ(read.eps, 1e-5);
    EXPECT_EQ(read.dt, 1);
    EXPECT_EQ(read.compute, 0);
    run.metadata["eps"] = "0";  // of a norm that divides by what it measures
    EXPECT_EQ(run.read().eps, 0);
    run.metadata["compute"] = "BF16";
    EXPECT_EQ(run.read().compute, 0x1p-8);
}

}  // namespace
}  // namespace flyball::check::against_test
