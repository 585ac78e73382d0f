# Installs the build into a fresh prefix, builds the examples against it as a project of its own, and runs them.
# -DBUILD_DIR= -DSOURCE_DIR= -DWORK_DIR= -DMODEL= -DCC= -DCXX= -DSANITIZE=
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "'${ARGN}' ended with ${status}:\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)

# Everything of include/vase and nothing else; no flags of this project's own for its users.
file(GLOB_RECURSE installed RELATIVE ${WORK_DIR}/prefix/include ${WORK_DIR}/prefix/include/*)
file(GLOB_RECURSE headers RELATIVE ${SOURCE_DIR}/include ${SOURCE_DIR}/include/*.h)
if(NOT installed STREQUAL headers)
  message(FATAL_ERROR "installed headers: ${installed}\nheaders of the tree: ${headers}")
endif()
file(GLOB_RECURSE targets ${WORK_DIR}/prefix/*/vase-targets*.cmake)
foreach(file ${targets})
  file(READ ${file} text)
  if(text MATCHES "COMPILE_OPTIONS|-Wall|fsanitize|ggml|llama")
    message(FATAL_ERROR "${file} hands '${CMAKE_MATCH_0}' on to its users")
  endif()
endforeach()
run(${WORK_DIR}/prefix/bin/vase --version)

set(flags)
if(SANITIZE)
  set(flags -DCMAKE_C_FLAGS=-fsanitize=${SANITIZE} -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR}/examples -B ${WORK_DIR}/build -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Release ${flags})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
foreach(example generate own_scorer c_stream)
  run(${WORK_DIR}/build/example_${example} ${MODEL} "a question")
endforeach()
