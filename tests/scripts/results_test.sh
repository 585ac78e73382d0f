#!/usr/bin/env bash
# scripts/results without matplotlib: what `measure` records and what `tables` writes, and what they say when that fails.
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"
# shellcheck source=tests/scripts/results_tree.sh
source "$(dirname "$0")/results_tree.sh"

script=$tree/scripts/results
work=$VASE_CACHE/results

lists_the_runs() {
  run "$script"
  expect_status 0
  grep -q '^  gsm8k-64-parity  *8 min  not measured$' "$scratch/out" || fail "not listed: $(cat "$scratch/out")"
}

refuses_wrong_usage() {
  run "$script" draw
  expect_status 2
  expect_error "unknown verb 'draw'"
  run "$script" measure gsm8k-100 nowhere
  expect_status 2
  expect_error "no run is named 'nowhere'"
  run "$script" measure --twice
  expect_status 2
  run "$script" measure --data
  expect_status 2
  expect_error '--data needs a value'
  run "$script" page gsm8k-100
  expect_status 2
  run "$script" tables
  expect_status 1
  expect_error 'holds no results; make them: scripts/results measure'
}

needs_the_data_sets() {
  VASE_DATA='' run "$script" measure gsm8k-100
  expect_status 1
  expect_said 'give their folder: --data FOLDER'
  run "$script" measure --data "$scratch" gsm8k-100
  expect_status 1
  expect_said "$scratch/gsm8k.jsonl is missing"
  run "$script" measure gsm8k-100-llama
  expect_status 1
  expect_said 'first: scripts/results measure --again gsm8k-100-greedy'
  [[ -z $(find "$results" -name '*.json') ]] || fail "something was recorded: $(ls "$results")"
}

# The record has the command as a person would type it and a few fields of each text, by id; no text, no path.
records_without_texts() {
  run "$script" measure gsm8k-64-parity
  expect_status 0
  expect_said '\[1/1\] gsm8k-64-parity, about 8 min'
  python3 - "$results/gsm8k-64-parity.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["command"].startswith('vase eval run --model "$(scripts/fetch-model tiny)" --task gsm8k=DATA/gsm8k.jsonl'), run["command"]
assert "'snapkv order=score'" in run["command"], run["command"]
assert run["date"] == "2026-01-02" and run["build"] == "0.1.0 (test)", run
assert [(one["policy"], one["run"]) for one in run["groups"]] == [
    ("full", 0), ("snapkv order=score", 0), ("snapkv order=score", 1), ("random", 0), ("random", 1)], run["groups"]
assert run["groups"][0]["items"] == [
    ["p-0", 1, "eos", "ok", 100, 1048576], ["p-1", 1, "eos", "ok", 101, 1048576], ["p-2", 1, "eos", "ok", 102, 1048576],
    ["p-3", 0, "eos", "loop", 103, 1048576]], run["groups"][0]
assert run["rows"][0]["folder"] == "gsm8k-64-parity", run["rows"][0]
PY
  if grep -q "SECRET\|$scratch" "$results/gsm8k-64-parity.json"; then fail "a text or a path was recorded"; fi
  expect_whole
}

skips_what_is_recorded() {
  echo kept >"$results/gsm8k-64-parity.json"
  run "$script" measure 'gsm8k-64-*'
  expect_status 0
  expect_said 'gsm8k-64-parity is recorded already'
  [[ $(cat "$results/gsm8k-64-parity.json") == kept ]] || fail "a recorded run was measured again"
  [[ -e $results/gsm8k-64-default.json && -e $results/gsm8k-64-greedy.json ]] || fail "a missing run was not measured"
  run "$script" measure --again gsm8k-64-parity
  grep -q '"rows"' "$results/gsm8k-64-parity.json" || fail "--again did not record"
}

records_nothing_unfinished() {
  FAKE_EVAL_CUT=yes run "$script" measure gsm8k-100-greedy
  expect_status 1
  expect_said 'holds 3 of 4 texts'
  expect_error 'not measured: gsm8k-100-greedy'
  [[ ! -e $results/gsm8k-100-greedy.json ]] || fail "half a run was recorded"
}

