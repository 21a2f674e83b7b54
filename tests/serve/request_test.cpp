// What becomes of a request, and which tags are known.
#include "serve/request.hpp"

#include <gtest/gtest.h>

namespace flyball::serve::test {
namespace {

Request reading(const std::string& host) {
    Request request;
    request.method = "GET";
    request.path = "/";
    request.hosts = {host};
    return request;
}

TEST(Requests, OfThisMachineAloneAreAnswered) {
    for (const char* host : {"127.0.0.1:7070", "localhost:7070", "LOCALHOST:7070", "[::1]:7070"}) {
        EXPECT_EQ(status_of(reading(host), true, 7070), 200) << host;
    }
    for (const char* host :
         {"evil.example:7070", "127.0.0.1", "127.0.0.1:7071", "127.0.0.1:70700", "localhost:7070.evil.example",
          "evil.localhost:7070", "127.0.0.1:7070@evil.example", "0.0.0.0:7070", "", ":7070", "127.0.0.1:07070"}) {
        EXPECT_EQ(status_of(reading(host), true, 7070), 421) << host;
    }
    EXPECT_EQ(status_of(reading("localhost"), true, 80), 200) << "browsers leave out the usual port";
}

TEST(Requests, WithNoHostOrTwoAreNoRequests) {
    Request request = reading("127.0.0.1:1");
    request.hosts.clear();
    EXPECT_EQ(status_of(request, true, 1), 400);
    request.hosts = {"127.0.0.1:1", "127.0.0.1:1"};
    EXPECT_EQ(status_of(request, true, 1), 400);
}

TEST(Requests, ThatWouldDoMoreThanReadAreRefused) {
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "GETS", ""}) {
        Request request = reading("127.0.0.1:1");
        request.method = method;
        EXPECT_EQ(status_of(request, true, 1), 405) << method;
    }
    Request request = reading("127.0.0.1:1");
    request.has_body = true;
    EXPECT_EQ(status_of(request, true, 1), 400);
}

TEST(Requests, OfWhatIsNotThereFindNothing) {
    EXPECT_EQ(status_of(reading("127.0.0.1:1"), false, 1), 404);
    Request request = reading("127.0.0.1:1");
    request.has_query = true;
    EXPECT_EQ(status_of(request, true, 1), 404);
}

// Whoever follows the sentence reaches this machine's page from another one.
TEST(Requests, ThatAreRefusedLearnWhatToDo) {
    EXPECT_EQ(sentence_of(421, 7071),
              "This page answers to http://127.0.0.1:7071/ and http://localhost:7071/ alone. To see it from another "
              "machine, forward the same port: ssh -L 7071:127.0.0.1:7071 HOST\n");
    EXPECT_EQ(sentence_of(404, 7071), "There is nothing here; the page is http://127.0.0.1:7071/\n");
    EXPECT_EQ(sentence_of(405, 7071), "This page can be read (GET, HEAD) and nothing else.\n");
}

// RFC 9110, 13.1.2: a list of tags, weak or not, or a star.
TEST(Tags, AreFoundInTheListOfABrowser) {
    EXPECT_TRUE(names_tag("\"abc\"", "abc"));
    EXPECT_TRUE(names_tag("W/\"abc\"", "abc"));
    EXPECT_TRUE(names_tag("\"x\" ,\t\"abc\"", "abc"));
    EXPECT_TRUE(names_tag("\"x\", \"abc\", \"y\"", "abc"));
    EXPECT_TRUE(names_tag("*", "abc"));
    for (const char* other : {"", "abc", "\"ab\"", "\"abcd\"", "\"xbc\"", "\"abc", "abc\"", ",", "\"\"", "W/", "\""}) {
        EXPECT_FALSE(names_tag(other, "abc")) << other;
    }
}

}  // namespace
}  // namespace flyball::serve::test
