// The server on a real port, used well and badly. In a file of its own so that ThreadSanitizer looks at it too.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "core/error.hpp"
#include "serve/request.hpp"
#include "serve/server.hpp"

namespace flyball::serve::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A server in a thread, until the end of the test.
class Running {
  public:
    explicit Running(Limits limits = {}, std::size_t body = 5)
        : server_(0,
                  {{"/", [body] { return content(body); }},
                   {"/fails", []() -> Content { throw std::runtime_error("a content that fails"); }}},
                  limits),
          thread_([this] {
              try {
                  server_.run(stop_);
              } catch (const std::runtime_error& error) {
                  failure_ = error.what();
              }
              over_ = true;
          }) {}
    ~Running() { end(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    void end() {
        stop_ = true;
        if (thread_.joinable()) {
            thread_.join();
        }
    }
    void signal(int number) { ::pthread_kill(thread_.native_handle(), number); }
    bool over() const { return over_; }
    std::uint16_t port() const { return server_.port(); }
    std::string address() const { return server_.address(); }
    const std::string& failure() const { return failure_; }  // after end()

  private:
    static Content content(std::size_t body) {
        return {"text/plain", std::make_shared<const std::string>(body, 'x'), "t1", "default-src 'self'"};
    }
    std::atomic<bool> stop_{false};
    std::atomic<bool> over_{false};
    std::string failure_;
    Server server_;
    std::thread thread_;
};

// Where some requests never end.
constexpr Limits soon_over = {.most_connections = 32, .request_seconds = 1, .answer_seconds = 10};

class Visitor {
  public:
    explicit Visitor(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in place = {};
        place.sin_family = AF_INET;
        place.sin_port = htons(port);
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
        timeval patience = {20, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    ~Visitor() { ::close(socket_); }
    Visitor(const Visitor&) = delete;
    Visitor& operator=(const Visitor&) = delete;

    bool connected() const { return connected_; }
    bool send(const std::string& text) const {
        return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    }
    void end_sending() const { ::shutdown(socket_, SHUT_WR); }
    // To the end of the connection.
    std::string rest() const {
        std::string all;
        char piece[4096];
        for (ssize_t size = 0; (size = ::recv(socket_, piece, sizeof piece, 0)) > 0;) {
            all.append(piece, static_cast<std::size_t>(size));
        }
        return all;
    }
    // One answer with its body, of which the connection goes on.
    std::string answer() const {
        std::string all;
        char piece[4096];
        for (;;) {
            const std::size_t head = all.find("\r\n\r\n");
            const std::size_t length = all.find("Content-Length: ");
            if (head != std::string::npos) {
                const std::size_t body = length < head ? std::stoul(all.substr(length + 16)) : 0;
                if (all.size() >= head + 4 + body) {
                    return all;
                }
            }
            const ssize_t size = ::recv(socket_, piece, sizeof piece, 0);
            if (size <= 0) {
                return all;
            }
            all.append(piece, static_cast<std::size_t>(size));
        }
    }

  private:
    int socket_;
    bool connected_ = false;
};

std::string get(std::uint16_t port, const std::string& path = "/", const std::string& more = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" + more + "\r\n";
}

std::string status(const std::string& answer) {
    return answer.substr(0, answer.find('\r'));
}

// Sends this and nothing more; the status line of what comes back.
std::string status_of_text(std::uint16_t port, const std::string& text) {
    const Visitor visitor(port);
    visitor.send(text);
    visitor.end_sending();
    return status(visitor.rest());
}

TEST(Server, AnswersWithItsContentAndSaysWhatMayBeDoneWithIt) {
    const Running server;
    const Visitor visitor(server.port());
    visitor.send(get(server.port()));
    const std::string answer = visitor.answer();
    EXPECT_EQ(status(answer), "HTTP/1.1 200 OK");
    EXPECT_EQ(answer.substr(answer.size() - 9), "\r\n\r\nxxxxx");
    EXPECT_EQ(server.address(), "http://127.0.0.1:" + std::to_string(server.port()) + "/");
    for (const char* line : {"Content-Type: text/plain\r\n", "ETag: \"t1\"\r\n", "Cache-Control: no-store\r\n",
                             "X-Content-Type-Options: nosniff\r\n", "Cross-Origin-Resource-Policy: same-origin\r\n",
                             "Content-Security-Policy: default-src 'self'; frame-ancestors 'none'\r\n"}) {
        EXPECT_NE(answer.find(line), std::string::npos) << line;
    }
    EXPECT_EQ(answer.find("Access-Control"), std::string::npos) << "no other origin may read it";
    visitor.send(get(server.port()));
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 200 OK") << "a connection is used again";
}

// RFC 9110, 5.1: names of fields are the same in any case; some programs send small letters.
TEST(Server, KnowsFieldsInSmallLetters) {
    const Running server;
    const Visitor visitor(server.port());
    visitor.send("GET / HTTP/1.1\r\nhost: 127.0.0.1:" + std::to_string(server.port()) +
                 "\r\nif-none-match: \"t1\"\r\n\r\n");
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 304 Not Modified");
}

TEST(Server, SendsNothingTwice) {
    const Running server;
    const Visitor visitor(server.port());
    visitor.send(get(server.port(), "/", "If-None-Match: \"t1\"\r\n"));
    const std::string answer = visitor.answer();
    EXPECT_EQ(status(answer), "HTTP/1.1 304 Not Modified");
    EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n") << "no body";
    EXPECT_NE(answer.find("ETag: \"t1\"\r\n"), std::string::npos) << "RFC 9110, 15.4.5: as in the answer 200";
    visitor.send(get(server.port(), "/", "If-None-Match: \"t2\"\r\n"));
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 200 OK");
    // RFC 9110, 5.3: lines of one name are one list.
    visitor.send(get(server.port(), "/", "If-None-Match: \"t1\"\r\nIf-None-Match: \"t2\"\r\n"));
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 304 Not Modified");
}

TEST(Server, ABodyOfNoBytesIsNone) {
    const Running server;
    const Visitor visitor(server.port());
    visitor.send(get(server.port(), "/", "Content-Length: 0\r\n"));
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 200 OK");
}

// RFC 9110, 15.5.6: a refused method comes with those that are not.
TEST(Server, SaysWhichMethodsItHas) {
    const Running server;
    const Visitor visitor(server.port());
    visitor.send("DELETE / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n\r\n");
    EXPECT_NE(visitor.answer().find("\r\nAllow: GET, HEAD\r\n"), std::string::npos);
}

TEST(Server, HeadHasNoBody) {
    const Running server;
    const Visitor visitor(server.port());
    visitor.send("HEAD / HTTP/1.1\r\nHost: localhost:" + std::to_string(server.port()) +
                 "\r\nConnection: close\r\n\r\n");
    const std::string answer = visitor.rest();
    EXPECT_EQ(status(answer), "HTTP/1.1 200 OK");
    EXPECT_NE(answer.find("Content-Length: 5\r\n"), std::string::npos);
    EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST(Server, RefusesWhatIsNoRequestForItsPaths) {
    const Running server(soon_over);
    const std::uint16_t port = server.port();
    const std::string host = "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
    for (const char* path : {"/nothing", "/../etc/passwd", "//", "/%2e", "/%2F", "%2F", "/?", "/?a=b", "/./",
                             "http://127.0.0.1/", "*", "/document.json"}) {
        const std::string answer = status_of_text(port, get(port, path));
        // "/?" has an empty query: nothing is behind the mark.
        EXPECT_TRUE(answer == "HTTP/1.1 404 Not Found" || std::string(path) == "/?") << path << ": " << answer;
    }
    for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"}) {
        EXPECT_EQ(status_of_text(port, std::string(method) + " / HTTP/1.1\r\n" + host + "\r\n"),
                  "HTTP/1.1 405 Method Not Allowed")
            << method;
    }
    EXPECT_EQ(status_of_text(port, "POST / HTTP/1.1\r\n" + host + "Content-Length: 1000000000\r\n\r\nabc"),
              "HTTP/1.1 405 Method Not Allowed")
        << "without waiting for the body";
    EXPECT_EQ(status_of_text(port, get(port, "/", "Content-Length: 3\r\n") + "abc"), "HTTP/1.1 400 Bad Request");
    EXPECT_EQ(status_of_text(port, get(port, "/", "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\r\n"),
              "HTTP/1.1 400 Bad Request");
    EXPECT_EQ(status_of_text(port, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), "HTTP/1.1 421 Misdirected Request");
    EXPECT_EQ(status_of_text(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n"), "HTTP/1.1 421 Misdirected Request");
    EXPECT_EQ(status_of_text(port, "GET / HTTP/1.1\r\n" + host + host + "\r\n"), "HTTP/1.1 400 Bad Request");
    EXPECT_EQ(status_of_text(port, "GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    EXPECT_EQ(status_of_text(port, "GET / HTTP/1.0\r\n\r\n").substr(8), " 400 Bad Request");
}

// A refusal is a sentence and no page, in which no browser is to look for markup. It may load nothing, is kept by
// nobody, and has no tag by which a browser would ask for it again.
TEST(Server, RefusalsArePlainTextThatMayDoNothing) {
    const Running server;
    const std::uint16_t port = server.port();
    const std::string own = "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
    for (const auto& [request, number] : {std::pair("GET /nothing HTTP/1.1\r\n" + own, 404),
                                          {"PUT / HTTP/1.1\r\n" + own, 405},
                                          {"GET / HTTP/1.1\r\nHost: evil.example\r\n", 421},
                                          {"GET / HTTP/1.1\r\n" + own + own, 400}}) {
        const Visitor visitor(port);
        visitor.send(request + "\r\n");
        const std::string answer = visitor.answer();
        EXPECT_EQ(answer.substr(0, 13), "HTTP/1.1 " + std::to_string(number) + " ");
        for (const char* line :
             {"\r\nContent-Type: text/plain; charset=utf-8\r\n", "\r\nX-Content-Type-Options: nosniff\r\n",
              "\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n",
              "\r\nCache-Control: no-store\r\n", "\r\nReferrer-Policy: no-referrer\r\n"}) {
            EXPECT_NE(answer.find(line), std::string::npos) << number << line << answer;
        }
        EXPECT_EQ(answer.find("ETag"), std::string::npos) << number;
        EXPECT_EQ(answer.find("Allow: ") != std::string::npos, number == 405);
        const std::size_t head = answer.find("\r\n\r\n");
        ASSERT_NE(head, std::string::npos) << answer;
        EXPECT_EQ(answer.substr(head + 4), sentence_of(number, port));
    }
}

// A window that changes its size, a process that was stopped and goes on: a signal interrupts the wait for the next
// request, and that is all.
TEST(Server, ASignalDoesNotEndIt) {
    struct sigaction quiet = {};
    quiet.sa_handler = [](int) {};
    struct sigaction before = {};
    ASSERT_EQ(::sigaction(SIGUSR1, &quiet, &before), 0);
    Running server;
    const Visitor visitor(server.port());
    visitor.send(get(server.port()));
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 200 OK");
    for (int i = 0; i < 20 && !server.over(); ++i) {  // it waits nearly always, and one of them comes meanwhile
        server.signal(SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_FALSE(server.over());
    if (!server.over()) {
        visitor.send(get(server.port()));
        EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 200 OK") << "on the same connection";
    }
    server.end();
    EXPECT_EQ(server.failure(), "");
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST(Server, WhatIsTooLongOrNoHttpGetsARefusalOrNothing) {
    const Running server(soon_over);
    const std::uint16_t port = server.port();
    const std::string long_path = status_of_text(port, get(port, "/" + std::string(100'000, 'a')));
    EXPECT_TRUE(long_path == "HTTP/1.1 414 URI Too Long" || long_path.empty()) << long_path;
    std::string many;
    for (int i = 0; i < 5000; ++i) {
        many += "X-" + std::to_string(i) + ": aaaaaaaaaaaaaaaa\r\n";
    }
    const std::string headers = status_of_text(port, get(port, "/", many));
    EXPECT_TRUE(headers == "HTTP/1.1 431 Request Header Fields Too Large" || headers.empty()) << headers;
    for (const std::string& text :
         {std::string(1000, '\0'), std::string("\x16\x03\x01\x02\x00\x01"), std::string("GET"),
          std::string("\r\n\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"), std::string()}) {
        const std::string answer = status_of_text(port, text);
        EXPECT_EQ(answer.find(" 200 "), std::string::npos) << answer;
    }
    EXPECT_EQ(status_of_text(port, get(port)), "HTTP/1.1 200 OK") << "it still answers";
}

// Pipelined: what is good is answered, and garbage behind it ends the connection.
TEST(Server, AnswersARequestBeforeGarbage) {
    const Running server(soon_over);
    const Visitor visitor(server.port());
    visitor.send(get(server.port()) + get(server.port()) + std::string(200'000, '\n') + "\1\2\3 garbage\r\n\r\n");
    visitor.end_sending();
    const std::string all = visitor.rest();
    EXPECT_EQ(status(all), "HTTP/1.1 200 OK");
    EXPECT_EQ(status_of_text(server.port(), get(server.port())), "HTTP/1.1 200 OK");
}

// A byte now and then renews the time limit of the library, and not ours.
TEST(Server, SlowSendersAreEnded) {
    const Running server({.most_connections = 4, .request_seconds = 0.6, .answer_seconds = 5});
    const Visitor visitor(server.port());
    const Clock::time_point begin = Clock::now();
    const std::string request = get(server.port(), "/", "X-Slow: " + std::string(400, 'a') + "\r\n");
    bool sent = true;
    for (std::size_t i = 0; sent && i < request.size(); ++i) {
        sent = visitor.send(request.substr(i, 1));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_FALSE(sent) << "the whole request took " << seconds_since(begin) << " s";
    EXPECT_LT(seconds_since(begin), 5.0);
    EXPECT_EQ(visitor.rest().find(" 200 "), std::string::npos);
}

// By the time of an answer alone: a crowd would end them after five times half a minute.
TEST(Server, SlowReadersAreEnded) {
    const Running server({.most_connections = 2, .request_seconds = 5, .crowded_seconds = 30, .answer_seconds = 0.5},
                         std::size_t{30} << 20U);
    const Visitor one(server.port());
    const Visitor two(server.port());
    one.send(get(server.port()));
    two.send(get(server.port()));
    // Nobody reads; both places are free again before long.
    const Visitor three(server.port());
    three.send(get(server.port(), "/nothing"));
    EXPECT_EQ(status(three.answer()), "HTTP/1.1 404 Not Found");
    EXPECT_LT(one.rest().size(), std::size_t{30} << 20U);
}

// Who has been answered and asks nothing more has the time of a request.
TEST(Server, IdleConnectionsAreEnded) {
    const Running server({.most_connections = 4, .request_seconds = 0.3, .answer_seconds = 15});
    const Visitor visitor(server.port());
    visitor.send(get(server.port()));
    EXPECT_EQ(status(visitor.answer()), "HTTP/1.1 200 OK");
    const Clock::time_point begin = Clock::now();
    EXPECT_EQ(visitor.rest(), "");
    EXPECT_LT(seconds_since(begin), 8.0);
}

// The time of a request begins anew with every answer: who asks again and again may stay for longer than one request may
// take. A visit in which this machine itself halted says nothing, and is made again.
TEST(Server, AConnectionThatIsUsedAgainHasItsTimeAnew) {
    constexpr double request_seconds = 0.6;
    const std::string good = "HTTP/1.1 200 OK";
    const Running server({.most_connections = 4, .request_seconds = request_seconds, .answer_seconds = 10});
    for (int visit = 0; visit < 5; ++visit) {
        const Visitor visitor(server.port());
        const Clock::time_point begin = Clock::now();
        Clock::time_point before = begin;
        double longest = 0;
        std::string said = good;
        while (said == good && seconds_since(begin) < 2 * request_seconds) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            visitor.send(get(server.port()));
            said = status(visitor.answer());
            longest = std::max(longest, seconds_since(before));
            before = Clock::now();
        }
        if (longest < request_seconds / 2) {
            EXPECT_EQ(said, good) << "after " << seconds_since(begin) << " s";
            return;
        }
    }
    GTEST_SKIP() << "this machine halts too often to see it";
}

// Who has asked in time may take the answer slowly.
TEST(Server, AnAnswerHasMoreTimeThanARequest) {
    const Running server({.most_connections = 4, .request_seconds = 0.3, .answer_seconds = 60}, std::size_t{30} << 20U);
    const Visitor visitor(server.port());
    visitor.send(get(server.port(), "/", "Connection: close\r\n"));
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    EXPECT_GT(visitor.rest().size(), std::size_t{30} << 20U);
}

// An answer may take a minute, but not while others wait for a place: five times what a request has then.
TEST(Server, SlowReadersGiveWayToACrowd) {
    const Running server({.most_connections = 2, .request_seconds = 5, .crowded_seconds = 0.2, .answer_seconds = 60},
                         std::size_t{30} << 20U);
    const Visitor one(server.port());
    const Visitor two(server.port());
    one.send(get(server.port()));
    two.send(get(server.port()));
    const Clock::time_point begin = Clock::now();
    const Visitor three(server.port());
    three.send(get(server.port(), "/nothing"));
    EXPECT_EQ(status(three.answer()), "HTTP/1.1 404 Not Found");
    EXPECT_LT(seconds_since(begin), 10.0);
}

// Both places are taken. Who has not asked yet goes after 0.4 s; who has asked would go after five times that.
TEST(Server, ACrowdEndsSlowSendersBeforeSlowReaders) {
    const Running server({.most_connections = 2, .request_seconds = 5, .crowded_seconds = 0.4, .answer_seconds = 60},
                         std::size_t{30} << 20U);
    const Visitor sender(server.port());
    const Visitor reader(server.port());
    reader.send(get(server.port(), "/", "Connection: close\r\n"));
    sender.send("GET");
    EXPECT_EQ(sender.rest(), "");
    EXPECT_GT(reader.rest().size(), std::size_t{30} << 20U);
}

// Two places, taken: the third waits, and has its turn when one of them is given up.
TEST(Server, HasSoManyPlacesAndNoMore) {
    const Running server({.most_connections = 2, .request_seconds = 30, .crowded_seconds = 30, .answer_seconds = 10});
    auto one = std::make_unique<Visitor>(server.port());
    const Visitor two(server.port());
    one->send(get(server.port()));
    two.send(get(server.port()));
    EXPECT_EQ(status(one->answer()), "HTTP/1.1 200 OK");
    EXPECT_EQ(status(two.answer()), "HTTP/1.1 200 OK");
    const Visitor three(server.port());
    ASSERT_TRUE(three.connected());
    three.send(get(server.port()));
    std::string answer;
    std::thread waiting([&] { answer = three.answer(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    const Clock::time_point begin = Clock::now();
    one.reset();
    waiting.join();
    EXPECT_LT(seconds_since(begin), 5.0);
    EXPECT_EQ(status(answer), "HTTP/1.1 200 OK");
}

TEST(Server, TheThirdOfTwoPlacesIsNotServedAtOnce) {
    const Running server({.most_connections = 2, .request_seconds = 30, .answer_seconds = 10});
    const Visitor one(server.port());
    const Visitor two(server.port());
    one.send("GET");
    two.send("GET");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const Clock::time_point begin = Clock::now();
    const Visitor three(server.port());
    three.send(get(server.port()));
    EXPECT_EQ(status(three.answer()), "HTTP/1.1 200 OK");
    EXPECT_GT(seconds_since(begin), 0.5) << "it waited for one of the others to be ended";
    EXPECT_LT(seconds_since(begin), 10.0) << "which is sooner when there is no place left";
}

TEST(Server, AVisitorWhoLeavesDoesNoHarm) {
    const Running server({}, std::size_t{4} << 20U);
    for (int i = 0; i < 50; ++i) {
        const Visitor visitor(server.port());
        visitor.send(get(server.port()));  // and goes away while it is answered
    }
    EXPECT_EQ(status_of_text(server.port(), get(server.port())), "HTTP/1.1 200 OK");
}

TEST(Server, OnlyThisMachineReachesIt) {
    const Running server;
    // Every address of 127.0.0.0/8 is this machine; one that listens everywhere would answer at 127.0.0.2 too.
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(server.port());
    ASSERT_EQ(inet_pton(AF_INET, "127.0.0.2", &place.sin_addr), 1);
    EXPECT_NE(::connect(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
    ::close(socket);
}

TEST(Server, APortThatIsTakenIsRefusedInOneSentence) {
    const Running server;
    try {
        const Server other(server.port(), {});
        FAIL() << "two servers on one port";
    } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_NE(said.find("port = " + std::to_string(server.port()) + ", which another program uses"),
                  std::string::npos)
            << said;
        EXPECT_EQ(exit_code(error.kind()), ExitCode::bad_input);
    }
}

TEST(Server, EndsWhenAskedAndFreesItsPort) {
    auto server = std::make_unique<Running>();
    const std::uint16_t port = server->port();
    const Visitor visitor(port);
    visitor.send(get(port));
    visitor.answer();
    const Clock::time_point begin = Clock::now();
    server.reset();
    EXPECT_LT(seconds_since(begin), 3.0);
    EXPECT_EQ(visitor.rest(), "");
    const Server again(port, {});
    EXPECT_EQ(again.port(), port);
}

TEST(Server, AContentThatFailsEndsItWithThatFailure) {
    Running server;
    EXPECT_EQ(status_of_text(server.port(), get(server.port(), "/fails")), "");
    server.end();
    EXPECT_EQ(server.failure(), "a content that fails");
}

}  // namespace
}  // namespace flyball::serve::test
