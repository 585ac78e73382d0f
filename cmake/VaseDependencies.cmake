# Everything that is not ours. ggml, libllama and the Jinja engine come from the pinned tree that
# scripts/setup builds (CMAKE_PREFIX_PATH points at it) or from a fitting installed package.
find_package(Threads REQUIRED)
find_package(ggml REQUIRED)
find_package(llama REQUIRED)
find_package(llama-jinja REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
if(VASE_BUILD_CLI)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
endif()

add_library(random123 INTERFACE)
target_include_directories(random123 SYSTEM INTERFACE ${RANDOM123_INCLUDE_DIR})

if(VASE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(VASE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
