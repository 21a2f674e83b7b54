#include "core/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

#include "at_most.hpp"
#include "support.hpp"

namespace flyball {
namespace {

using test::TemporaryFolder;

std::string text_of(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsTheContents) {
    const TemporaryFolder folder;
    const MappedFile file(folder.put("a", std::string("hello\0world", 11)));
    EXPECT_EQ(text_of(file), std::string("hello\0world", 11));
}

TEST(NamesIn, AreThoseOfFilesAndFoldersAndNothingElse) {
    const TemporaryFolder folder;
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{});
    folder.put(".hidden", "");
    std::filesystem::create_directories(folder.path() / "inner/more");
    std::vector<std::string> names = names_in(folder.path());
    std::sort(names.begin(), names.end());
    EXPECT_EQ(names, (std::vector<std::string>{".hidden", "inner"}));
    EXPECT_THROW(names_in(folder.path() / "nowhere"), Error);
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
    const TemporaryFolder folder;
    EXPECT_TRUE(MappedFile(folder.put("a", "")).bytes().empty());
}

TEST(MappedFile, MovingKeepsTheBytesInPlace) {
    const TemporaryFolder folder;
    MappedFile first(folder.put("a", "abc"));
    const std::byte* const address = first.bytes().data();
    MappedFile second(std::move(first));
    EXPECT_EQ(second.bytes().data(), address);
    MappedFile third;
    third = std::move(second);
    EXPECT_EQ(text_of(third), "abc");
}

// Kilobytes of mapped files that are in memory for this process.
long mapped_kilobytes() {
    std::ifstream status("/proc/self/status");
    for (std::string key; status >> key;) {
        long kilobytes = 0;
        if (key == "RssFile:" && status >> kilobytes) {
            return kilobytes;
        }
    }
    return -1;
}

TEST(MappedFile, LetsGoOfPagesThatStayReadable) {
    const TemporaryFolder folder;
    std::string text(8U << 20U, 'a');
    for (std::size_t i = 0; i < text.size(); ++i) {
        text[i] = static_cast<char>('a' + i * i % 23);
    }
    const MappedFile file(folder.put("a", text));
    EXPECT_EQ(text_of(file), text);
    const long before = mapped_kilobytes();
    file.let_go(file.bytes().subspan(5000, 100));  // no whole page
    EXPECT_LT(std::labs(mapped_kilobytes() - before), 100);
    file.let_go(file.bytes().subspan(1, text.size() - 1));
    if (before >= 0 && !test::sanitized) {
        EXPECT_LT(mapped_kilobytes(), before - 7500);
    }
    EXPECT_EQ(text_of(file), text);
    MappedFile().let_go({});
}

TEST(MappedFile, RefusesWhatIsNotAReadableFile) {
    const flyball::test::AtMost limit(60);
    const TemporaryFolder folder;
    EXPECT_ERROR(MappedFile(folder.path() / "missing"), "No such file");
    EXPECT_ERROR(MappedFile(folder.path()), "a directory");
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_ERROR(MappedFile(pipe), "not a regular file");
    if (geteuid() != 0) {
        const auto locked = folder.put("locked", "x");
        ASSERT_EQ(chmod(locked.c_str(), 0), 0);
        EXPECT_ERROR(MappedFile(locked), "Permission denied");
    }
    EXPECT_EQ(test::error_of([&] { MappedFile(folder.path() / "missing"); }).kind, ErrorKind::io);
}

TEST(ReadTextFile, ReadsUpToTheLimit) {
    const TemporaryFolder folder;
    const auto path = folder.put("a", "12345");
    EXPECT_EQ(read_text_file(path, 5), "12345");
    EXPECT_EQ(read_text_file(path, 1000), "12345");
    EXPECT_ERROR(read_text_file(path, 4), "more than 4 bytes");
    EXPECT_EQ(read_text_file(folder.put("b", ""), 0), "");
    const std::string large(300'000, 'x');
    EXPECT_EQ(read_text_file(folder.put("c", large), 1'000'000), large);
}

TEST(ReadTextFile, ReadsPipes) {
    const flyball::test::AtMost limit(60);
    const TemporaryFolder folder;
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const std::string large(200'000, 'y');
    std::thread writer([&] { std::ofstream(pipe) << large; });
    EXPECT_EQ(read_text_file(pipe, 1'000'000), large);
    writer.join();
}

TEST(ReadTextFile, RefusesWhatCannotBeRead) {
    const TemporaryFolder folder;
    EXPECT_ERROR(read_text_file(folder.path() / "missing", 10), "missing");
    // A configuration or an equation may be a file of any kind, but what is a folder is called one.
    const auto caught = test::error_of([&] { read_text_file(folder.path(), 10); });
    EXPECT_EQ(caught.text,
              "[core.read_text_file] got '" + folder.path().string() + "' (Is a directory), expected a readable file.");
    EXPECT_EQ(caught.kind, ErrorKind::io);
    EXPECT_ERROR(read_text_file("/dev/zero", 100'000), "more than 100000 bytes");
}

TEST(ReadRegularFile, ReadsFilesAndRefusesWhatCouldBeWaitedFor) {
    const flyball::test::AtMost limit(60);
    const TemporaryFolder folder;
    const auto file = folder.put("a", "hello");
    EXPECT_EQ(read_regular_file(file, 5), "hello");
    EXPECT_ERROR(read_regular_file(file, 4), "more than 4 bytes");
    EXPECT_ERROR(read_regular_file(folder.path() / "none", 4), "No such file");
    EXPECT_ERROR(read_regular_file(folder.path(), 4), "a directory");
    EXPECT_ERROR(read_regular_file("/dev/zero", 4), "not a regular file");
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_ERROR(read_regular_file(pipe, 4), "not a regular file");
}

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

TEST(AtomicFile, IsWrittenAndReadInAnyOrder) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "a";
    AtomicFile file(path);
    file.write_at(6, bytes_of("xyz"));
    file.write_at(0, bytes_of("abc"));
    file.write_at(1, bytes_of("B"));
    std::string read(12, '?');
    file.read_at(0, std::as_writable_bytes(std::span(read)));
    EXPECT_EQ(read, std::string("aBc\0\0\0xyz\0\0\0", 12));  // holes and what lies beyond the end are zeros
    file.commit();
    EXPECT_EQ(text_of(MappedFile(path)), std::string("aBc\0\0\0xyz", 9));
}

// The system takes a part of what it is given, and the rest goes after it: here there is no room for the rest.
TEST(AtomicFile, AWriteThatIsTakenInPartsGoesOnWhereThePartEnded) {
    const TemporaryFolder folder;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    {
        AtomicFile file(folder.path() / "a");
        const rlimit small{10, before.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        EXPECT_ERROR(file.write_at(4, bytes_of("0123456789")), "File too large");
        EXPECT_ERROR(file.write("0123456789abc"), "File too large");
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
        std::string read(14, '?');
        file.read_at(0, std::as_writable_bytes(std::span(read)));
        EXPECT_EQ(read, std::string("0123456789\0\0\0\0", 14));
    }
    std::signal(SIGXFSZ, handler);
}

TEST(AtomicFile, WhatADeadWriterLeftIsRemovedAndNothingElse) {
    const TemporaryFolder folder;
    AtomicFile at_work(folder.path() / "a");
    at_work.write("new");
    folder.put(".a.1234-0.tmp", "left behind");
    folder.put(".b.1234-0.tmp", "left behind by another");
    folder.put(".a.tmp", "the user's");
    folder.put(".a.12x4-0.tmp", "the user's");
    folder.put("a.1234-0.tmp", "the user's");
    const auto exists = [&](const char* name) { return std::filesystem::exists(folder.path() / name); };
    remove_abandoned(folder.path(), "a");
    EXPECT_FALSE(exists(".a.1234-0.tmp"));
    EXPECT_TRUE(exists(".b.1234-0.tmp"));
    remove_abandoned(folder.path());
    EXPECT_FALSE(exists(".b.1234-0.tmp"));
    EXPECT_TRUE(exists(".a.tmp") && exists(".a.12x4-0.tmp") && exists("a.1234-0.tmp"));
    // Of a long name the first 200 letters are in the name of what is left of it.
    const std::string long_name(240, 'n');
    const std::string left = "." + long_name.substr(0, 200) + ".1234-0.tmp";
    folder.put(left, "left behind");
    remove_abandoned(folder.path(), long_name);
    EXPECT_FALSE(exists(left.c_str()));
    at_work.commit();  // its temporary file was in use and is still there
    EXPECT_EQ(text_of(MappedFile(folder.path() / "a")), "new");
}

TEST(AtomicFile, ReplacesOnlyOnCommit) {
    const TemporaryFolder folder;
    const auto path = folder.put("a", "old");
    {
        AtomicFile file(path);
        file.write("new");
        EXPECT_EQ(folder.get("a"), "old");
        EXPECT_EQ(folder.files(), 2U);
    }
    EXPECT_EQ(folder.get("a"), "old") << "without commit the old version stays";
    EXPECT_EQ(folder.files(), 1U) << "and nothing is left behind";
    {
        AtomicFile file(path);
        file.write("new ");
        file.write("text");
        file.commit();
    }
    EXPECT_EQ(folder.get("a"), "new text");
    EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, WritersOfTheSamePathDoNotMix) {
    const TemporaryFolder folder;
    AtomicFile first(folder.path() / "a");
    AtomicFile second(folder.path() / "a");
    first.write("first");
    second.write("second");
    second.commit();
    first.commit();
    EXPECT_EQ(folder.get("a"), "first");
}

TEST(AtomicFile, KeepsPermissionsAndFollowsLinks) {
    const TemporaryFolder folder;
    const auto path = folder.put("a", "old");
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    std::filesystem::create_symlink("a", folder.path() / "link");
    write_file_atomically(folder.path() / "link", "new");
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
    EXPECT_EQ(folder.get("a"), "new");
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST(AtomicFile, NewFilesHaveTheUsualPermissions) {
    const TemporaryFolder folder;
    const mode_t before = umask(022);
    write_file_atomically(folder.path() / "a", "x");
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat((folder.path() / "a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST(AtomicFile, RefusesWhatCannotBeAFile) {
    const TemporaryFolder folder;
    EXPECT_ERROR(write_file_atomically(folder.path(), "x"), "a directory");
    EXPECT_ERROR(write_file_atomically(folder.path() / "no" / "file", "x"), "No such file");
    EXPECT_ERROR(write_file_atomically(folder.put("a", "x") / "b", "x"), "Not a directory");
    EXPECT_ERROR(write_file_atomically("/dev/null", "x"), "not a regular file");
    EXPECT_ERROR(write_file_atomically("", "x"), "No such file");
    EXPECT_ERROR(write_file_atomically("/proc/flyball", "x"), "expected the path of a file in a writable folder");
    if (geteuid() != 0) {
        ASSERT_EQ(chmod(folder.path().c_str(), 0500), 0);
        EXPECT_ERROR(write_file_atomically(folder.path() / "c", "x"), "Permission denied");
        ASSERT_EQ(chmod(folder.path().c_str(), 0700), 0);
    }
}

TEST(IsThere, WhatTheSystemDoesNotSayIsAnErrorAndNotANo) {
    const TemporaryFolder folder;
    EXPECT_TRUE(is_there(folder.put("a", "x"), "test"));
    EXPECT_TRUE(is_there(folder.path(), "test"));
    EXPECT_FALSE(is_there(folder.path() / "b", "test"));
    EXPECT_FALSE(is_there(folder.path() / "a" / "b", "test"));
    std::filesystem::create_symlink("nowhere", folder.path() / "dead");
    EXPECT_FALSE(is_there(folder.path() / "dead", "test"));
    std::filesystem::create_symlink("circle", folder.path() / "circle");
    EXPECT_ERROR(is_there(folder.path() / "circle", "test"), "circle' (Too many levels of symbolic links)");
    if (geteuid() != 0) {
        const auto locked = folder.path() / "locked";
        std::filesystem::create_directory(locked);
        ASSERT_EQ(chmod(locked.c_str(), 0), 0);
        EXPECT_ERROR(is_there(locked / "a", "test"), "Permission denied");
        ASSERT_EQ(chmod(locked.c_str(), 0700), 0);
    }
}

TEST(IsNamed, ALinkThatLeadsNowhereIsANameOfTheFolder) {
    const TemporaryFolder folder;
    EXPECT_TRUE(is_named(folder.put("a", "x")));
    EXPECT_FALSE(is_named(folder.path() / "b"));
    EXPECT_FALSE(is_named(folder.path() / "a" / "b"));
    std::filesystem::create_symlink("nowhere", folder.path() / "dead");
    EXPECT_TRUE(is_named(folder.path() / "dead"));
    std::filesystem::create_symlink("circle", folder.path() / "circle");
    EXPECT_TRUE(is_named(folder.path() / "circle" / "a"));
}

// No room on the disk, in a user's share of it, or in a file that may not become longer: with other errors a free place
// would not help, and nobody is sent to look for one.
TEST(FileErrors, ThatAreAboutRoomSaySo) {
    const auto caught = [](int error) {
        return test::error_of([&] { throw_file_error("core.here", "a/b", error, "something else"); });
    };
    for (const int error : {ENOSPC, EDQUOT, EFBIG}) {
        EXPECT_EQ(caught(error).kind, ErrorKind::resource) << error;
        EXPECT_TRUE(caught(error).has("hint: free some space or choose another place")) << caught(error).text;
    }
    for (const int error : {EIO, EACCES, EROFS, ENAMETOOLONG}) {
        EXPECT_EQ(caught(error).kind, ErrorKind::io) << error;
        EXPECT_FALSE(caught(error).has("hint")) << caught(error).text;
    }
    EXPECT_EQ(caught(EACCES).text, "[core.here] got 'a/b' (Permission denied), expected something else.");
}

TEST(AtomicFile, InThePlaceOfAFolderOrAPipeIsRefusedByName) {
    const TemporaryFolder folder;
    const auto pipe = folder.path() / "pipe";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_ERROR(AtomicFile(folder.path()),
                 "', which is a directory, expected the path of a file in a writable folder");
    EXPECT_ERROR(AtomicFile(pipe), "pipe', which is not a regular file, expected the path of a file");
}

TEST(WriteAll, AFullDiskIsAShortageOfResources) {
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        GTEST_SKIP() << "no /dev/full here";
    }
    const std::string text = "x";
    const auto caught = test::error_of([&] { write_all(full, std::as_bytes(std::span(text)), "result.csv"); });
    close(full);
    EXPECT_EQ(caught.kind, ErrorKind::resource);
    EXPECT_TRUE(caught.has("'result.csv' (No space left on device)")) << caught.text;
    EXPECT_TRUE(caught.has("hint: free some space")) << caught.text;
}

}  // namespace
}  // namespace flyball
