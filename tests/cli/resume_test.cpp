// What a killed run left behind is taken up as it is or refused: never a mixture, never damage in a number.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "core/file.hpp"
#include "program.hpp"
#include "sanitized.hpp"

namespace flyball::cli::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
    return read_text_file(path, 1 << 26);
}

// A run of two schemes that was interrupted, and the same run to its end.
class Interrupted : public ::testing::Test {
  protected:
    Interrupted() : root_(fs::temp_directory_path() / ("flyball-resume-" + std::to_string(getpid()))) {
        fs::remove_all(root_);
        fs::create_directories(root_);
    }
    ~Interrupted() override { fs::remove_all(root_); }

    // Killed as soon as something is there to go on from.
    void make(const std::string& more = "", const std::string& sizes = "--tokens 400 --dim 3") {
        // Layers, so that a restart point is offered often; slow enough to be interrupted in the middle.
        const std::string layers = sanitized ? "600" : "6000";
        flags_ = "simulate --scheme post-ln --scheme peri-ln " + sizes + " --beta 3 --layers " + layers +
                 " --dt 0.01 --samples 13 --trajectory " + more;
        ASSERT_EQ(run_program(flags_ + " --out " + whole().string()).exit, 0);
        for (int tenths = 5; tenths < 200; tenths += 5) {
            fs::remove_all(killed());
            run_program(flags_ + " --out " + killed().string(),
                        "timeout --foreground -s INT " + std::to_string(0.1 * tenths));
            if (fs::exists(killed() / "work/restart-1.safetensors") &&
                fs::exists(killed() / "work/sample-1-00001.safetensors")) {
                break;
            }
        }
        ASSERT_TRUE(fs::exists(killed() / "work/restart-1.safetensors"));
        ASSERT_TRUE(fs::exists(killed() / "work/sample-1-00001.safetensors"));
        ASSERT_FALSE(fs::exists(killed() / "result.json"));
    }

    fs::path whole() const { return root_ / "whole"; }
    fs::path killed() const { return root_ / "killed"; }
    // A copy to damage.
    fs::path copy() const {
        fs::remove_all(root_ / "copy");
        fs::copy(killed(), root_ / "copy", fs::copy_options::recursive);
        return root_ / "copy";
    }
    static Outcome resume(const fs::path& folder, const std::string& before = "", const std::string& more = "") {
        return run_program(
            "simulate --config " + (folder / "config.toml").string() + " --resume --out " + folder.string() + more,
            before);
    }
    static void expect_refused(const Outcome& outcome, const std::string& says, const std::string& what) {
        EXPECT_EQ(outcome.exit, 2) << what << outcome.out << outcome.err;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << what << outcome.err;
        EXPECT_NE(outcome.err.find(says), std::string::npos) << what << ": " << outcome.err;
    }

    fs::path root_;
    std::string flags_;
};

TEST_F(Interrupted, RunsRefuseWhatIsDamagedOrExchangedAndGoOnWithWhatIsWhole) {
    make();
    // A bit in every file, at a few places each. (Every bit of such a file: tests/record/sealed_test.cpp.)
    for (const auto& entry : fs::recursive_directory_iterator(killed())) {
        if (!entry.is_regular_file()) {
            continue;
        }
        const std::string contents = bytes_of(entry.path());
        for (const double share : {0.31, 0.9999}) {
            std::string damaged = contents;
            const auto at = static_cast<std::size_t>(share * static_cast<double>(contents.size()));
            damaged[at] = static_cast<char>(damaged[at] ^ 4);
            const fs::path folder = copy();
            const fs::path file = folder / fs::relative(entry.path(), killed());
            write_file_atomically(file, damaged);
            const Outcome outcome = resume(folder);
            // A sample that was written after the last restart point is nobody's: it is computed again. samples-N.jsonl is a
            // copy for who watches the run, and made anew.
            const std::string name = file.filename().string();
            if (outcome.exit == 0 && (name.starts_with("sample-") || name.ends_with(".jsonl"))) {
                EXPECT_EQ(bytes_of(folder / "samples.csv"), bytes_of(whole() / "samples.csv")) << file;
                EXPECT_EQ(bytes_of(folder / "samples.safetensors"), bytes_of(whole() / "samples.safetensors")) << file;
                continue;
            }
            // Otherwise it is refused before any work: no result is half-written.
            EXPECT_EQ(outcome.exit, 2) << file << " at " << at << outcome.err;
            EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
            EXPECT_FALSE(fs::exists(folder / "result.json"));
        }
    }
    fs::path folder = copy();
    fs::rename(folder / "work/sample-1-00000.safetensors", folder / "work/swap");
    fs::rename(folder / "work/sample-1-00001.safetensors", folder / "work/sample-1-00000.safetensors");
    fs::rename(folder / "work/swap", folder / "work/sample-1-00001.safetensors");
    expect_refused(resume(folder), "sample", "swapped samples");

    folder = copy();
    std::string settings = bytes_of(folder / "config.toml");
    settings.replace(settings.find("seed = 1"), 8, "seed = 2");
    write_file_atomically(folder / "config.toml", settings);
    expect_refused(resume(folder), "seed = '1'", "edited seed");

    expect_refused(resume(copy(), "env FLYBALL_ISA=plain"), "instruction set", "another instruction set");
    expect_refused(resume(copy(), "", " --beta 4"), "other settings", "another beta");

    // And undamaged it ends with the same bytes, on another number of threads too.
    folder = copy();
    EXPECT_EQ(resume(folder, "", " --threads 1").exit, 0);
    for (const char* name : {"samples.csv", "samples.safetensors", "trajectory-1.h5", "trajectory-2.h5", "cosine.svg",
                             "sphere-post-ln-1.svg", "sphere-peri-ln-2.svg", "sphere-peri-ln-2.csv"}) {
        EXPECT_EQ(bytes_of(folder / name), bytes_of(whole() / name)) << name;
    }
    EXPECT_FALSE(fs::exists(folder / "work"));
    const Outcome again = resume(folder, "", " --json");
    EXPECT_EQ(again.exit, 0) << again.err;
    EXPECT_EQ(again.out, bytes_of(folder / "result.json")) << "a finished run is shown again, not run again";
}

