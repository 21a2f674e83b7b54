# flyball_united(RESULT NAME SOURCE...): what to compile instead of these sources, whose names count from the current folder.
#
# With FLYBALL_UNITED that is a file that includes them all, or one for every four dozen: headers are read and templates instantiated
# once (docs/decisions/0028). CMake's own unity builds name files by their full paths, so that a compiler cache would know them
# in one checkout only. Without it every file is compiled by itself, which says whether each includes what it needs, and where a
# changed file is one file to compile: so do the presets debug and asan, and clang-tidy.
function(flyball_united result name)
  if(NOT FLYBALL_UNITED)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(files)
  set(rest ${ARGN})
  while(rest)
    list(SUBLIST rest 0 48 some)
    list(REMOVE_ITEM rest ${some})
    list(LENGTH files number)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/united/${name}_${number}.cpp)
    list(TRANSFORM some REPLACE "(.+)" "#include \"\\1\"  // NOLINT\n")
    list(JOIN some "" text)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    list(APPEND files ${file})
  endwhile()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# What has to be allowed where files are compiled together.
set(FLYBALL_UNITED_OPTIONS
  # A variable of one file seems to hide a constant of another. clang-tidy, which looks at each file alone, tells what is hidden.
  -Wno-shadow
  # GCC takes every file that is included for a header, where types of unnamed namespaces would be a mistake.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
