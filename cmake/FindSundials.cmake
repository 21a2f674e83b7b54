# SUNDIALS' explicit Runge-Kutta and its serial vectors, as the target Sundials::arkode. The package's own CMake files ask
# for MPI, which these two libraries do not need.
find_path(SUNDIALS_INCLUDE_DIR arkode/arkode_erkstep.h)
find_library(SUNDIALS_ARKODE_LIBRARY sundials_arkode)
find_library(SUNDIALS_NVECSERIAL_LIBRARY sundials_nvecserial)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Sundials REQUIRED_VARS
  SUNDIALS_ARKODE_LIBRARY SUNDIALS_NVECSERIAL_LIBRARY SUNDIALS_INCLUDE_DIR)
if(Sundials_FOUND AND NOT TARGET Sundials::arkode)
  add_library(Sundials::arkode INTERFACE IMPORTED)
  target_include_directories(Sundials::arkode INTERFACE ${SUNDIALS_INCLUDE_DIR})
  target_link_libraries(Sundials::arkode INTERFACE ${SUNDIALS_ARKODE_LIBRARY} ${SUNDIALS_NVECSERIAL_LIBRARY})
endif()
