// A model by folder or by its name in the local Hugging Face cache.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "model/builtin.hpp"
#include "model/locate.hpp"
#include "tokenizer/support.hpp"

namespace flyball::model::test::locate_test {
namespace {

using tokenizer::test::message_of;
using tokenizer::test::TemporaryFolder;

namespace fs = std::filesystem;

// Sets or unsets a variable and puts it back.
class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* const old = std::getenv(name)) {
            old_ = old;
        }
        value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
    }
    ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> old_;
};

class Locate : public testing::Test {
  protected:
    void put(const std::string& hub, const std::string& repository, const std::string& revision, bool main) const {
        const std::string base = hub + "/" + repository;
        folder_.write(base + "/snapshots/" + revision + "/config.json", "{}");
        if (main) {
            folder_.write(base + "/refs/main", revision);
        }
    }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

    TemporaryFolder folder_;
    Variable hub_{"HF_HUB_CACHE", ""};
    Variable older_hub_{"HUGGINGFACE_HUB_CACHE", ""};
    Variable home_{"HF_HOME", ""};
    Variable xdg_{"XDG_CACHE_HOME", ""};
};

TEST_F(Locate, AFolderIsItself) {
    EXPECT_EQ(locate(folder_.path().string()), folder_.path());
}

TEST_F(Locate, ARepositoryIsItsMainSnapshotInTheCache) {
    put("hub", "models--org--net", "abc123", true);
    put("hub", "models--org--net", "older", false);
    put("hub", "models--gpt2", "def", false);  // the only snapshot needs no refs/main
    const Variable hub("HF_HUB_CACHE", path("hub"));
    EXPECT_EQ(locate("org/net"), path("hub/models--org--net/snapshots/abc123"));
    EXPECT_EQ(locate("gpt2"), path("hub/models--gpt2/snapshots/def"));
    for (const char* const end : {"\n", "\r\n", " "}) {  // as an editor or a script leaves it
        folder_.write("hub/models--org--net/refs/main", std::string("abc123") + end);
        EXPECT_EQ(locate("org/net"), path("hub/models--org--net/snapshots/abc123"));
    }
}

TEST_F(Locate, TheFirstVariableThatIsSetNamesTheCache) {
    put("home/.cache/huggingface/hub", "models--a", "1", true);
    put("xdg/huggingface/hub", "models--a", "2", true);
    put("hf/hub", "models--a", "3", true);
    put("cache", "models--a", "4", true);
    const Variable user("HOME", path("home"));
    EXPECT_EQ(locate("a").filename(), "1");
    const Variable xdg("XDG_CACHE_HOME", path("xdg"));
    EXPECT_EQ(locate("a").filename(), "2");
    const Variable hf("HF_HOME", path("hf"));
    EXPECT_EQ(locate("a").filename(), "3");
    put("older", "models--a", "5", true);
    const Variable older("HUGGINGFACE_HUB_CACHE", path("older"));
    EXPECT_EQ(locate("a").filename(), "5");
    const Variable hub("HF_HUB_CACHE", path("cache"));
    EXPECT_EQ(locate("a").filename(), "4") << "the deprecated name comes after the new one";
}

TEST_F(Locate, WhatIsMissingIsNamed) {
    const Variable hub("HF_HUB_CACHE", path("hub"));
    const std::string absent = message_of([] { locate("org/net"); });
    EXPECT_NE(absent.find("the model 'org/net' (no such folder, and no '" + path("hub/models--org--net")),
              std::string::npos)
        << absent;
    EXPECT_NE(message_of([] { locate("no/such/folder"); }).find("(no such folder)"), std::string::npos);
    EXPECT_NE(message_of([] { locate(""); }), "");
    folder_.write("file", "x");
    EXPECT_NE(message_of([&] { locate(path("file")); }).find("the folder that it is in"), std::string::npos);
    put("hub", "models--two", "1", false);
    put("hub", "models--two", "2", false);
    EXPECT_NE(message_of([] { locate("two"); }).find("with 2 snapshots"), std::string::npos);
    try {
        locate("org/net");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
}

TEST_F(Locate, BuiltinModelsAreInTheFolderOfData) {
    const Variable data("FLYBALL_DATA", path("data"));
    EXPECT_TRUE(builtin_models().empty());
    const std::string none = message_of([] { locate("builtin:pre-ln"); });
    EXPECT_NE(none.find("the model 'builtin:pre-ln'"), std::string::npos) << none;
    EXPECT_NE(none.find("where there is none"), std::string::npos) << none;
    folder_.write("data/models/pre-ln/config.json", "{}");
    folder_.write("data/models/peri-ln/config.json", "{}");
    folder_.write("data/models/no-model/readme", "{}");
    folder_.write("data/config.json", "{}");
    EXPECT_EQ(builtin_models(), (std::vector<std::string>{"peri-ln", "pre-ln"}));
    EXPECT_EQ(locate("builtin:pre-ln"), path("data/models/pre-ln"));
    const std::string close = message_of([] { locate("builtin:preln"); });
    EXPECT_NE(close.find("one of peri-ln, pre-ln after builtin:"), std::string::npos) << close;
    EXPECT_NE(close.find("did you mean builtin:pre-ln?"), std::string::npos) << close;
    for (const char* const name : {"builtin:zzz", "builtin:", "builtin:..", "builtin:../models/pre-ln"}) {
        const std::string far = message_of([&] { locate(name); });
        EXPECT_NE(far.find("one of peri-ln, pre-ln"), std::string::npos) << far;
        EXPECT_EQ(far.find("did you mean"), std::string::npos) << far;
    }
}

TEST_F(Locate, NamesThatLeadElsewhereAreRefused) {
    const Variable hub("HF_HUB_CACHE", path("hub"));
    put("hub", "models--evil", "1", false);
    folder_.write("hub/models--evil/refs/main", "../../../other");
    folder_.write("other/config.json", "{}");
    EXPECT_NE(message_of([] { locate("evil"); }).find("has no snapshot"), std::string::npos);
    EXPECT_NE(message_of([] { locate("../x"); }).find("(no such folder)"), std::string::npos);
}

}  // namespace
}  // namespace flyball::model::test::locate_test
