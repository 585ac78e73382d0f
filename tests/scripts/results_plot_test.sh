#!/usr/bin/env bash
# results_plot_test.sh SOURCE_DIR WORK_DIR: the pictures of scripts/results. matplotlib is fetched by pip once, into WORK_DIR.
# Ends with 77, "skipped", where pip or the package index is missing.
index=${PIP_INDEX_URL-} config=${PIP_CONFIG_FILE-}
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"
# shellcheck source=tests/scripts/results_tree.sh
source "$(dirname "$0")/results_tree.sh"

allow_package_index "$index" "$config"
export VASE_CACHE=$2/cache
script=$tree/scripts/results
pictures=$tree/docs/results

draws_what_was_measured() {
  local name
  for name in authors gsm8k kl-coder-1.5b; do
    is_picture "$pictures/$name.svg"
    grep -qF "](results/$name.svg)" "$page" || fail "the picture $name is not in the page: $(cat "$page")"
  done
  is_picture "$tree/docs/answers-per-megabyte/mb-coder-r16.svg"
  grep -qF "](answers-per-megabyte/mb-coder-r16.svg)" "$study_page" || fail "the study's picture is not in its page: $(cat "$study_page")"
  [[ ! -e $pictures/peer.svg ]] || fail "a table without a picture has one"
  expect_whole
}

draws_the_same_again() {
  cp -r "$pictures" "$scratch/first"
  run "$script" page
  expect_status 0
  diff -r "$pictures" "$scratch/first" >/dev/null || fail "other pictures from the same results"
}

leaves_out_what_is_missing() {
  rm "$results/gsm8k-100.json"
  run "$script" page
  expect_status 0
  expect_said 'gsm8k: left out; to make it: scripts/results measure gsm8k-100'
  [[ ! -e $pictures/gsm8k.svg ]] || fail "a picture without its run stayed"
  is_picture "$pictures/authors.svg"
}

changes_nothing_for_bad_results() {
  cp -r "$tree/docs" "$scratch/docs"
  spoil kl-coder-1.5b 'del run["rows"][0]["kl_error"]'
  run "$script" page
  expect_status 1
  expect_error "kl-coder-1.5b.json.*no field 'kl_error'"
  diff -r "$tree/docs" "$scratch/docs" >/dev/null || fail "the page or a picture was changed"
}

run "$script" measure --work "$scratch/work"
expect_status 0
run "$script" page
if grep -q 'package index cannot be reached\|No module named pip' "$scratch/err"; then
  echo "skipped: pip cannot fetch matplotlib"
  exit 77
fi
expect_status 0
draws_what_was_measured
draws_the_same_again
leaves_out_what_is_missing
changes_nothing_for_bad_results
