# The headers of librsvg and Cairo: RSVG_INCLUDE_DIRS. The libraries are opened when a PDF or PNG is asked for, never linked:
# every other run would pay 6 ms for it (docs/decisions/0044-pdf-and-png.md).
find_package(PkgConfig QUIET)
pkg_check_modules(PC_RSVG QUIET librsvg-2.0>=2.52 cairo-pdf cairo-png)
set(RSVG_INCLUDE_DIRS ${PC_RSVG_INCLUDE_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Rsvg REQUIRED_VARS RSVG_INCLUDE_DIRS REASON_FAILURE_MESSAGE "hint: apt-get install librsvg2-dev.")
