# What `cmake --install` puts in place: the library with its headers and CMake package, the program, licence and docs.
# libvase carries ggml and libllama (src/CMakeLists.txt), so a consumer needs none of the build's dependencies.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vase)

install(TARGETS vase_shared EXPORT vase
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(VASE_BUILD_CLI)
  install(TARGETS vase RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/vase DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The licences of what libvase and the program carry ask for it.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT vase NAMESPACE vase:: FILE vase-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/vase-config.cmake.in ${PROJECT_BINARY_DIR}/vase-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 every minor version may break its users (docs/versioning.md).
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vase-config-version.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/vase-config.cmake ${PROJECT_BINARY_DIR}/vase-config-version.cmake
        DESTINATION ${package_dir})
