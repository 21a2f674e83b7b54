#include "serve/microhttpd.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "core/error.hpp"

namespace flyball::serve {

namespace {

Microhttpd load() {
    // Never closed: what it and GnuTLS behind it have set up lives until the end.
    void* const library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    bool all = true;
    const auto find = [&](const char* name, auto& function) {
        void* const found = library == nullptr ? nullptr : dlsym(library, name);
        function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
        all = all && found != nullptr;
    };
    Microhttpd use;
    find("MHD_start_daemon", use.start);
    find("MHD_stop_daemon", use.stop);
    find("MHD_get_fdset2", use.descriptors);
    find("MHD_get_timeout", use.timeout);
    find("MHD_run_from_select", use.run);
    find("MHD_get_connection_info", use.connection_info);
    find("MHD_get_connection_values", use.values);
    find("MHD_create_response_from_buffer_with_free_callback_cls", use.new_response);
    find("MHD_add_response_header", use.add_header);
    find("MHD_queue_response", use.queue);
    find("MHD_destroy_response", use.destroy_response);
    if (!all) {
        throw Error(ErrorKind::resource, "serve.server", "no libmicrohttpd of version 0.9.73 or later",
                    "the library that speaks HTTP", "install libmicrohttpd12");
    }
    return use;
}

}  // namespace

const Microhttpd& microhttpd() {
    static const Microhttpd loaded = load();
    return loaded;
}

}  // namespace flyball::serve
