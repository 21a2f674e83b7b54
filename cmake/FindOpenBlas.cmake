# OpenBLAS in its OpenMP build, as target OpenBlas::OpenBlas.
#
# Debian's alternatives may point libblas.so and libopenblas.so at the pthread build, whose threads know nothing of ours.
# So the OpenMP build is taken from its own folder, and asked what it is. A binary that links it gets that folder as run
# path: the soname is the same for all builds, and the loader would otherwise follow the alternatives again.
find_library(OpenBlas_LIBRARY NAMES openblas PATH_SUFFIXES openblas-openmp)
find_library(OpenBlas_LIBRARY NAMES openblaso)
find_path(OpenBlas_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBlas REQUIRED_VARS OpenBlas_LIBRARY OpenBlas_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "hint: apt-get install libopenblas-openmp-dev.")
mark_as_advanced(OpenBlas_LIBRARY OpenBlas_INCLUDE_DIR)

if(OpenBlas_FOUND AND NOT TARGET OpenBlas::OpenBlas)
  add_library(OpenBlas::OpenBlas UNKNOWN IMPORTED)
  set_target_properties(OpenBlas::OpenBlas PROPERTIES
    IMPORTED_LOCATION "${OpenBlas_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${OpenBlas_INCLUDE_DIR}")
  if(NOT CMAKE_CROSSCOMPILING)
    include(CheckCXXSourceRuns)
    set(CMAKE_REQUIRED_LIBRARIES OpenBlas::OpenBlas)
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_runs(
      "extern \"C\" int openblas_get_parallel(void); int main() { return openblas_get_parallel() == 2 ? 0 : 1; }"
      OpenBlas_IS_OPENMP)
    unset(CMAKE_REQUIRED_LIBRARIES)
    unset(CMAKE_REQUIRED_QUIET)
    if(NOT OpenBlas_IS_OPENMP)
      set(found ${OpenBlas_LIBRARY})
      unset(OpenBlas_IS_OPENMP CACHE)
      unset(OpenBlas_LIBRARY CACHE)  # so that the next try looks again
      unset(OpenBlas_INCLUDE_DIR CACHE)
      message(FATAL_ERROR "[FindOpenBlas] got ${found}, expected OpenBLAS's OpenMP build. "
        "hint: apt-get install libopenblas-openmp-dev, or set OpenBlas_LIBRARY.")
    endif()
  endif()
endif()
