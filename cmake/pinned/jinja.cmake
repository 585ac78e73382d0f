# The Jinja engine of the tree's common/ folder, which upstream does not install, as its own package.
include(GNUInstallDirs)
set(common ${VASE_PINNED_SOURCE}/common)
set(jinja_include ${CMAKE_INSTALL_INCLUDEDIR}/llama-jinja)

file(GLOB jinja_sources ${common}/jinja/*.cpp)
add_library(llama-jinja STATIC ${jinja_sources} ${common}/json.cpp ${common}/unicode.cpp)
# The engine's folder must not be on the path itself: it has a string.h.
target_include_directories(llama-jinja PUBLIC $<BUILD_INTERFACE:${common}> $<INSTALL_INTERFACE:${jinja_include}>
                                       PRIVATE ${VASE_PINNED_SOURCE}/vendor)
target_compile_features(llama-jinja PUBLIC cxx_std_17)
target_link_libraries(llama-jinja PRIVATE $<BUILD_INTERFACE:ggml-base> $<INSTALL_INTERFACE:ggml::ggml-base>)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/llama-jinja)
install(TARGETS llama-jinja EXPORT llama-jinja ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT llama-jinja NAMESPACE llama-jinja:: FILE llama-jinja-targets.cmake DESTINATION ${package_dir})
install(FILES llama-jinja-config.cmake DESTINATION ${package_dir})
install(FILES ${common}/json.h ${common}/unicode.h DESTINATION ${jinja_include})
install(DIRECTORY ${common}/jinja DESTINATION ${jinja_include} FILES_MATCHING PATTERN "*.h")
