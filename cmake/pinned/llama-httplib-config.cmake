# llama-httplib::llama-httplib: HTTP client and server; the header is <httplib.h>.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/llama-httplib-targets.cmake)
