# The serial C library of HDF5, as the target Hdf5C::hdf5. CMake's own FindHDF5 takes whichever variant, also MPI's, the
# compiler wrapper names.
find_path(HDF5C_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5C_LIBRARY NAMES hdf5_serial hdf5)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hdf5C REQUIRED_VARS HDF5C_LIBRARY HDF5C_INCLUDE_DIR)
if(Hdf5C_FOUND AND NOT TARGET Hdf5C::hdf5)
  add_library(Hdf5C::hdf5 INTERFACE IMPORTED)
  target_include_directories(Hdf5C::hdf5 SYSTEM INTERFACE ${HDF5C_INCLUDE_DIR})
  target_link_libraries(Hdf5C::hdf5 INTERFACE ${HDF5C_LIBRARY})
endif()
