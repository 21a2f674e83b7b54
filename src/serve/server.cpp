#include "serve/server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <strings.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "core/error.hpp"
#include "serve/microhttpd.hpp"
#include "serve/request.hpp"

namespace flyball::serve {

namespace {

constexpr std::size_t head_bytes = 16 * 1024;  // of a request, and of what is known of a connection
constexpr double crowded_answer_share =
    5;                        // while all places are taken, an answer has this many times what a request has
constexpr int waiting = 128;  // connections that the system keeps for us
constexpr unsigned look_up_milliseconds = 250;  // how often `stop` is looked at
constexpr std::string_view nothing_allowed = "default-src 'none'; frame-ancestors 'none'";

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Socket {
  public:
    explicit Socket(int descriptor) : descriptor_(descriptor) {}
    ~Socket() {
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int get() const { return descriptor_; }
    int release() { return std::exchange(descriptor_, -1); }

  private:
    int descriptor_;
};

[[noreturn]] void cannot_listen(std::uint16_t port, int error) {
    const std::string given = setting("port", std::to_string(port));
    if (error == EADDRINUSE) {
        throw Error(ErrorKind::usage, "serve.server", given + ", which another program uses", "a free port",
                    setting("port", "0") + " takes any that is free");
    }
    throw Error(ErrorKind::usage, "serve.server", fmt::format("{} ({})", given, std::strerror(error)),
                "a port that may be listened on", setting("port", "0") + " takes any that is free");
}

int listen_on_loopback(std::uint16_t port) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int yes = 1;
    if (socket.get() < 0 ||
        // Only those of connections that have ended: a port that somebody listens on stays taken.
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        ::listen(socket.get(), waiting) != 0) {
        cannot_listen(port, errno);
    }
    return socket.release();
}

std::uint16_t port_of(int descriptor) {
    sockaddr_in place = {};
    socklen_t size = sizeof place;
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&place), &size) != 0) {
        cannot_listen(0, errno);
    }
    return ntohs(place.sin_port);
}

// What a connection is at, since when, and how long it may take for that.
struct Patience {
    int descriptor = -1;
    bool is_answered = false;  // fetches an answer; otherwise it has a request to send
    double since = 0;
    double seconds = 0;
    bool over = false;
};

}  // namespace

class Server::Daemon {
  public:
    Daemon(std::uint16_t port, Contents contents, Limits limits)
        : use_(microhttpd()), contents_(std::move(contents)), limits_(limits) {
        Socket listening(listen_on_loopback(port));
        port_ = port_of(listening.get());
        daemon_ =
            use_.start(MHD_USE_EPOLL, port_, nullptr, nullptr, &on_request, this, MHD_OPTION_LISTEN_SOCKET,
                       listening.get(), MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(limits_.most_connections),
                       MHD_OPTION_CONNECTION_MEMORY_LIMIT, head_bytes, MHD_OPTION_NOTIFY_CONNECTION, &on_connection,
                       this, MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this, MHD_OPTION_UNESCAPE_CALLBACK, &as_it_is,
                       nullptr, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
        if (daemon_ == nullptr) {
            throw Error(ErrorKind::resource, "serve.server", "libmicrohttpd, which could not start",
                        "a system that grants a few descriptors");
        }
        listening.release();  // it closes it
    }
    ~Daemon() { use_.stop(daemon_); }
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    std::uint16_t port() const { return port_; }

    // libmicrohttpd watches its connections by epoll; what is waited for here is its one descriptor, and never longer than
    // until `stop` has to be looked at.
    void run(const std::atomic<bool>& stop) {
        while (!stop) {
            fd_set reads;
            fd_set writes;
            fd_set others;
            FD_ZERO(&reads);
            FD_ZERO(&writes);
            FD_ZERO(&others);
            int last = -1;
            unsigned long long soon = look_up_milliseconds;  // NOLINT(google-runtime-int): its own type
            bool good = use_.descriptors(daemon_, &reads, &writes, &others, &last, FD_SETSIZE) == MHD_YES;
            use_.timeout(daemon_, &soon);
            timeval patience = {0,
                                static_cast<suseconds_t>(1000 * std::min<std::uint64_t>(soon, look_up_milliseconds))};
            const int ready = ::select(last + 1, &reads, &writes, &others, &patience);
            if (ready < 0 && errno == EINTR) {
                continue;
            }
            good = good && ready >= 0 && use_.run(daemon_, &reads, &writes, &others) == MHD_YES;
            if (!good) {
                throw Error(ErrorKind::io, "serve.server", "libmicrohttpd, which could not go on", "a running server");
            }
            if (failure_) {
                std::rethrow_exception(std::exchange(failure_, nullptr));
            }
            end_what_takes_too_long();
        }
    }

  private:
    // The path is compared as it was sent.
    static std::size_t as_it_is(void* /*unused*/, MHD_Connection* /*unused*/, char* text) { return std::strlen(text); }

    static void on_connection(void* self, MHD_Connection* connection, void** /*unused*/,
                              MHD_ConnectionNotificationCode what) {
        static_cast<Daemon*>(self)->guarded([&](Daemon& daemon) {
            if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
                daemon.patience_.erase(connection);
                return;
            }
            const auto* info = daemon.use_.connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
            daemon.patience_[connection].descriptor = info->connect_fd;
            daemon.wait_for_request(connection);
        });
    }

    static void on_completed(void* self, MHD_Connection* connection, void** /*unused*/,
                             MHD_RequestTerminationCode /*unused*/) {
        static_cast<Daemon*>(self)->guarded([&](Daemon& daemon) { daemon.wait_for_request(connection); });
    }

