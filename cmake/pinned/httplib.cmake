# cpp-httplib of the tree's vendor/ folder, which upstream does not install, as its own package. Without TLS.
set(httplib ${VASE_PINNED_SOURCE}/vendor/cpp-httplib)
set(httplib_include ${CMAKE_INSTALL_INCLUDEDIR}/llama-httplib)

find_package(Threads REQUIRED)
add_library(llama-httplib STATIC ${httplib}/httplib.cpp)
target_include_directories(llama-httplib PUBLIC $<BUILD_INTERFACE:${httplib}> $<INSTALL_INTERFACE:${httplib_include}>)
target_compile_features(llama-httplib PUBLIC cxx_std_17)
target_compile_definitions(llama-httplib PUBLIC CPPHTTPLIB_TCP_NODELAY=1)
target_link_libraries(llama-httplib PUBLIC Threads::Threads)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/llama-httplib)
install(TARGETS llama-httplib EXPORT llama-httplib ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT llama-httplib NAMESPACE llama-httplib:: FILE llama-httplib-targets.cmake DESTINATION ${package_dir})
install(FILES llama-httplib-config.cmake DESTINATION ${package_dir})
install(FILES ${httplib}/httplib.h DESTINATION ${httplib_include})
