#!/usr/bin/env bash
# performance_plot_test.sh SOURCE_DIR WORK_DIR: the pictures of scripts/performance. matplotlib is fetched by pip once, into
# WORK_DIR. Ends with 77, "skipped", where pip or the package index is missing.
index=${PIP_INDEX_URL-} config=${PIP_CONFIG_FILE-}
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"
# shellcheck source=tests/scripts/performance_tree.sh
source "$(dirname "$0")/performance_tree.sh"

allow_package_index "$index" "$config"
export VASE_CACHE=$2/cache
pictures=$tree/docs/performance

draws_what_was_measured() {
  run "$performance" plot
  expect_status 0
  is_picture "$pictures/depth-4b.svg"
  is_picture "$pictures/limit.svg"
  is_picture "$pictures/stall.svg"
  # shellcheck disable=SC2016
  grep -qF '](performance/depth-4b.svg)' "$page" || fail "the picture is not in the page: $(cat "$page")"
  expect_whole
}

draws_the_same_again() {
  cp -r "$pictures" "$scratch/first"
  run "$performance" plot
  expect_status 0
  diff -r "$pictures" "$scratch/first" >/dev/null || fail "other pictures from the same results"
}

leaves_out_what_is_missing() {
  rm "$results/stall-b.json"
  run "$performance" plot
  expect_status 0
  expect_said 'stall: left out; to make it: scripts/performance measure stall-b'
  [[ ! -e $pictures/stall.svg ]] || fail "a picture without its run stayed"
  grep -q 'performance/stall.svg' "$page" && fail "the page shows a picture that is not there"
  is_picture "$pictures/depth-4b.svg"
}

changes_nothing_for_bad_results() {
  cp -r "$tree/docs" "$scratch/docs"
  spoil depth-4b-a 'del run["rows"][-1]["limit_fraction_low"]'
  run "$performance" plot
  expect_status 1
  expect_error "depth-4b-a.json.*no field 'limit_fraction_low'"
  diff -r "$tree/docs" "$scratch/docs" >/dev/null || fail "the page or a picture was changed"
  echo '{' >"$results/depth-4b-a.json"
  run "$performance" plot
  expect_status 1
  expect_error 'depth-4b-a.json is not JSON'
  rm "$results/depth-4b-a.json"
  run "$performance" plot
  expect_status 1
  expect_error 'holds no results'
  diff -r "$tree/docs" "$scratch/docs" >/dev/null || fail "the page or a picture was changed"
  expect_whole
}

# Every figure of the real list, with every kind of run.
draws_every_figure() {
  cp "$source_dir/bench/results/runs.txt" "$results/runs.txt"
  "$performance" measure >/dev/null 2>&1
  run "$performance" plot
  expect_status 0
  local name
  for name in depth-4b depth-0.6b flat products memory batch chunks short limit prediction stall largest-batch; do
    is_picture "$pictures/$name.svg"
  done
  grep -q 'Not measured yet' "$page" && fail "runs are missing: $(grep 'Not measured yet' "$page")"
  expect_whole
}

run "$performance" measure
run "$performance" plot
if grep -q 'package index cannot be reached\|No module named pip' "$scratch/err"; then
  echo "skipped: pip cannot fetch matplotlib"
  exit 77
fi
draws_what_was_measured
draws_the_same_again
leaves_out_what_is_missing
changes_nothing_for_bad_results
draws_every_figure
