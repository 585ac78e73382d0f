#!/usr/bin/env bash
# scripts/performance without matplotlib: what `measure` records and what `tables` writes, and what they say when that fails.
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"
# shellcheck source=tests/scripts/performance_tree.sh
source "$(dirname "$0")/performance_tree.sh"

lists_the_runs() {
  run "$performance"
  expect_status 0
  grep -q '^  depth-4b-a  *5 min  not measured$' "$scratch/out" || fail "not listed: $(cat "$scratch/out")"
}

refuses_wrong_usage() {
  run "$performance" draw
  expect_status 2
  expect_error "unknown verb 'draw'"
  run "$performance" measure depth-4b-a nowhere
  expect_status 2
  expect_error "no run is named 'nowhere'"
  expect_said '^  depth-4b-a '
  run "$performance" measure --twice
  expect_status 2
  run "$performance" plot depth-4b
  expect_status 2
}

refuses_an_empty_folder() {
  cp "$page" "$scratch/page"
  run "$performance" tables
  expect_status 1
  expect_error 'holds no results; make them: scripts/performance measure'
  cmp "$page" "$scratch/page"
}

measures_by_name() {
  run "$performance" measure 'stall-*'
  expect_status 0
  expect_said '\[1/1\] stall-b, about 1 min'
  [[ ! -e $results/depth-4b-a.json ]] || fail "a run was measured that nobody asked for"
  python3 - "$results/stall-b.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["command"] == ('vase bench --model "$(scripts/fetch-model tiny)" --depth 4096 --tokens 64 --policy vase-attnv '
                          "--kv-budget 1024"), run["command"]
assert run["incomplete"] is False and len(run["rows"]) == 1
PY
  expect_whole
}

measures_what_is_missing() {
  echo kept >"$results/stall-b.json"
  run "$performance" measure
  expect_status 0
  expect_said '\[2/2\] stall-b is recorded already'
  [[ $(cat "$results/stall-b.json") == kept ]] || fail "a recorded run was measured again"
  [[ -e $results/depth-4b-a.json ]] || fail "the missing run was not measured"
  run "$performance" measure --again stall-b
  expect_status 0
  grep -q '"rows"' "$results/stall-b.json" || fail "--again did not measure"
}

goes_on_after_a_failure() {
  rm "$results"/*.json
  cat >"$tree/build/cli/vase" <<'SH'
#!/bin/sh
case "$*" in *qwen3-4b*) echo 'error: --depth 8192 takes too much memory' >&2; exit 1 ;; esac
SH
  cat "$source_dir/tests/scripts/fake_vase.py" >"$scratch/answer.py"
  echo "exec python3 '$scratch/answer.py' \"\$@\"" >>"$tree/build/cli/vase"
  run "$performance" measure
  expect_status 1
  expect_said 'takes too much memory'
  expect_error 'not measured: depth-4b-a'
  [[ ! -e $results/depth-4b-a.json && -e $results/stall-b.json ]] || fail "recorded: $(ls "$results")"
  answering_vase
  expect_whole
}

keeps_nothing_of_an_interrupted_run() {
  printf '#!/bin/sh\ntouch "%s"\nexec sleep 60\n' "$scratch/started" >"$tree/build/cli/vase"
  "$performance" measure depth-4b-a >/dev/null 2>"$scratch/err" &
  local pid=$!
  background+=("$pid")
  wait_for test -e "$scratch/started"
  kill -TERM "$pid"
  status=0
  wait "$pid" || status=$?
  expect_status 130
  [[ ! -e $results/depth-4b-a.json ]] || fail "an interrupted run was recorded"
  answering_vase
  expect_whole
}

# A step reads 2.4 GB of weights and 147,456 bytes per slot at 25 GB/s: 25e9 / (2.4e9 + 8256 x 147456) = 6.9 tokens/s with
# the full cache after 8192 + 64 tokens, 9.2 with 2048 + 64 slots.
fills_the_tables() {
  run "$performance" measure
  run "$performance" tables
  expect_status 0
  grep -q '^| 8,192 | 1.09 | 3.21 | 6.91 (2.16x) | 9.22 (2.88x) |$' "$page" || fail "no such row: $(cat "$page")"
  grep -q '^| vase-attnv 2048 | about 3,000 tokens | every depth measured |$' "$page" || fail "no crossing: $(cat "$page")"
  grep -q '^Not measured yet' "$page" && fail "all runs of the list are there: $(cat "$page")"
  grep -qF "[stall-b](../bench/results/stall-b.json) | 2026-01-02 | Test Processor" "$page" || fail "no run: $(cat "$page")"
  cp "$page" "$scratch/page"
  run "$performance" tables
  cmp "$page" "$scratch/page"
  expect_whole
}

names_what_is_missing() {
  rm "$results/stall-b.json"
  run "$performance" tables
  expect_status 0
  # shellcheck disable=SC2016
  grep -q '^Not measured yet: `scripts/performance measure stall-b`$' "$page" || fail "not said: $(cat "$page")"
}

# refuses_results CODE MESSAGE: a recorded run that is changed by the code is an error, and the page stays.
refuses_results() {
  cp "$page" "$scratch/page"
  cp "$results/depth-4b-a.json" "$scratch/run"
  spoil depth-4b-a "$1"
  run "$performance" tables
  expect_status 1
  expect_error "depth-4b-a.json.*$2.*scripts/performance measure --again depth-4b-a"
  cmp "$page" "$scratch/page"
  expect_whole
  mv "$scratch/run" "$results/depth-4b-a.json"
}

refuses_bad_results() {
  refuses_results 'del run["rows"][1]["tokens_per_s"]' "no field 'tokens_per_s'"
  refuses_results 'run["rows"][1]["depth"] = "deep"' "field 'depth' is \"deep\", not a number"
  refuses_results 'del run["command"]' "field 'command'"
  refuses_results 'run["incomplete"] = True' 'interrupted'
  refuses_results 'run["rows"] = []' 'no rows'
  refuses_results 'run = []' 'no object'
  head -c 1000 "$results/depth-4b-a.json" >"$scratch/half"
  mv "$scratch/half" "$results/depth-4b-a.json"
  run "$performance" tables
  expect_status 1
  expect_error 'depth-4b-a.json is not JSON'
  cmp "$page" "$scratch/page"
}

tells_unknown_files_and_lost_markers() {
  run "$performance" measure --again depth-4b-a
  echo '{' >"$results/mine.json"
  run "$performance" tables
  expect_status 0
  expect_said 'mine.json is left out'
  sed -i '/begin memory/d' "$page"
  run "$performance" tables
  expect_status 1
  expect_error 'begin memory'
}

PYTHONPATH=$tree/scripts/performance_page:$tree/scripts/pages PYTHONDONTWRITEBYTECODE=1 \
  python3 "$source_dir/tests/scripts/performance_page_test.py" "$source_dir/bench/results"
lists_the_runs
refuses_wrong_usage
refuses_an_empty_folder
measures_by_name
measures_what_is_missing
goes_on_after_a_failure
keeps_nothing_of_an_interrupted_run
fills_the_tables
names_what_is_missing
refuses_bad_results
tells_unknown_files_and_lost_markers
