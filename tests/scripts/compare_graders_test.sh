#!/usr/bin/env bash
# compare_graders_test.sh SOURCE_DIR WORK_DIR VASE DATA_DIR: this grader and math-verify differ on no pair that has not been
# judged. math-verify is fetched by pip once, into WORK_DIR. Ends with 77, "skipped", where pip or the package index is
# missing, or the problems of DATA_DIR.
index=${PIP_INDEX_URL-} config=${PIP_CONFIG_FILE-}
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"
work=$2 vase=$3 data=$4

# The harness keeps other tests away from the package index; this one needs it.
unset PIP_NO_INDEX PIP_FIND_LINKS PIP_CONFIG_FILE
if [[ -n $index ]]; then export PIP_INDEX_URL=$index; fi
if [[ -n $config ]]; then export PIP_CONFIG_FILE=$config; fi
export VASE_CACHE=$work/cache

mkdir -p "$tree/build/cli" "$tree/tests/eval"
ln -s "$vase" "$tree/build/cli/vase"
cp -r "$source_dir/tests/eval/grading" "$tree/tests/eval/grading"
printf '#!/bin/sh\nexit 0\n' >"$tree/scripts/build"
compare=$tree/scripts/compare-graders

refuses_what_is_not_there() {
  run "$compare" "$scratch/nowhere.jsonl"
  expect_status 2
  expect_error 'nowhere.jsonl'
}

finds_nothing_that_is_not_judged() {
  run "$compare" "$data"/math500.jsonl "$data"/hmmt.jsonl "$data"/aime2?.jsonl
  if [[ $status != 0 ]]; then fail "the graders differ: $(grep -v '(.*) right: ' "$scratch/out")$(cat "$scratch/err")"; fi
  local pairs
  pairs=$(wc -l <"$tree/build/compare-graders/pairs.jsonl")
  ((pairs >= 500)) || fail "only $pairs pairs"
}

tells_of_what_is_not_judged() {
  printf '{"given": "0.5", "expected": "1/2", "own": false, "right": "either", "why": "made up"}\n' \
    >"$tree/tests/eval/grading/judged.jsonl"
  printf '{"given": "0.5", "expected": "1/2", "same": true}\n' >"$tree/tests/eval/grading/pairs.jsonl"
  run "$compare"
  expect_status 1
  grep -q 'judged, but they agree now' "$scratch/out" || fail "no word of a judgement that is out of date: $(cat "$scratch/out")"
}

if [[ ! -r $data/math500.jsonl ]]; then
  echo "skipped: there is no $data/math500.jsonl"
  exit 77
fi
refuses_what_is_not_there
run "$tree/scripts/fetch-math-verify"
if grep -q 'package index cannot be reached\|No module named pip' "$scratch/err"; then
  echo "skipped: pip cannot fetch math-verify"
  exit 77
fi
expect_status 0
finds_nothing_that_is_not_judged
tells_of_what_is_not_judged
