# xxHash's header, as target XxHash::xxhash. Only the header is used (XXH_INLINE_ALL): nothing to link.
find_path(XxHash_INCLUDE_DIR xxhash.h)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XxHash REQUIRED_VARS XxHash_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "hint: apt-get install libxxhash-dev.")
mark_as_advanced(XxHash_INCLUDE_DIR)

if(XxHash_FOUND AND NOT TARGET XxHash::xxhash)
  add_library(XxHash::xxhash INTERFACE IMPORTED)
  set_target_properties(XxHash::xxhash PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${XxHash_INCLUDE_DIR}")
endif()
