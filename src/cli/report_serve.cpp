#include "cli/report_serve.hpp"

#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "core/json.hpp"
#include "report/page.hpp"
#include "results/live_page.hpp"
#include "serve/server.hpp"

namespace flyball::cli {

namespace {

constexpr const char* document_path = "/document.json";

// What folder is shown, and what it waits for: "shows run, and waits for other to begin".
std::string what_is_shown(const Json& folders) {
    std::string shown;
    std::string awaited;
    for (const Json& folder : folders) {
        std::string& list = folder.at("state") == "awaited" ? awaited : shown;
        list += (list.empty() ? "" : ", ") + flyball::quoted(folder.at("folder").get<std::string>());
    }
    if (awaited.empty()) {
        return "shows " + shown + " as it is written";
    }
    return (shown.empty() ? "" : "shows " + shown + " and ") + "waits for a run to begin in " + awaited;
}

void announce(const std::string& address, const Json& folders, const Common& common) {
    if (common.json) {
        Json document = Json::object();
        document["address"] = address;
        document["folders"] = folders;
        print_out(dump_json(document, 2) + "\n");
    } else {
        print_out(fmt::format("{} {}; Ctrl-C ends it\n", address, what_is_shown(folders)));
    }
    flush_out();
}

}  // namespace

ExitCode serve_report(const std::vector<std::filesystem::path>& folders, std::uint16_t port, const Common& common) {
    catch_interrupts();  // also while the first page is made, which may take a second
    results::check_awaited(folders);
    results::LivePage page(folders, document_path);
    serve::Contents contents;
    contents["/"] = [&page] {
        page.refresh();
        return serve::Content{"text/html; charset=utf-8", page.html(), "",
                              report::page_policy({.document_address = document_path, .document_tag = {}})};
    };
    contents[document_path] = [&page] {
        page.refresh();
        return serve::Content{"application/json", page.document(), page.tag(), ""};
    };
    serve::Server server(port, std::move(contents));
    announce(server.address(), page.folders(), common);
    server.run(interrupted());
    return ExitCode::interrupted;
}

}  // namespace flyball::cli
