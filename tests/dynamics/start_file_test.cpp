// Starts from files: what each format says, numbers that others wrote, and files that nobody should trust.
#include "dynamics/start_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <tuple>

#include "at_most.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/safetensors.hpp"
#include "dynamics/checkpoint.hpp"
#include "dynamics/h5md_reader.hpp"
#include "dynamics/problem.hpp"
#include "dynamics/run.hpp"
#include "dynamics/start.hpp"
#include "dynamics/trajectory.hpp"
#include "scheme/catalogue.hpp"

namespace flyball::dynamics::start_file_test {
namespace {

class StartFiles : public testing::Test {
  protected:
    StartFiles() : folder_(std::filesystem::temp_directory_path() / ("flyball-start-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~StartFiles() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& name, const std::string& contents) const {
        write_file_atomically(path(name), contents);
        return path(name);
    }
    // Two systems of three tokens in two dimensions at four times; number k of sample i is 100 i + k + 1/3.
    std::string trajectory() const {
        Settings s;
        s.tokens = 3;
        s.dim = 2;
        s.systems = 2;
        const TrajectoryParts parts(folder_ / "parts", "sample-1", {});
        for (std::size_t i = 0; i < 4; ++i) {
            TrajectorySample sample{static_cast<double>(i), {}, std::vector<double>(12, -7.0)};
            for (std::size_t k = 0; k < 12; ++k) {
                sample.x.push_back(static_cast<double>(100 * i + k) + 1.0 / 3);
            }
            parts.save(i, sample);
        }
        write_h5md(path("t.h5"), parts, 4, s, "pre-ln", "x + dt*f(norm(x)) | norm(x)");
        return path("t.h5");
    }
    // The sentence with which a file is refused; nothing else may happen to it.
    static std::string refusal(const std::string& file, std::optional<std::size_t> frame = std::nullopt) {
        try {
            open_start_file(file, frame);
        } catch (const Error& error) {
            EXPECT_NE(exit_code(error.kind()), ExitCode::bug) << error.what();
            return error.what();
        }
        ADD_FAILURE() << file << " was taken";
        return "";
    }
    static void expect_refused(const std::string& file, const std::string& says) {
        const std::string sentence = refusal(file);
        EXPECT_NE(sentence.find(says), std::string::npos) << sentence;
    }

    std::filesystem::path folder_;
};

// A trajectory in the folder of its run: one bit of a number more would be another start that nobody would notice.
TEST_F(StartFiles, ATrajectoryThatIsNoLongerWhatItsRunWroteIsRefused) {
    const std::string file = trajectory();
    std::string bytes = read_regular_file(file, 1U << 20U);
    const std::string sum = record::checksum(std::string_view(bytes));
    write("provenance.json", R"({"files": {"other.h5": "0", "t.h5": ")" + sum + R"("}})");
    EXPECT_NO_THROW(open_start_file(file, std::nullopt));
    bytes[bytes.find(std::string(reinterpret_cast<const char*>(std::array<double, 1>{300 + 1.0 / 3}.data()), 8))] ^= 1;
    write("t.h5", bytes);
    EXPECT_NE(refusal(file).find("does not have its checksum"), std::string::npos) << refusal(file);
    // Not the list of a run, or of a run without such a file: nothing is known about it.
    for (const char* list : {"{}", "[1]", "no JSON", R"({"files": {"other.h5": "0"}})"}) {
        write("provenance.json", list);
        EXPECT_NO_THROW(open_start_file(file, std::nullopt)) << list;
    }
}

TEST_F(StartFiles, OfSafetensorsAreTheTensorXOrTheOnlyOne) {
    const std::vector<double> values = {1, 2, 3, 4, 5, 6};
    const std::vector<double> others = {9, 9};
    write_safetensors(path("only.safetensors"), std::vector{tensor("rows", {3, 2}, values)}, {});
    const auto only = open_start_file(path("only.safetensors"), std::nullopt);
    EXPECT_EQ(only->systems, 1U);
    EXPECT_EQ(only->tokens, 3U);
    EXPECT_EQ(only->dim, 2U);
    EXPECT_EQ(only->rows(), values);
    EXPECT_NEAR(only->mean_length, (std::sqrt(5.0) + 5 + std::sqrt(61.0)) / 3, 1e-15 * 5);
    write_safetensors(path("x.safetensors"), std::vector{tensor("a", {1, 2}, others), tensor("x", {3, 1, 2}, values)},
                      {});
    const auto named = open_start_file(path("x.safetensors"), std::nullopt);
    EXPECT_EQ(named->systems, 3U);
    EXPECT_EQ(named->tokens, 1U);
    EXPECT_EQ(named->dim, 2U);
    EXPECT_EQ(named->rows(), values);
    EXPECT_NEAR(named->mean_length, (std::sqrt(5.0) + 5 + std::sqrt(61.0)) / 3, 1e-15 * 5) << "of all systems";
    write_safetensors(path("none.safetensors"), std::vector{tensor("a", {1, 2}, others), tensor("b", {1, 2}, others)},
                      {});
    expect_refused(path("none.safetensors"), "2 tensors, none of which is called x");
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{6}, {1, 1, 3, 2}, {}}) {
        const std::vector<double> some(shape.empty() ? 1 : 6, 1.0);
        write_safetensors(path("shape.safetensors"), std::vector{tensor("x", shape, some)}, {});
        expect_refused(path("shape.safetensors"), "[tokens, dimensions]");
    }
    write_safetensors(path("empty.safetensors"), std::vector{tensor("x", {0, 2}, std::span<const double>())}, {});
    expect_refused(path("empty.safetensors"), "[tokens, dimensions]");
    const std::vector<std::int64_t> whole = {1, 2};
    write_safetensors(path("whole.safetensors"), std::vector{tensor("x", {1, 2}, whole)}, {});
    expect_refused(path("whole.safetensors"), "F64, F32, F16 or BF16");
}

// The patterns are those of the formats' definitions: 1.5 and -0.25 as F32, F16 and BF16, at an odd address.
TEST_F(StartFiles, OfSafetensorsHaveNumbersOfAnyFloatingType) {
    const auto file = [&](const std::string& dtype, const std::string& bytes) {
        std::string header = R"({"x":{"dtype":")" + dtype + R"(","shape":[1,2],"data_offsets":[0,)" +
                             std::to_string(bytes.size()) + "]}}";
        header.append(header.size() % 2 == 0 ? 1 : 2, ' ');
        const auto length = static_cast<std::uint64_t>(header.size());
        return write(dtype + ".safetensors", std::string(reinterpret_cast<const char*>(&length), 8) + header + bytes);
    };
    const std::vector<double> expected = {1.5, -0.25};
    const std::string f32("\x00\x00\xc0\x3f\x00\x00\x80\xbe", 8);
    const std::string f16("\x00\x3e\x00\xb4", 4);
    const std::string bf16("\xc0\x3f\x80\xbe", 4);
    EXPECT_EQ(open_start_file(file("F32", f32), std::nullopt)->rows(), expected);
    EXPECT_EQ(open_start_file(file("F16", f16), std::nullopt)->rows(), expected);
    EXPECT_EQ(open_start_file(file("BF16", bf16), std::nullopt)->rows(), expected);
}

TEST_F(StartFiles, OfTrajectoriesAreTheLastSampleOrTheOneAskedFor) {
    const std::string file = trajectory();
    for (const std::size_t frame : {0U, 2U, 3U}) {
        const auto found = open_start_file(file, frame == 3 ? std::nullopt : std::optional<std::size_t>(frame));
        EXPECT_EQ(found->systems, 2U);
        EXPECT_EQ(found->tokens, 3U);
        EXPECT_EQ(found->dim, 2U);
        const std::vector<double> rows = found->rows();
        ASSERT_EQ(rows.size(), 12U);
        for (std::size_t k = 0; k < 12; ++k) {
            EXPECT_EQ(rows[k], static_cast<double>(100 * frame + k) + 1.0 / 3);
        }
    }
    EXPECT_NE(refusal(file, 4).find("one of its 4 samples"), std::string::npos);
    EXPECT_NE(refusal(write("a.csv", "1,2\n"), 0).find("a trajectory"), std::string::npos);
}

// Every byte of a trajectory changed, in four ways, and the file cut anywhere: it is refused, or its rows have the
// shape that it says. (The numbers themselves carry no checksum.)
TEST_F(StartFiles, OfDamagedTrajectoriesAreRefusedOrWhole) {
    const std::string whole = read_text_file(trajectory(), 1 << 20);
    std::size_t taken = 0;
    std::size_t refused = 0;
    const auto look = [&](const std::string& contents) {
        try {
            const H5mdPositions found = read_h5md(std::as_bytes(std::span(contents)), "damaged.h5");
            EXPECT_EQ(found.values.size(), found.samples * found.rows * found.dim * found.number_size);
            EXPECT_EQ(found.rows % found.systems, 0U);
            ++taken;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
            ++refused;
        }
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        if (whole[at] == 0 && at % 16 != 0) {
            continue;  // most of the file is room for more names
        }
        for (const char value : {char{0}, char{1}, char{127}, static_cast<char>(-1)}) {
            std::string damaged = whole;
            damaged[at] = value;
            look(damaged);
        }
    }
    for (std::size_t at = 0; at + 8 <= whole.size(); at += 8) {  // an address that says nowhere
        std::string damaged = whole;
        damaged.replace(at, 8, 8, static_cast<char>(-1));
        look(damaged);
    }
    for (std::size_t size = 0; size < whole.size(); size += 61) {
        look(whole.substr(0, size));
    }
    EXPECT_GT(refused, 300U) << "nothing was tested";
    EXPECT_GT(taken, 300U) << "nothing was tested";
}

// What others write: numbers of four bytes in a group of another name, without parameters; and chunks or bytes in
// another order, which are refused.
TEST_F(StartFiles, OfTrajectoriesOfOthersAreReadInOnePieceOrRefused) {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    for (const auto& [chunked, turned] : {std::pair{false, false}, {true, false}, {false, true}}) {
        const hid_t file = H5Fcreate(path("other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t links = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(links, 1);
        const hsize_t shape[3] = {2, 2, 2};
        const hid_t space = H5Screate_simple(3, shape, nullptr);
        const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
        if (chunked) {
            H5Pset_chunk(how, 3, shape);
        }
        const hid_t set = H5Dcreate2(file, "/particles/atoms/position/value", turned ? H5T_IEEE_F32BE : H5T_IEEE_F32LE,
                                     space, links, how, H5P_DEFAULT);
        ASSERT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(set);
        H5Pclose(how);
        H5Sclose(space);
        H5Pclose(links);
        H5Fclose(file);
        if (chunked) {
            expect_refused(path("other.h5"), "not stored in one piece");
        } else if (turned) {
            expect_refused(path("other.h5"), "little-endian");
        } else {
            EXPECT_EQ(open_start_file(path("other.h5"), std::nullopt)->rows(), (std::vector<double>{5, 6, 7, 8}));
            EXPECT_EQ(open_start_file(path("other.h5"), 0)->rows(), (std::vector<double>{1, 2, 3, 4}));
            EXPECT_EQ(open_start_file(path("other.h5"), 0)->systems, 1U);
        }
    }
}

// "HDF5 File Format Specification", superblock: version 1 has four bytes more than version 0 before its addresses, two
// for the size of nodes of chunks, which a file has to say where it is not 32, and two that are zero. The base address
// is at 28 there and at 24 in version 0; anything but 0 is a file behind something else, whose addresses are not ours.
TEST_F(StartFiles, OfTrajectoriesWithEitherOldSuperblockAreReadFromBaseAddressZero) {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    for (const auto& [version, base] : {std::pair<char, std::size_t>{0, 24}, {1, 28}}) {
        const hid_t how = H5Pcreate(H5P_FILE_CREATE);
        if (version == 1) {
            H5Pset_istore_k(how, 64);
        }
        const hid_t file = H5Fcreate(path("block.h5").c_str(), H5F_ACC_TRUNC, how, H5P_DEFAULT);
        const hid_t links = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(links, 1);
        const hsize_t shape[3] = {2, 2, 2};
        const hid_t space = H5Screate_simple(3, shape, nullptr);
        const hid_t set = H5Dcreate2(file, "/particles/tokens/position/value", H5T_IEEE_F32LE, space, links,
                                     H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(set);
        H5Sclose(space);
        H5Pclose(links);
        H5Fclose(file);
        H5Pclose(how);
        const std::string whole = read_regular_file(path("block.h5"), 1U << 20U);
        ASSERT_EQ(whole[8], version) << "nothing is tested";
        EXPECT_EQ(open_start_file(path("block.h5"), std::nullopt)->rows(), (std::vector<double>{5, 6, 7, 8}));
        EXPECT_EQ(open_start_file(path("block.h5"), 0)->rows(), (std::vector<double>{1, 2, 3, 4}));
        for (std::size_t byte = 0; byte < 8; ++byte) {
            std::string moved = whole;
            moved[base + byte] = 2;
            try {
                read_h5md(std::as_bytes(std::span(moved)), "moved.h5");
                ADD_FAILURE() << "byte " << byte << " of the base address of version " << int{version};
            } catch (const Error& error) {
                EXPECT_NE(std::string(error.what()).find("a user block"), std::string::npos) << error.what();
            }
        }
    }
}

// "HDF5 File Format Specification", attribute message: version 3, which is that of names in UTF-8 such as h5py gives
// them, has a byte more before the name, and that byte is 1.
TEST_F(StartFiles, OfTrajectoriesSayTheirSystemsUnderANameInUtf8Too) {
    const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
    for (const bool utf8 : {false, true}) {
        const hid_t file = H5Fcreate(path("name.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t links = H5Pcreate(H5P_LINK_CREATE);
        H5Pset_create_intermediate_group(links, 1);
        const hsize_t shape[3] = {1, 4, 2};
        const hid_t space = H5Screate_simple(3, shape, nullptr);
        const hid_t set = H5Dcreate2(file, "/particles/tokens/position/value", H5T_IEEE_F32LE, space, links,
                                     H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        const hid_t group = H5Gcreate2(file, "parameters", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t how = H5Pcreate(H5P_ATTRIBUTE_CREATE);
        H5Pset_char_encoding(how, utf8 ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
        const hid_t one = H5Screate(H5S_SCALAR);
        const hid_t systems = H5Acreate2(group, "systems", H5T_STD_I64LE, one, how, H5P_DEFAULT);
        const long long two = 2;
        ASSERT_GE(H5Awrite(systems, H5T_NATIVE_LLONG, &two), 0);
        H5Aclose(systems);
        H5Sclose(one);
        H5Pclose(how);
        H5Gclose(group);
        H5Dclose(set);
        H5Sclose(space);
        H5Pclose(links);
        H5Fclose(file);
        const std::string whole = read_regular_file(path("name.h5"), 1U << 20U);
        const std::size_t name = whole.find(std::string("systems\0", 8));
        ASSERT_NE(name, std::string::npos);
        EXPECT_EQ(whole[name - 9] == 3 && whole[name - 1] == 1, utf8) << "nothing is tested";
        const auto found = open_start_file(path("name.h5"), std::nullopt);
        EXPECT_EQ(found->systems, 2U) << utf8;
        EXPECT_EQ(found->tokens, 2U) << utf8;
    }
}

TEST_F(StartFiles, OfTrajectoriesOfSeveralGroupsWithoutTokensAreRefused) {
    const hid_t file = H5Fcreate(path("two.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    const hsize_t shape[3] = {1, 2, 2};
    const hid_t space = H5Screate_simple(3, shape, nullptr);
    const std::vector<float> values = {1, 2, 3, 4};
    for (const char* name : {"/particles/atoms/position/value", "/particles/ions/position/value"}) {
        const hid_t set = H5Dcreate2(file, name, H5T_IEEE_F32LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
        H5Dclose(set);
    }
    H5Sclose(space);
    H5Pclose(links);
    H5Fclose(file);
    expect_refused(path("two.h5"), "2 groups in /particles, none of which is called tokens");
}

TEST_F(StartFiles, OfCsvAreOneRowAToken) {
    const std::vector<double> expected = {1, 2.5, -3e-7, 4};
    for (const char* text : {"1,2.5\n-3e-7,4\n", "1,2.5\n-3e-7,4", "x,y\n1,2.5\n-3e-7,4\n",
                             "\xef\xbb\xbf"
                             "1,2.5\r\n-3e-7,4\r\n\r\n",
                             " 1 , 2.5\n\t-3e-7,4  \n\n\n", "\"first, of two\",second\n\"1\",2.5\n-3e-7,\"4\"\n",
                             "+1,2.50\n-0.0000003,4."}) {
        const auto found = open_start_file(write("a.csv", text), std::nullopt);
        EXPECT_EQ(found->systems, 1U);
        EXPECT_EQ(found->tokens, 2U) << text;
        EXPECT_EQ(found->dim, 2U) << text;
        EXPECT_EQ(found->rows(), expected) << text;
    }
    for (const auto& [text, says] : {std::pair{"", "no numbers"},
                                     {"\n\n", "no numbers"},
                                     {"x,y\n", "no numbers"},
                                     {"1,2\n3\n", "1 numbers in line 2"},
                                     {"1,2\n3,x\n", "'x' in line 2"},
                                     {"1,nan\n", "'nan' in line 1"},
                                     {"nan,nan\n1,2\n", "'nan' in line 1"},
                                     {"inf,-inf\n1,2\n", "'inf' in line 1"},
                                     {"1,1e999\n", "'1e999'"},
                                     {"1 2\n3 4\n", "put commas"},
                                     {"1;2\n", "put commas"},
                                     {"1,,2\n", "'' in line 1"},
                                     {"1,2\n\n3,4\n", "'' in line 2"},
                                     {",0,1\n0,1,2\n", "''"},
                                     {"x,1\n1,2\n", "'x' in line 1"},
                                     {"1,2\n0,0\n", "zeros alone in row 2"},
                                     {"x,y\nu,v\n", "'u' in line 2"},
                                     {"0x10,1\n", "'0x10'"},
                                     {"\"1,2\n3,4\n", "'\"1,2' in line 1"},
                                     {"1e308,1e308\n1e308,1.7e308\n", "length is beyond"}}) {
        expect_refused(write("a.csv", text), says);
    }
    expect_refused(write("a.csv", std::string("1,2\n\0,3\n", 8)), "in line 2");
}

// What Excel, R and Python write where a number is missing is no name of a column: its row would be gone.
TEST_F(StartFiles, OfCsvWhoseFirstRowIsOfMissingNumbersAreRefused) {
    for (const std::string none : {"N/A", "#N/A", "None", "NA", "null", "NaN"}) {
        expect_refused(write("a.csv", none + "," + none + "\n1,2\n"), "in line 1");
    }
}

// Nor is a number beyond all numbers, which some programs spell out.
TEST_F(StartFiles, OfCsvWhoseFirstRowIsInfiniteAreRefused) {
    for (const std::string word : {"inf", "Infinity", "infinity", "INFINITY"}) {
        expect_refused(write("a.csv", word + "," + word + "\n1,2\n"), "'" + word + "' in line 1");
    }
}

// The first row says how many numbers a row has; a header does not.
TEST_F(StartFiles, OfCsvWithRowsOfTwoLengthsAreRefusedWithBothCounts) {
    for (const auto& [text, got, expected] :
         {std::tuple{"1,2\n3\n", "got 1 numbers in line 2 of ", "expected 2, as in the rows before"},
          {"1,2\n3,4\n5,6,7\n", "got 3 numbers in line 3 of ", "expected 2, as in the rows before"},
          {"x\n1,2,3\n4\n", "got 1 numbers in line 3 of ", "expected 3, as in the rows before"}}) {
        const std::string file = write("a.csv", text);
        expect_refused(file, got);
        expect_refused(file, expected);
    }
}

TEST_F(StartFiles, WithNumbersThatAreNoneAreRefused) {
    for (const double wrong : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        const std::vector<double> values = {1, 2, 3, wrong};
        write_safetensors(path("x.safetensors"), std::vector{tensor("x", {2, 2}, values)}, {});
        expect_refused(path("x.safetensors"), "in row 2");
    }
    const std::vector<double> zero = {1, 2, -0.0, 0};
    write_safetensors(path("x.safetensors"), std::vector{tensor("x", {2, 2}, zero)}, {});
    expect_refused(path("x.safetensors"), "zeros alone in row 2");
}

TEST_F(StartFiles, ThatAreNoRegularFilesAreRefusedAtOnce) {
    const flyball::test::AtMost limit(60);
    ASSERT_EQ(mkfifo(path("pipe.csv").c_str(), 0600), 0);
    expect_refused(path("pipe.csv"), "not a regular file");
    std::filesystem::create_directory(path("folder.h5"));
    expect_refused(path("folder.h5"), "a directory");
    expect_refused(path("missing.safetensors"), "missing.safetensors");
    expect_refused(write("empty.safetensors", ""), "empty.safetensors");
    expect_refused(write("empty.h5", ""), "no HDF5 file");
    expect_refused(write("text.h5", "1,2\n3,4\n"), "no HDF5 file");
    expect_refused(write("text.safetensors", "1,2\n3,4\n5,6\n"), "text.safetensors");
    std::filesystem::create_symlink("loop.csv", path("loop.csv"));
    expect_refused(path("loop.csv"), "loop.csv");
}

// A file of nothing but a header and a hole: refused for its shape, before anybody reads 32 GB of zeros.
TEST_F(StartFiles, ThatDoNotFitTheMemoryAreRefusedBeforeTheyAreRead) {
    const std::string header = R"({"x":{"dtype":"F64","shape":[1000000,4000],"data_offsets":[0,32000000000]}}   )";
    const auto length = static_cast<std::uint64_t>(header.size());
    const std::string file = write("big.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) + header);
    std::filesystem::resize_file(file, 8 + header.size() + 32000000000);
    try {
        open_start_file(file, std::nullopt, 1e9);
        ADD_FAILURE() << "it was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::resource) << error.what();
    }
}

Settings settings_of(const std::string& file, const StartSaid& said = {}) {
    Settings s;
    parse_start(file, s);
    use_start_file(open_start_file(file, std::nullopt), said, s);
    return s;
}

TEST_F(StartFiles, SayTokensDimensionsAndSystemsUnlessSettingsSayTheSame) {
    const std::string file = trajectory();
    const Settings s = settings_of(file);
    EXPECT_EQ(s.tokens, 3U);
    EXPECT_EQ(s.dim, 2U);
    EXPECT_EQ(s.systems, 2U);
    EXPECT_NO_THROW(check(s));
    const auto refused = [&](const std::function<void(Settings&)>& change, const std::string& says) {
        Settings other = s;
        change(other);
        try {
            check(other);
            ADD_FAILURE() << says;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    };
    refused([](Settings& o) { o.tokens = 6; }, "tokens = 6 with a start from");
    refused([](Settings& o) { o.dim = 3; }, "dim = 3 with a start from");
    refused([](Settings& o) { o.systems = 1; }, "systems = 1 with a start from");
    EXPECT_THROW(settings_of(file, {.r0 = true}), Error);
    Settings said;
    said.tokens = 5;
    use_start_file(s.started, {.tokens = true}, said);
    EXPECT_EQ(said.tokens, 5U) << "what was said is not replaced in silence";
}

// A run starts at the rows of the file, lengths included, and its first sample says so.
TEST_F(StartFiles, AreWhereARunStartsWithTheLengthsThatTheyHave) {
    Settings s = settings_of(write("a.csv", "3,4\n0,10\n"));
    s.time = 1;
    s.samples = 2;
    const Problem problem = problem_of(s, scheme::find_scheme("pre-ln").program);
    EXPECT_EQ(problem.start, (std::vector<double>{3, 4, 0, 10}));
    EXPECT_EQ(problem.r0, 7.5);
    const Sample first = run(s, scheme::find_scheme("pre-ln").program).samples.front();
    EXPECT_EQ(first.radius_min, 5);
    EXPECT_EQ(first.radius_max, 10);
    EXPECT_NEAR(first.cosine, 0.8, 1e-15);
    // Lengths far from 1 are no vanished radius.
    s = settings_of(write("small.csv", "3e-20,4e-20\n0,1e-19\n"));
    s.layers = 1;
    s.dt = 1e-21;
    EXPECT_EQ(run(s, scheme::find_scheme("pre-ln").program).outcome, Outcome::done);
}

// The file counts in the identity of a run with its contents, not only with its name.
TEST_F(StartFiles, CountInTheIdentityOfARun) {
    const scheme::Program program = scheme::find_scheme("post-ln").program;
    const record::Identity one = identity_of(settings_of(write("a.csv", "1,2\n3,4\n")), program);
    EXPECT_EQ(identity_of(settings_of(write("a.csv", "1,2\n3,4\n")), program), one);
    EXPECT_NE(identity_of(settings_of(write("a.csv", "1,2\n3,4.0000000001\n")), program), one);
    EXPECT_NE(identity_of(settings_of(write("b.csv", "1,2\n3,4\n")), program), one);
}

}  // namespace
}  // namespace flyball::dynamics::start_file_test
