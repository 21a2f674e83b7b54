# The header of libmicrohttpd, as Microhttpd::headers. The library is opened when `flyball report --serve` needs it, never linked:
# src/serve/microhttpd.cpp.
find_package(PkgConfig QUIET)
pkg_check_modules(PC_MICROHTTPD QUIET libmicrohttpd>=0.9.73)
find_path(MICROHTTPD_INCLUDE_DIR microhttpd.h HINTS ${PC_MICROHTTPD_INCLUDE_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Microhttpd REQUIRED_VARS MICROHTTPD_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "hint: apt-get install libmicrohttpd-dev.")
mark_as_advanced(MICROHTTPD_INCLUDE_DIR)
if(Microhttpd_FOUND AND NOT TARGET Microhttpd::headers)
  add_library(Microhttpd::headers INTERFACE IMPORTED)
  target_include_directories(Microhttpd::headers SYSTEM INTERFACE ${MICROHTTPD_INCLUDE_DIR})
endif()
