// What becomes of a request, decided from its head alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flyball::serve {

struct Request {
    std::string method;
    std::string path;                // as it was sent, nothing decoded
    bool has_query = false;          // something behind a '?'
    bool has_body = false;           // says that more than a head will come
    std::vector<std::string> hosts;  // every Host that it names
    std::string known_tags;          // If-None-Match
};

// 200 where it is to be answered, otherwise the status of the refusal.
int status_of(const Request& request, bool is_known_path, std::uint16_t port);

// In one sentence, for whoever reads the refusal.
std::string sentence_of(int status, std::uint16_t port);

// If-None-Match names this tag: a list of "..." or W/"...", or * for any.
bool names_tag(std::string_view known_tags, std::string_view tag);

}  // namespace flyball::serve
