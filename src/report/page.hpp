// The one page that opens anywhere: a document of results and the script that shows it, in one HTML file.
//
// Promises: the page works from a disk and makes no network request (a Content-Security-Policy in it forbids them);
// nothing in the document can end the script it stands in or become markup; the same document gives the same bytes.
// The script and its style are web/src, bundled when the program is built (cmake/Web.cmake). They carry no library by
// others. What may stand in a document: web/src/document.ts. Who makes one: src/results.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/json.hpp"

namespace flyball::report {

// The document as it stands in the page: JSON without any character that HTML or a script could take for its own.
std::string embedded_json(const Json& document);

// Where a page asks for newer documents. A page without an address, as it is written to a file, asks for nothing.
struct Source {
    std::string document_address;
    std::string document_tag;  // of the document that the page is made around (ETag)
};

// The page around a document that embedded_json() has made.
std::string page_around(std::string_view embedded, std::string_view title, const Source& source = {});

// What the page may load and run (Content-Security-Policy), for whoever sends it.
std::string page_policy(const Source& source = {});

// Bytes that a page has beside its document.
std::size_t page_frame_size();

}  // namespace flyball::report
