#include "serve/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace flyball::serve {

namespace {

// The names under which a browser on this machine reaches us. Any other name may belong to a page of the net that was
// made to mean 127.0.0.1 (DNS rebinding), whose script could otherwise read what we answer.
bool is_own_host(const std::string& host, std::uint16_t port) {
    std::string lower = host;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
        if (lower == fmt::format("{}:{}", name, port) || (port == 80 && lower == name)) {
            return true;
        }
    }
    return false;
}

}  // namespace

int status_of(const Request& request, bool is_known_path, std::uint16_t port) {
    if (request.hosts.size() != 1) {
        return 400;
    }
    if (!is_own_host(request.hosts.front(), port)) {
        return 421;
    }
    if (request.method != "GET" && request.method != "HEAD") {
        return 405;
    }
    if (request.has_body) {
        return 400;
    }
    return is_known_path && !request.has_query ? 200 : 404;
}

std::string sentence_of(int status, std::uint16_t port) {
    switch (status) {
        case 400:
            return "This is no request that a browser sends to read a page.\n";
        case 404:
            return fmt::format("There is nothing here; the page is http://127.0.0.1:{}/\n", port);
        case 405:
            return "This page can be read (GET, HEAD) and nothing else.\n";
        case 421:
            return fmt::format(
                "This page answers to http://127.0.0.1:{0}/ and http://localhost:{0}/ alone. To see it from another "
                "machine, forward the same port: ssh -L {0}:127.0.0.1:{0} HOST\n",
                port);
        default:
            return "This request is refused.\n";
    }
}

bool names_tag(std::string_view known_tags, std::string_view tag) {
    while (!known_tags.empty()) {
        const std::size_t comma = std::min(known_tags.find(','), known_tags.size());
        std::string_view one = known_tags.substr(0, comma);
        known_tags.remove_prefix(std::min(comma + 1, known_tags.size()));
        while (!one.empty() && (one.front() == ' ' || one.front() == '\t')) {
            one.remove_prefix(1);
        }
        while (!one.empty() && (one.back() == ' ' || one.back() == '\t')) {
            one.remove_suffix(1);
        }
        if (one.substr(0, 2) == "W/") {
            one.remove_prefix(2);
        }
        if (one == "*" || (one.size() == tag.size() + 2 && one.front() == '"' && one.back() == '"' &&
                           one.substr(1, tag.size()) == tag)) {
            return true;
        }
    }
    return false;
}

}  // namespace flyball::serve
