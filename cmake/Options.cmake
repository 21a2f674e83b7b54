# One interface target carries every compiler option, so that a module cannot forget one.
add_library(flyball_options INTERFACE)
target_compile_options(flyball_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  # A switch has a case for every member of its enumeration: a new member must not be taken for another one.
  -Werror=switch -Werror=switch-enum
  # The same bits from every compiler: a multiply-add is fused only where a kernel asks for it.
  -ffp-contract=off
  # Nobody reads errno after a square root, and without it roots are done in vectors.
  -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(flyball_options INTERFACE -Wno-restrict)  # GCC 12 warns of its own std::string (PR 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC looks for memory to give back from 128 MB on, again and again; from a gigabyte on it takes a tenth less time.
  target_compile_options(flyball_options INTERFACE --param=ggc-min-heapsize=1000000)
endif()
if(FLYBALL_UNITED)
  target_compile_options(flyball_options INTERFACE ${FLYBALL_UNITED_OPTIONS})
endif()
if(FLYBALL_WERROR)
  target_compile_options(flyball_options INTERFACE -Werror)
endif()
if(FLYBALL_SANITIZE)
  target_compile_options(flyball_options INTERFACE
    -fsanitize=${FLYBALL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(FLYBALL_SANITIZE MATCHES "undefined")
    # AddressSanitizer stops at a null pointer and beyond an object's end anyway; asking twice at every access costs a tenth to a
    # quarter of the time that compiling takes, and half of it for kernels. How numbers are aligned is asked in core alone, where
    # bytes of files become numbers (src/CMakeLists.txt).
    target_compile_options(flyball_options INTERFACE -fno-sanitize=null,object-size,pointer-overflow,alignment)
  endif()
  target_link_options(flyball_options INTERFACE -fsanitize=${FLYBALL_SANITIZE})
  find_program(FLYBALL_GOLD ld.gold)
  if(FLYBALL_GOLD)
    target_link_options(flyball_options INTERFACE -fuse-ld=gold)  # half the time, of two dozen large programs
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The sanitizers' extra branches make GCC warn of members that std::regex never leaves unset (PR 105562).
    target_compile_options(flyball_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
target_link_libraries(flyball_options INTERFACE Threads::Threads)
