# Compile options shared by every target of this project; third-party code never sees them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The shared library offers what include/vase/export.h marks, and nothing else.
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(vase_options INTERFACE)
# -ffp-contract=off: the same source gives the same bits under GCC and Clang, -O0 and -O3.
# Kernels that want a fused multiply-add ask for it by name. Never -ffast-math: it breaks NaN and -inf.
target_compile_options(vase_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers -ffp-contract=off)
if(VASE_SANITIZE)
  target_compile_options(vase_options INTERFACE -fsanitize=${VASE_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(vase_options INTERFACE -fsanitize=${VASE_SANITIZE})
endif()
if(VASE_BUILD_FUZZ)
  target_compile_options(vase_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# vase_library(<name> SOURCES ... [PUBLIC ...] [PRIVATE ...]): one static library per folder of src/.
# Headers are reached as "folder/file.h"; the target also gets the public headers of include/.
function(vase_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(vase_${name} STATIC ${ARG_SOURCES})
  target_include_directories(vase_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(vase_${name} PUBLIC ${ARG_PUBLIC} PRIVATE vase_options ${ARG_PRIVATE})
endfunction()

# vase_test(<name> SOURCES ... LIBS ... [LABELS ...] [THREADS n]): one GoogleTest program. Without LABELS it is a fast
# test. THREADS: how many it keeps busy, so that ctest does not run another one beside it.
function(vase_test name)
  cmake_parse_arguments(ARG "" "THREADS" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE vase_options ${ARG_LIBS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  if(ARG_THREADS)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${ARG_THREADS})
  endif()
  if("threads" IN_LIST ARG_LABELS)
    add_dependencies(threads_tests ${name})
  endif()
endfunction()

# All that the tests labelled `threads` need.
add_custom_target(threads_tests)
