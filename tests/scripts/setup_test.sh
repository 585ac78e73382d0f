#!/usr/bin/env bash
# scripts/setup on a source package of a few bytes: what it leaves behind, and what it says.
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"

setup=$tree/scripts/setup
pinned=$tree/cmake/pinned
archive=$links/tiny_source-1.0.tar.gz

# A source package that holds the folders that setup unpacks, and a build backend that must never run.
make_source() {
  local root=$scratch/tiny_source-1.0 part
  for part in cmake common ggml include src vendor licenses; do
    mkdir -p "$root/vendor/llama.cpp/$part"
    touch "$root/vendor/llama.cpp/$part/file"
  done
  touch "$root"/vendor/llama.cpp/{CMakeLists.txt,LICENSE}
  printf 'Metadata-Version: 2.1\nName: tiny_source\nVersion: 1.0\n' >"$root/PKG-INFO"
  printf '[build-system]\nrequires = ["absent"]\nbuild-backend = "scikit_build_core.build"\n' >"$root/pyproject.toml"
  tar -czf "$archive" -C "$scratch" tiny_source-1.0
  echo "tiny_source==1.0 --hash=sha256:$(sha256_of "$archive")" >"$pinned/requirements.txt"
}

# make_recipe BUILD SELFTEST: shell lines in place of the compilation and of the self-test.
make_recipe() {
  cat >"$pinned/build.sh" <<SH
set -e
echo built >>'$scratch/builds'
$1
printf '#!/bin/sh\n%s\n' '$2' >vase-pinned-selftest
chmod +x vase-pinned-selftest
SH
  cat >"$pinned/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(tiny LANGUAGES NONE)
add_custom_target(tiny ALL COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/build.sh)
install(FILES ${VASE_PINNED_SOURCE}/src/file DESTINATION lib)
CMAKE
  rm -f "$scratch/builds"
}

prefixes() { find "$VASE_CACHE" -mindepth 1 -maxdepth 1 -type d; }
expect_no_prefix() { [[ -z $(prefixes) ]] || fail "a prefix was left: $(prefixes)"; }

refuses_a_wrong_package() {
  sed -i 's/--hash=sha256:..../--hash=sha256:0000/' "$pinned/requirements.txt"
  run "$setup"
  expect_status 1
  expect_error 'hash mismatch'
  expect_no_prefix
  expect_no_leftovers
  make_source
}

explains_a_missing_index() {
  PIP_FIND_LINKS=/nowhere run "$setup"
  expect_status 1
  expect_error 'check the network'
  expect_no_prefix
}

shows_why_a_build_failed() {
  make_recipe 'echo this is the reason; false' true
  run "$setup"
  expect_status 1
  expect_said 'this is the reason'
  expect_error 'failed.log'
  expect_no_prefix
  expect_no_leftovers
}

refuses_a_library_that_computes_wrong() {
  make_recipe true 'echo WRONG; exit 1'
  run "$setup"
  expect_status 1
  expect_error 'wrong results'
  expect_no_prefix
  expect_no_leftovers
}

refuses_unknown_arguments() {
  run "$setup" --sanitize memory
  expect_status 2
  run "$setup" --fast
  expect_status 2
  expect_error 'usage'
}

cleans_up_when_interrupted() {
  make_recipe "touch '$scratch/started'; sleep 60" true
  "$setup" >/dev/null 2>"$scratch/err" &
  local pid=$!
  background+=("$pid")
  wait_for test -e "$scratch/started"
  kill -TERM "$pid"
  status=0
  wait "$pid" || status=$?
  expect_status 130
  expect_no_prefix
  expect_no_leftovers
}

builds_once_for_two_at_once() {
  make_recipe "while ! [ -e '$scratch/go' ]; do sleep 0.05; done" true
  "$setup" >"$scratch/first" 2>"$scratch/first_err" &
  background+=("$!")
  wait_for test -e "$scratch/builds"
  "$setup" >"$scratch/second" 2>"$scratch/err" &
  background+=("$!")
  wait_for grep -q "waiting for it" "$scratch/err"
  touch "$scratch/go"
  wait
  cmp "$scratch/first" "$scratch/second"
  [[ -f $(cat "$scratch/first")/lib/file ]] || fail "the prefix is not complete"
  [[ $(wc -l <"$scratch/builds") == 1 ]] || fail "built more than once"
  expect_no_leftovers
}

builds_anew_for_another_recipe() {
  local before
  before=$(cat "$scratch/first")
  run "$setup"
  [[ $(cat "$scratch/out") == "$before" ]] || fail "the same recipe gave another prefix"
  echo '# changed' >>"$pinned/CMakeLists.txt"
  run "$setup"
  expect_status 0
  [[ $(cat "$scratch/out") != "$before" ]] || fail "a changed recipe gave the same prefix"
}

make_source
make_recipe true true
refuses_a_wrong_package
explains_a_missing_index
shows_why_a_build_failed
refuses_a_library_that_computes_wrong
refuses_unknown_arguments
cleans_up_when_interrupted
builds_once_for_two_at_once
builds_anew_for_another_recipe
