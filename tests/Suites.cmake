# flyball_discover_suites(TARGET PREFIX LEFT_OUT): every suite of a test program is a test of ctest, PREFIX before its name; LEFT_OUT are
# names of tests, as GoogleTest's filters have them, that are run elsewhere.
#
# CMake's own gtest_discover_tests makes a process of every test: 2,500 times 25 ms, most of which the loader takes for shared libraries
# (docs/decisions/0028). The list is made anew after each link by this file itself, run as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=-${left_out} OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
  # A suite begins its line, its tests are indented; a line may go on with a comment.
  string(REGEX MATCHALL "\n[A-Za-z_][A-Za-z0-9_/]*\\." suites "\n${listed}")
  set(text)
  foreach(suite IN LISTS suites)
    string(REGEX REPLACE "^\n(.*)\\.$" "\\1" suite "${suite}")
    string(APPEND text "add_test([=[${prefix}${suite}]=] [=[${program}]=] --gtest_brief=1 [=[--gtest_filter=${suite}.*-${left_out}]=])\n"
      "set_tests_properties([=[${prefix}${suite}]=] PROPERTIES TIMEOUT 600 LABELS unit PROCESSORS 2)\n")
  endforeach()
  if(NOT text)
    message(FATAL_ERROR "${program} lists no tests")
  endif()
  file(WRITE ${output} "${text}")
  return()
endif()

set(FLYBALL_SUITES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(flyball_discover_suites target prefix left_out)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${output} VERBATIM
    COMMAND ${CMAKE_COMMAND} -Dprogram=$<TARGET_FILE:${target}> -Dprefix=${prefix} -Dleft_out=${left_out} -Doutput=${output}
      -P ${FLYBALL_SUITES_SCRIPT})
  # A program that was not built is a test that fails.
  set(missing ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  file(WRITE ${missing} "if(EXISTS \"${output}\")\n  include(\"${output}\")\nelse()\n  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${missing})
endfunction()