goes_on_after_a_failure() {
  FAKE_EVAL_FAIL=96 run "$script" measure gsm8k-100 gsm8k-100-greedy
  expect_status 1
  expect_error 'not measured: gsm8k-100;'
  [[ ! -e $results/gsm8k-100.json && -e $results/gsm8k-100-greedy.json ]] || fail "recorded: $(ls "$results")"
  run "$script" measure gsm8k-100 gsm8k-100-ggml gsm8k-100-llama
  expect_status 0
}

# refuses_parts_of CODE: the folder of kl-coder-1.5b after the code has changed its config.json.
refuses_parts_of() {
  cp "$work/kl-coder-1.5b/config.json" "$scratch/config"
  python3 - "$work/kl-coder-1.5b/config.json" "$1" <<'PY'
import json, sys
path, code = sys.argv[1:]
config = json.load(open(path))
exec(code)
json.dump(config, open(path, "w"))
PY
  run "$script" measure --again kl-coder-1.5b
  expect_status 1
  expect_said "$work/kl-coder-1.5b holds parts of another run (not the same: texts); remove that folder and measure again"
  mv "$scratch/config" "$work/kl-coder-1.5b/config.json"
}

parts_stay_with_their_texts() {
  local texts=$work/gsm8k-100-greedy/results.jsonl
  cp "$texts" "$scratch/texts"
  sed 1q "$scratch/texts" >>"$texts"
  run "$script" measure --again kl-coder-1.5b
  expect_status 1
  expect_said 'holds parts of another run (not the same: texts)'
  cp "$scratch/texts" "$texts"
  refuses_parts_of 'del config["texts"]'
  refuses_parts_of 'config["texts"] = ["0" * 64]'
  FAKE_EVAL_LOG=$scratch/again run "$script" measure --again kl-coder-1.5b
  expect_status 0
  if grep -q '^eval kl' "$scratch/again"; then fail "measured again: $(cat "$scratch/again")"; fi
}

# With parts of one policy: the third fails, and is all that is measured the next time.
goes_on_with_divergences() {
  sed -i 's/^POLICIES = 6/POLICIES = 1/' "$tree/scripts/results_page/kl_parts.py"
  FAKE_EVAL_FAIL=vase-attnv run "$script" measure kl-coder-1.5b
  expect_status 1
  [[ ! -e $results/kl-coder-1.5b.json && -e $work/kl-coder-1.5b/part-001.json ]] || fail "kept: $(ls "$work/kl-coder-1.5b")"
  FAKE_EVAL_LOG=$scratch/calls run "$script" measure kl-coder-1.5b
  expect_status 0
  [[ $(grep -c '^eval kl' "$scratch/calls") == 1 ]] || fail "measured again: $(cat "$scratch/calls")"
  python3 - "$results/kl-coder-1.5b.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert [(row["policy"], row["budget"]) for row in run["rows"]] == [
    (policy, budget) for policy in ("random", "snapkv", "vase-attnv") for budget in (64, 128)], run["rows"]
assert run["groups"][0]["items"] == [["p-0", 50, 0.4, 0.9], ["p-1", 50, 0.4, 0.9]], run["groups"][0]
assert len(run["groups"]) == 6 and len(run["noise_floors"]) == 1
PY
  parts_stay_with_their_texts
  sed -i 's/--kv-budget 64 --kv-budget 128$/--kv-budget 64/' "$results/runs.txt"
  run "$script" measure --again kl-coder-1.5b
  expect_status 1
  expect_said 'holds parts of another run'
  sed -i 's/PRESETS --kv-budget 64$/PRESETS --kv-budget 64 --kv-budget 128/' "$results/runs.txt"
  expect_whole
}

expect_row() { grep -qF "$1" "$page" || fail "no row '$1': $(cat "$page")"; }