TEST_F(Interrupted, RunsRefuseAnotherWeightFile) {
    const auto write_weights = [&](double value) {
        // Four tensors of [3, 3] with one value: a file made by hand.
        std::string header = R"({"key":{"dtype":"F64","shape":[3,3],"data_offsets":[0,72]},)"
                             R"("query":{"dtype":"F64","shape":[3,3],"data_offsets":[72,144]},)"
                             R"("value":{"dtype":"F64","shape":[3,3],"data_offsets":[144,216]}})";
        header.append((8 - header.size() % 8) % 8, ' ');
        const auto length = static_cast<std::uint64_t>(header.size());
        std::string file(reinterpret_cast<const char*>(&length), 8);
        file += header;
        for (int i = 0; i < 27; ++i) {
            const double entry = i % 4 == 0 ? value : 0.1;
            file.append(reinterpret_cast<const char*>(&entry), 8);
        }
        write_file_atomically(root_ / "w.safetensors", file);
    };
    write_weights(1);
    make("--weights " + (root_ / "w.safetensors").string());
    write_weights(1.0000001);
    expect_refused(resume(copy()), "checksum of the weight file", "another weight file");
}

// From the rows of a file, two systems of them: the same bytes with the same contents, values of every system included;
// another file of that name is another run, also for one that has ended.
TEST_F(Interrupted, RunsGoOnWithTheSameStartFileAlone) {
    const auto write_rows = [&](double value) {
        std::string header = R"({"x":{"dtype":"F64","shape":[2,300,3],"data_offsets":[0,14400]}})";
        header.append((8 - header.size() % 8) % 8, ' ');
        const auto length = static_cast<std::uint64_t>(header.size());
        std::string file(reinterpret_cast<const char*>(&length), 8);
        file += header;
        for (int i = 0; i < 1800; ++i) {
            const double entry = i == 1234 ? value : std::cos(1.7 * i);
            file.append(reinterpret_cast<const char*>(&entry), 8);
        }
        write_file_atomically(root_ / "rows.safetensors", file);
    };
    write_rows(1);
    make("--start " + (root_ / "rows.safetensors").string(), "--pair-cosine 0.9");
    const fs::path folder = copy();
    EXPECT_EQ(resume(folder).exit, 0);
    for (const char* name : {"samples.csv", "samples.safetensors", "trajectory-1.h5", "cosine.svg"}) {
        EXPECT_EQ(bytes_of(folder / name), bytes_of(whole() / name)) << name;
    }
    EXPECT_NE(bytes_of(folder / "samples.safetensors").find("0.post-ln.systems.pair_fraction"), std::string::npos);
    write_rows(1.0000001);
    expect_refused(resume(copy()), "checksum of the start file", "another start file");
    expect_refused(resume(whole()), "a finished run with other start file", "another start file");
}

// The blocks go on where they stopped, with the same bits; the same folder with other numbers in it is another run.
TEST_F(Interrupted, RunsGoOnWithTheSameModelAlone) {
    const fs::path model = root_ / "model";
    fs::copy(fs::path(flyball::test::source_folder) / "data/models/post-ln", model);
    make("--weights " + model.string(), "--tokens 40");
    const fs::path folder = copy();
    EXPECT_EQ(resume(folder).exit, 0);
    EXPECT_EQ(bytes_of(folder / "samples.csv"), bytes_of(whole() / "samples.csv"));
    std::fstream file(model / "model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x11');
    file.close();
    expect_refused(resume(copy()), "checksum of the model", "another model");
}

TEST(Resume, TakesUpRunsWithCountsOfAMillionAndMore) {
    const fs::path folder = fs::temp_directory_path() / ("flyball-million-" + std::to_string(getpid()));
    fs::remove_all(folder);
    const Outcome first = run_program(
        "simulate --scheme post-ln --tokens 4 --dim 2 --layers 1000000 --dt 1e-6 --samples 3 --out " + folder.string(),
        "timeout --foreground -s INT 0.3");
    EXPECT_NE(bytes_of(folder / "config.toml").find("layers = 1000000"), std::string::npos) << first.err;
    const Outcome again =
        run_program("simulate --config " + (folder / "config.toml").string() + " --resume --out " + folder.string());
    EXPECT_EQ(again.exit, 0) << again.err;
    fs::remove_all(folder);
}

TEST(Resume, OutWithoutANameIsRefused) {
    const Outcome outcome = run_program("simulate --scheme post-ln --time 1 --out ''");
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_NE(outcome.err.find("the name of a folder"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace flyball::cli::test
