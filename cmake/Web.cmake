# The page of `flyball report`: web/src bundled by esbuild and put into a source file, so that the program needs no other file.
# Included, it defines flyball_page_bundle(RESULT); run as a script (cmake -P) it writes that source file.
if(CMAKE_SCRIPT_MODE_FILE)
  foreach(part IN ITEMS script style)
    file(READ ${${part}} text)
    # A raw string: nothing in the text needs escaping but the mark that ends it.
    if(text MATCHES "\\)flyball_page\"")
      message(FATAL_ERROR "${${part}} holds the end mark of the source file it is put into; change the mark in cmake/Web.cmake.")
    endif()
    string(APPEND source "const std::string_view page_${part} = R\"flyball_page(${text})flyball_page\";\n")
  endforeach()
  file(WRITE ${output} "#include \"report/page_bundle.hpp\"\n\nnamespace flyball::report {\n\n${source}\n}  // namespace flyball::report\n")
  return()
endif()

function(flyball_page_bundle result)
  find_program(FLYBALL_ESBUILD esbuild)
  if(NOT FLYBALL_ESBUILD)
    message(FATAL_ERROR "esbuild is missing, which bundles the page of `flyball report` (web/src). hint: apt-get install esbuild.")
  endif()
  set(web ${PROJECT_SOURCE_DIR}/web/src)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/report)
  file(GLOB sources CONFIGURE_DEPENDS ${web}/*.ts ${web}/*.css)
  set(flags --minify --charset=ascii --log-level=warning)
  add_custom_command(OUTPUT ${folder}/page_bundle.cpp
    COMMAND ${FLYBALL_ESBUILD} ${web}/main.ts --bundle --format=iife --target=es2020 ${flags} --outfile=${folder}/page.js
    COMMAND ${FLYBALL_ESBUILD} ${web}/page.css ${flags} --outfile=${folder}/page.css
    COMMAND ${CMAKE_COMMAND} -Dscript=${folder}/page.js -Dstyle=${folder}/page.css -Doutput=${folder}/page_bundle.cpp
      -P ${PROJECT_SOURCE_DIR}/cmake/Web.cmake
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/Web.cmake
    COMMENT "Bundling web/src" VERBATIM)
  set(${result} ${folder}/page_bundle.cpp PARENT_SCOPE)
endfunction()
