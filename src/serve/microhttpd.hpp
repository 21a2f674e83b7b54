// The functions of libmicrohttpd that we call, found when they are first needed.
#pragma once

#include <microhttpd.h>

namespace flyball::serve {

struct Microhttpd {
    decltype(&MHD_start_daemon) start = nullptr;
    decltype(&MHD_stop_daemon) stop = nullptr;
    decltype(&MHD_get_fdset2) descriptors = nullptr;
    decltype(&MHD_get_timeout) timeout = nullptr;
    decltype(&MHD_run_from_select) run = nullptr;
    decltype(&MHD_get_connection_info) connection_info = nullptr;
    decltype(&MHD_get_connection_values) values = nullptr;
    decltype(&MHD_create_response_from_buffer_with_free_callback_cls) new_response = nullptr;
    decltype(&MHD_add_response_header) add_header = nullptr;
    decltype(&MHD_queue_response) queue = nullptr;
    decltype(&MHD_destroy_response) destroy_response = nullptr;
};

// An Error where the library is not there.
const Microhttpd& microhttpd();

}  // namespace flyball::serve
