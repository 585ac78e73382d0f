# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # names of lib.sh, and of those who source this
# The pinned source of ggml and libllama; source it after lib.sh.

release=llama-0.5.0
pinned=$repo_dir/cmake/pinned
requirement=$pinned/requirements.txt

# Unpacks the part of the source package that the build needs into work_dir/llama.cpp.
get_source() {
  say "getting the source of ggml and libllama (77 MB)"
  supervise pip_download "$work_dir" --no-build-isolation --no-binary :all: --requirement "$requirement" ||
    explain "getting the source of ggml and libllama"
  mkdir "$work_dir/llama.cpp"
  supervise tar -xzf "$work_dir"/*.tar.gz -C "$work_dir/llama.cpp" --strip-components=3 --wildcards \
    '*/vendor/llama.cpp/CMakeLists.txt' '*/vendor/llama.cpp/LICENSE' '*/vendor/llama.cpp/licenses' \
    '*/vendor/llama.cpp/'{cmake,common,ggml,include,src,vendor}'/*' >>"$log" 2>&1 ||
    explain "unpacking the source of ggml and libllama"
}
