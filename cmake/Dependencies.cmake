# What the library and the program are built with; packages.txt names the Debian packages. Tests find their own.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenBlas REQUIRED)
find_package(Sundials REQUIRED)
find_package(Hdf5C REQUIRED)
find_package(Pcre2 REQUIRED)
