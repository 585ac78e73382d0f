# llama-jinja::llama-jinja: the chat-template engine; headers are reached as "jinja/runtime.h".
include(CMakeFindDependencyMacro)
find_dependency(ggml)
include(${CMAKE_CURRENT_LIST_DIR}/llama-jinja-targets.cmake)
