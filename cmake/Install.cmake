# `cmake --install build/release --prefix DIR` gives the program, the library, its headers, and a CMake package:
#     find_package(flyball REQUIRED)
#     target_link_libraries(mine PRIVATE flyball::flyball)        and        #include <flyball/core/error.hpp>
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(FLYBALL_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/flyball)

install(TARGETS flyball RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The man page and the completions are what the program says of itself, written down when it is installed.
install(CODE "
  set(made \"${PROJECT_BINARY_DIR}/documents\")
  file(MAKE_DIRECTORY \${made})
  foreach(what IN ITEMS \"--man:flyball.1\" \"--completion bash:flyball\" \"--completion zsh:_flyball\" \"--completion fish:flyball.fish\")
    string(REPLACE \":\" \";\" parts \${what})
    list(GET parts 0 asked)
    list(GET parts 1 name)
    separate_arguments(asked)
    execute_process(COMMAND \"$<TARGET_FILE:flyball>\" help \${asked} OUTPUT_FILE \${made}/\${name} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
")
install(FILES ${PROJECT_BINARY_DIR}/documents/flyball.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/documents/flyball DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/documents/_flyball DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/documents/flyball.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Headers include each other as "core/error.hpp", a user of the library as <flyball/core/error.hpp>: both must be found.
install(TARGETS flyball_library EXPORT flyballTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/flyball)
install(EXPORT flyballTargets NAMESPACE flyball:: DESTINATION ${FLYBALL_INSTALL_CMAKEDIR})

# Models for builtin:NAME and their text; there may be none.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/models ${PROJECT_SOURCE_DIR}/data/text DESTINATION ${CMAKE_INSTALL_DATADIR}/flyball OPTIONAL)

foreach(folder IN ITEMS ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/src)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/flyball
    FILES_MATCHING PATTERN "*.hpp" PATTERN "cli" EXCLUDE PATTERN "CMakeFiles" EXCLUDE)
endforeach()

configure_package_config_file(cmake/flyballConfig.cmake.in ${PROJECT_BINARY_DIR}/flyballConfig.cmake
  INSTALL_DESTINATION ${FLYBALL_INSTALL_CMAKEDIR} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/flyballConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/flyballConfig.cmake ${PROJECT_BINARY_DIR}/flyballConfigVersion.cmake
  cmake/FindOpenBlas.cmake cmake/FindSundials.cmake cmake/FindHdf5C.cmake cmake/FindPcre2.cmake DESTINATION ${FLYBALL_INSTALL_CMAKEDIR})
