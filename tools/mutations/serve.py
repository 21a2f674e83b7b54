"""Mistakes planted in src/serve; tools/mutations.py says how."""

# Written by someone who knew the tests.
KNOWN = [
    ("host-is-not-checked", "src/serve/request.cpp", "if (!is_own_host(request.hosts.front(), port)) {", "if (request.hosts.front().empty()) {"),
    ("host-of-any-port", "src/serve/request.cpp", 'lower == fmt::format("{}:{}", name, port)', 'lower.substr(0, lower.rfind(\':\')) == name'),
    ("host-that-begins-right", "src/serve/request.cpp", 'lower == fmt::format("{}:{}", name, port)', 'lower.starts_with(fmt::format("{}:{}", name, port))'),
    ("first-of-two-hosts-counts", "src/serve/request.cpp", "if (request.hosts.size() != 1) {", "if (request.hosts.empty()) {"),
    ("every-method-reads", "src/serve/request.cpp", 'if (request.method != "GET" && request.method != "HEAD") {', "if (request.method.empty()) {"),
    ("head-is-refused", "src/serve/request.cpp", 'if (request.method != "GET" && request.method != "HEAD") {', 'if (request.method != "GET") {'),
    ("bodies-are-awaited", "src/serve/request.cpp", "    if (request.has_body) {\n        return 400;\n    }\n", ""),
    ("queries-are-passed-over", "src/serve/request.cpp", "return is_known_path && !request.has_query ? 200 : 404;", "return is_known_path ? 200 : 404;"),
    ("tags-by-their-beginning", "src/serve/request.cpp", "one.size() == tag.size() + 2 && ", "one.size() > tag.size() && "),
    ("weak-tags-are-unknown", "src/serve/request.cpp", "            one.remove_prefix(2);\n", ""),
    ("first-tag-of-a-list-alone", "src/serve/request.cpp", "known_tags.remove_prefix(std::min(comma + 1, known_tags.size()));", "known_tags.remove_prefix(known_tags.size());"),
    ("everything-is-sent-again", "src/serve/server.cpp", "if (!content.tag.empty() && names_tag(request.known_tags, content.tag)) {", "if (false) {"),
    ("nothing-is-sent-again", "src/serve/server.cpp", "names_tag(request.known_tags, content.tag)", "!request.known_tags.empty()"),
    ("listens-everywhere", "src/serve/server.cpp", "htonl(INADDR_LOOPBACK)", "htonl(INADDR_ANY)"),
    ("places-without-end", "src/serve/server.cpp", "static_cast<unsigned>(limits_.most_connections)", "1000U"),
    ("slow-senders-stay", "src/serve/server.cpp", "::shutdown(patience.descriptor, SHUT_RDWR);", "(void)0;"),
    ("slow-readers-stay", "src/serve/server.cpp", "wait_for(connection, true, limits_.answer_seconds);", "wait_for(connection, true, 1e9);"),
    ("stalled-readers-hold-a-crowd-up", "src/serve/server.cpp", "(patience.is_answered ? crowded_answer_share : 1)", "(patience.is_answered ? 1000 : 1)"),
    ("a-crowd-waits-as-long", "src/serve/server.cpp", "const double allowed = crowded ? std::min(patience.seconds, few) : patience.seconds;", "const double allowed = patience.seconds + 0 * few;"),
    ("a-connection-is-used-once", "src/serve/server.cpp", "if (first && status == 200) {", "if (first && status == 0) {"),
    ("other-origins-may-read", "src/serve/server.cpp", 'add("Referrer-Policy", "no-referrer");', 'add("Access-Control-Allow-Origin", "*");'),
    ("types-are-guessed", "src/serve/server.cpp", '        add("X-Content-Type-Options", "nosniff");\n', ""),
    ("any-resource-policy", "src/serve/server.cpp", '        add("Cross-Origin-Resource-Policy", "same-origin");\n', ""),
    ("answers-may-be-kept", "src/serve/server.cpp", 'add("Cache-Control", "no-store");', 'add("Cache-Control", "max-age=60");'),
    ("policy-of-the-page-is-lost", "src/serve/server.cpp", 'content.policy.empty() ? std::string(nothing_allowed)', 'true ? std::string(nothing_allowed)'),
    ("paths-are-decoded", "src/serve/server.cpp", "MHD_OPTION_UNESCAPE_CALLBACK, &as_it_is,\n                       nullptr, MHD", "MHD"),
    ("failures-of-contents-are-forgotten", "src/serve/server.cpp", "failure_ = std::current_exception();", "(void)0;"),
    ("stop-is-not-heard", "src/serve/server.cpp", "while (!stop) {", "while (!stop || !patience_.empty()) {"),
    ("a-taken-port-is-shared", "src/serve/server.cpp", "SO_REUSEADDR, &yes", "SO_REUSEPORT, &yes"),
]

# Written by someone who had not seen the tests.
BLIND = [
    ("host-in-capitals-is-refused", "src/serve/request.cpp", 'if (lower == fmt::format("{}:{}", name, port)', 'if (host == fmt::format("{}:{}", name, port)'),
    ("post-with-a-body-is-called-no-request", "src/serve/request.cpp", "    if (request.method != \"GET\" && request.method != \"HEAD\") {\n        return 405;\n    }\n    if (request.has_body) {\n        return 400;\n    }\n", "    if (request.has_body) {\n        return 400;\n    }\n    if (request.method != \"GET\" && request.method != \"HEAD\") {\n        return 405;\n    }\n"),
    ("advice-forwards-the-port-the-wrong-way", "src/serve/request.cpp", "ssh -L {0}:127.0.0.1:{0} HOST", "ssh -R {0}:127.0.0.1:{0} HOST"),
    ("weak-tag-is-never-known", "src/serve/request.cpp", "        if (one.substr(0, 2) == \"W/\") {\n            one.remove_prefix(2);", "        if (one.substr(0, 2) == \"W/\") {\n            one.remove_prefix(1);"),
    ("two-servers-share-one-port", "src/serve/server.cpp", "SOL_SOCKET, SO_REUSEADDR,", "SOL_SOCKET, SO_REUSEPORT,"),
    ("any-free-port-is-announced-as-zero", "src/serve/server.cpp", "        port_ = port_of(listening.get());", "        port_ = port;"),
    ("host-header-in-small-letters-is-not-seen", "src/serve/server.cpp", 'if (strcasecmp(key, "Host") == 0) {', 'if (std::strcmp(key, "Host") == 0) {'),
    ("answer-has-only-the-time-of-a-request", "src/serve/server.cpp", "wait_for(connection, true, limits_.answer_seconds);", "wait_for(connection, true, limits_.request_seconds);"),
    ("page-with-a-policy-may-be-framed", "src/serve/server.cpp", "std::string(nothing_allowed) : content.policy + \"; frame-ancestors 'none'\");", "std::string(nothing_allowed) : content.policy);"),
    ("full-house-is-never-crowded", "src/serve/server.cpp", "patience_.size() >= limits_.most_connections", "patience_.size() > limits_.most_connections"),
]
