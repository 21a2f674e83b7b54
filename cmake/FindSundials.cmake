# SUNDIALS' integrators with serial vectors and GMRES, as the target Sundials::integrators. The package's own CMake files ask
# for MPI, which these libraries do not need.
find_path(SUNDIALS_INCLUDE_DIR arkode/arkode_erkstep.h)
find_library(SUNDIALS_ARKODE_LIBRARY sundials_arkode)
find_library(SUNDIALS_CVODE_LIBRARY sundials_cvode)
find_library(SUNDIALS_SPGMR_LIBRARY sundials_sunlinsolspgmr)
find_library(SUNDIALS_NVECSERIAL_LIBRARY sundials_nvecserial)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Sundials REQUIRED_VARS
  SUNDIALS_ARKODE_LIBRARY SUNDIALS_CVODE_LIBRARY SUNDIALS_SPGMR_LIBRARY SUNDIALS_NVECSERIAL_LIBRARY SUNDIALS_INCLUDE_DIR)
if(Sundials_FOUND AND NOT TARGET Sundials::integrators)
  add_library(Sundials::integrators INTERFACE IMPORTED)
  target_include_directories(Sundials::integrators INTERFACE ${SUNDIALS_INCLUDE_DIR})
  target_link_libraries(Sundials::integrators INTERFACE 
    ${SUNDIALS_ARKODE_LIBRARY} ${SUNDIALS_CVODE_LIBRARY} ${SUNDIALS_SPGMR_LIBRARY} ${SUNDIALS_NVECSERIAL_LIBRARY})
endif()