    static MHD_Result on_request(void* self, MHD_Connection* connection, const char* url, const char* method,
                                 const char* /*version*/, const char* /*body*/, std::size_t* body_size, void** seen) {
        MHD_Result result = MHD_NO;
        static_cast<Daemon*>(self)->guarded(
            [&](Daemon& daemon) { result = daemon.answer(connection, url, method, *body_size > 0, seen); });
        return result;
    }

    // No exception may pass through the library's own functions: it is kept, and run() throws it.
    template <class Act>
    void guarded(const Act& act) noexcept {
        try {
            act(*this);
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    static MHD_Result note_header(void* to, MHD_ValueKind /*unused*/, const char* key, const char* value) {
        Request& request = *static_cast<Request*>(to);
        const std::string_view text = value == nullptr ? "" : value;
        if (strcasecmp(key, "Host") == 0) {
            request.hosts.emplace_back(text);
        } else if (strcasecmp(key, "If-None-Match") == 0) {
            request.known_tags += (request.known_tags.empty() ? "" : ", ") + std::string(text);
        } else if (strcasecmp(key, "Transfer-Encoding") == 0 ||
                   (strcasecmp(key, "Content-Length") == 0 && text != "0")) {
            request.has_body = true;
        }
        return MHD_YES;
    }

    // Called for the head of a request, and again when it is complete. What is refused is refused at once, which ends
    // the connection; an answer in the second call lets the browser use it again.
    MHD_Result answer(MHD_Connection* connection, const char* url, const char* method, bool body, void** seen) {
        Request request;
        request.method = method;
        request.path = url;
        use_.values(connection, MHD_HEADER_KIND, &note_header, &request);
        request.has_body = request.has_body || body;
        request.has_query = use_.values(connection, MHD_GET_ARGUMENT_KIND, nullptr, nullptr) > 0;
        const auto found = contents_.find(request.path);
        const int status = status_of(request, found != contents_.end(), port_);
        const bool first = *seen == nullptr;
        *seen = this;
        if (first && status == 200) {
            return MHD_YES;
        }
        wait_for(connection, true, limits_.answer_seconds);
        if (status != 200) {
            return send(
                connection, status,
                {"text/plain; charset=utf-8", std::make_shared<const std::string>(sentence_of(status, port_)), "", ""});
        }
        Content content = found->second();
        if (!content.tag.empty() && names_tag(request.known_tags, content.tag)) {
            content.body = std::make_shared<const std::string>();
            return send(connection, MHD_HTTP_NOT_MODIFIED, content);
        }
        return send(connection, MHD_HTTP_OK, content);
    }

    MHD_Result send(MHD_Connection* connection, int status, const Content& content) {
        // The text lives as long as somebody still fetches it, also when there is a newer one.
        auto held = std::make_unique<std::shared_ptr<const std::string>>(content.body);
        void* const bytes = const_cast<char*>(content.body->data());  // NOLINT: it only reads them
        MHD_Response* const response = use_.new_response(
            content.body->size(), bytes,
            [](void* text) {
                delete static_cast<std::shared_ptr<const std::string>*>(
                    text);  // NOLINT(cppcoreguidelines-owning-memory)
            },
            held.get());
        if (response == nullptr) {
            return MHD_NO;
        }
        static_cast<void>(held.release());
        const auto add = [&](const char* name, const std::string& value) {
            use_.add_header(response, name, value.c_str());
        };
        add("Content-Type", content.type);
        add("Cache-Control", "no-store");
        add("Content-Security-Policy",
            content.policy.empty() ? std::string(nothing_allowed) : content.policy + "; frame-ancestors 'none'");
        add("X-Content-Type-Options", "nosniff");
        add("Cross-Origin-Resource-Policy", "same-origin");
        add("Referrer-Policy", "no-referrer");
        if (!content.tag.empty()) {
            add("ETag", fmt::format("\"{}\"", content.tag));
        }
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
            add("Allow", "GET, HEAD");
        }
        const MHD_Result queued = use_.queue(connection, static_cast<unsigned>(status), response);
        use_.destroy_response(response);  // it is kept until it is sent
        return queued;
    }

    void wait_for_request(MHD_Connection* connection) { wait_for(connection, false, limits_.request_seconds); }

    void wait_for(MHD_Connection* connection, bool is_answered, double seconds) {
        if (const auto found = patience_.find(connection); found != patience_.end()) {
            found->second.is_answered = is_answered;
            found->second.since = seconds_now();
            found->second.seconds = seconds;
        }
    }

    // The library's own time limit begins anew with every byte, so that one byte now and then would hold a connection for
    // hours. An end of both directions makes it close the connection.
    void end_what_takes_too_long() {
        const bool crowded = patience_.size() >= limits_.most_connections;
        const double now = seconds_now();
        for (auto& [connection, patience] : patience_) {
            const double few = (patience.is_answered ? crowded_answer_share : 1) * limits_.crowded_seconds;
            const double allowed = crowded ? std::min(patience.seconds, few) : patience.seconds;
            if (now > patience.since + allowed && !patience.over) {
                patience.over = true;
                ::shutdown(patience.descriptor, SHUT_RDWR);
            }
        }
    }

    const Microhttpd& use_;
    Contents contents_;
    Limits limits_;
    std::uint16_t port_ = 0;
    MHD_Daemon* daemon_ = nullptr;
    std::map<MHD_Connection*, Patience> patience_;
    std::exception_ptr failure_;
};

Server::Server(std::uint16_t port, Contents contents, Limits limits)
    : daemon_(std::make_unique<Daemon>(port, std::move(contents), limits)) {}

Server::~Server() = default;

std::uint16_t Server::port() const {
    return daemon_->port();
}

std::string Server::address() const {
    return fmt::format("http://127.0.0.1:{}/", port());
}

void Server::run(const std::atomic<bool>& stop) {
    daemon_->run(stop);
}

}  // namespace flyball::serve