# Of four problems three are right with the full cache, two with SnapKV: 50 ± 28.9, 25 points less. Wilson's interval of 2 of 4
# is 15.0 to 85.0, of none 0 to 49.0, so that random's 25 is inside. Against random SnapKV wins one problem of four: 25 ± 79.6,
# 3.18 standard errors.
fills_the_tables() {
  run "$script" tables
  expect_status 0
  expect_row '| SnapKV | 50.0 [15.0, 85.0] | 50.0 ± 28.9 | yes | -25.0 [-50.0, +0.0] | 50.0 ± 28.9 | -25.0 [-50.0, +0.0] |'
  expect_row '| random | 0.0 [0.0, 49.0] | 25.0 ± 25.0 | yes |'
  expect_row 'over 3 rows: 1.00. Furthest apart: random, +25.0 points. Outside of the authors'"'"' interval: none.'
  expect_row 'order: full 75.0, attention 50.0, chance 25.0; parity has the same order.'
  expect_row '| here | here, products of ggml | 4 | 3 | 3 | 3 | 0 | 0 | - |'
  expect_row '| here | libllama | 4 | 3 | 3 | 3 | 0 | 0 | 3 |'
  expect_row '| here, products of ggml | libllama | 4 | 3 | 3 | 3 | 0 | 0 | - |'
  expect_row '| snapkv | 96 | 50.0 ± 28.9 | -25.0 [-50.0, +0.0] | 1 | +25.0 [-54.6, +104.6] | 50.0 | 0.0 | 25.0 | 102 | 0.75 | 1.00 |'
  expect_row '| random | 400.0 ± 40.0 | 200.0 ± 20.0 |'
  expect_row 'Noise floor: 3.0; what lies below it is marked (*). 2 texts.'
  expect_row '| random | 200.0 ± 20.0 | 25.0 ± 25.0 |'
  expect_row 'Rank correlation: 1.00.'
  expect_row '[gsm8k-100-llama](../eval/results/gsm8k-100-llama.json) | 2026-01-02 |'
  cp "$page" "$scratch/page"
  run "$script" tables
  cmp "$page" "$scratch/page"
  expect_whole
}

names_what_is_missing() {
  mv "$results/gsm8k-100.json" "$scratch/gsm8k-100.json"
  run "$script" tables
  expect_status 0
  # shellcheck disable=SC2016
  expect_row 'Not measured yet: `scripts/results measure gsm8k-100`'
  mv "$scratch/gsm8k-100.json" "$results/gsm8k-100.json"
}

# refuses_results CODE MESSAGE: a recorded run that is changed by the code is an error, and the page stays.
refuses_results() {
  cp "$page" "$scratch/page"
  cp "$results/gsm8k-100.json" "$scratch/run"
  spoil gsm8k-100 "$1"
  run "$script" tables
  expect_status 1
  expect_error "gsm8k-100.json.*$2.*scripts/results measure --again gsm8k-100"
  cmp "$page" "$scratch/page"
  expect_whole
  mv "$scratch/run" "$results/gsm8k-100.json"
}

refuses_bad_results() {
  refuses_results 'del run["rows"][1]["pass_at_1"]' "no field 'pass_at_1'"
  refuses_results 'run["rows"][1]["pass_at_1"] = "all"' "field 'pass_at_1' is \"all\", not a number"
  refuses_results 'del run["groups"]' "field 'groups'"
  refuses_results 'run = 1' 'no object'
  echo '50 | SnapKV' >>"$results/authors.txt"
  run "$script" tables
  expect_status 1
  expect_error 'authors.txt: not PERCENT'
}

PYTHONPATH=$tree/scripts/results_page:$tree/scripts/pages PYTHONDONTWRITEBYTECODE=1 \
  python3 "$source_dir/tests/scripts/results_page_test.py" "$source_dir/eval/results"
lists_the_runs
refuses_wrong_usage
needs_the_data_sets
records_without_texts
skips_what_is_recorded
records_nothing_unfinished
goes_on_after_a_failure
goes_on_with_divergences
fills_the_tables
names_what_is_missing
refuses_bad_results
