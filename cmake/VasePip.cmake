# For `pip install .`, before project(): the libraries and the compilers of scripts/setup. They go together, since a
# library that one compiler built with OpenMP does not link with another.
set(VASE_PREFIX "" CACHE PATH "Where ggml and libllama are installed; empty: where scripts/setup has put them")
if(NOT VASE_PREFIX)
  execute_process(COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/scripts/setup --find
                  RESULT_VARIABLE status OUTPUT_VARIABLE found ERROR_VARIABLE reason OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${reason}")
  endif()
  string(REPLACE "\n" ";" found "${found}")
  list(POP_FRONT found VASE_PREFIX CMAKE_C_COMPILER CMAKE_CXX_COMPILER)
endif()
list(APPEND CMAKE_PREFIX_PATH ${VASE_PREFIX})
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
