// A page on this machine's own address: 127.0.0.1, for a browser on the same machine, and for nobody else.
//
// What it serves is a short list of paths that are known when it starts; a request chooses one of them and nothing more.
// No file is opened and nothing is computed from what a request says.
//
// Promises, whatever is sent:
//   * GET and HEAD of a known path are answered, other paths with 404, other methods with 405, what is no HTTP with 400,
//     what is longer than 16 KiB with 414 or 431.
//   * A request whose Host is not this address (a page of the net whose name was made to mean 127.0.0.1) gets 421, and no
//     answer allows another origin to read it.
//   * At most `most_connections` at a time; others wait with the system. A request has ten seconds to be sent (one, while all
//     places are taken), an answer a minute (five seconds) to be fetched, so that slow senders and readers hold nothing for longer. Memory
//     is bounded by that.
//   * An answer whose tag the browser has already (If-None-Match) is 304, without a body.
//
// One thread, that of run(). The protocol is libmicrohttpd's (docs/decisions/0046-a-server-by-libmicrohttpd.md), which is
// opened when a server is made: a program that serves nothing neither needs nor loads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace flyball::serve {

struct Content {
    std::string type;  // text/html; charset=utf-8
    std::shared_ptr<const std::string> body;
    std::string tag;     // changes with the body; empty: none
    std::string policy;  // Content-Security-Policy; empty: nothing may be loaded
};

// What stands under a path, asked for at every request.
using Contents = std::map<std::string, std::function<Content()>>;

struct Limits {
    std::size_t most_connections = 32;
    double request_seconds = 10;  // for a request to be sent, and for a connection without one to stay
    double crowded_seconds = 1;   // the same while all places are taken
    double answer_seconds = 60;   // for an answer to be fetched
};

class Server {
  public:
    // `port` 0: any that is free. An Error where the port is taken or may not be used, or libmicrohttpd is not there.
    Server(std::uint16_t port, Contents contents, Limits limits = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    std::uint16_t port() const;
    std::string address() const;  // http://127.0.0.1:7070/

    // Until `stop` is true, which is looked at after every request and four times a second. An exception of a content
    // ends it.
    void run(const std::atomic<bool>& stop);

  private:
    class Daemon;
    std::unique_ptr<Daemon> daemon_;
};

}  // namespace flyball::serve
