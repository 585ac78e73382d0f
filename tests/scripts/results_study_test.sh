#!/usr/bin/env bash
# What scripts/results records of `vase tune` and of texts, and docs/answers-per-megabyte.md, without matplotlib.
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"
# shellcheck source=tests/scripts/results_tree.sh
source "$(dirname "$0")/results_tree.sh"

script=$tree/scripts/results
work=$VASE_CACHE/results

# One of each length of prompt, the lowest number; ids and lengths are recorded, and no word.
joins_texts() {
  run "$script" measure texts-gsm8k-two
  expect_status 0
  python3 - "$work/texts-gsm8k-two/texts.jsonl" "$results/texts-gsm8k-two.json" <<'PY'
import json, sys
texts = [json.loads(line) for line in open(sys.argv[1])]
assert [(one["id"], one["tokens"]) for one in texts] == [("p-1", [7]), ("p-2", [7, 8])], texts
assert texts[0]["prompt"] == "A SECRET PROBLEM Put your final answer within \\boxed{}.", texts
run = json.load(open(sys.argv[2]))
assert run["fields"] == ["text", "prompt_tokens", "tokens"] and run["groups"] == [{"items": [["p-1", 5, 1], ["p-2", 6, 2]]}], run
PY
  if grep -q SECRET "$results/texts-gsm8k-two.json"; then fail "a text was recorded"; fi
}

writes_texts() {
  run "$script" measure texts-written
  expect_status 0
  python3 - "$work/texts-written/texts.jsonl" "$tree/scripts/questions.txt" <<'PY'
import json, sys
texts, questions = ([line for line in open(path).read().splitlines()] for path in sys.argv[1:])
assert [len(json.loads(text)["tokens"]) for text in texts] == [len(question) for question in questions], texts
PY
  grep -q '"vase run --policy full --json --model' "$results/texts-written.json" || fail "no command: $(cat "$results/texts-written.json")"
}

needs_texts_and_rows() {
  run "$script" measure mb-coder-r16-m64-quick
  expect_status 1
  expect_said 'first: scripts/results measure --again texts-gsm8k-two'
  run "$script" measure texts-gsm8k-two
  sed 's/ROWS\/quick$/ROWS\/none/' -i "$results/runs.txt"
  run "$script" measure mb-coder-r16-m64-quick
  expect_status 1
  expect_said "rows.txt has no rows 'none'"
  sed 's/ROWS\/none$/ROWS\/quick/' -i "$results/runs.txt"
  [[ ! -e $results/mb-coder-r16-m64-quick.json ]] || fail "something was recorded"
}

# Two texts by two calls: the second call fails, and only what is missing is measured afterwards.
goes_on_where_it_stopped() {
  FAKE_EVAL_FAIL=vase-dkv-weighted run "$script" measure mb-coder-r16-m64-quick
  expect_status 1
  [[ ! -e $results/mb-coder-r16-m64-quick.json && -e $work/mb-coder-r16-m64-quick/part-000-0.json ]] || fail "kept: $(ls "$work"/mb*)"
  FAKE_EVAL_LOG=$scratch/calls run "$script" measure mb-coder-r16-m64-quick
  expect_status 0
  [[ $(grep -c '^tune' "$scratch/calls") == 3 ]] || fail "measured again: $(cat "$scratch/calls")"
  python3 - "$results/mb-coder-r16-m64-quick.json" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["megabytes"] == 2.79 and run["model"] == "Tiny 1B" and run["build"] == "0.1.0 (test)", run
assert [(row["policy"], row["kv_type"], row["budget"], row["seeds"]) for row in run["rows"]] == [
    ("vase-attnv", "f16", 64, 2), ("vase-attnv-weighted", "q4_0", 180, 2), ("vase-dkv-weighted", "q4_0", 180, 2)], run["rows"]
assert run["groups"][0]["items"] == [["p-1", 100, 0.4, 0.9], ["p-2", 100, 0.6, 0.9]], run["groups"]
assert abs(run["noise_floors"][0]["kl_mean"] - 0.003) < 1e-9, run["noise_floors"]
PY
  grep -q 'ROWS/quick"' "$results/mb-coder-r16-m64-quick.json" || fail "no command as it stands in the list"
  if grep -q "SECRET\|$scratch" "$results/mb-coder-r16-m64-quick.json"; then fail "a text or a path was recorded"; fi
  sed -i '/^quick/s/--seeds 2/--seeds 3/' "$results/rows.txt"
  run "$script" measure --again mb-coder-r16-m64-quick
  expect_status 1
  expect_said 'holds parts of another run'
  sed -i '/^quick/s/--seeds 3/--seeds 2/' "$results/rows.txt"
  expect_whole
}

expect_row() { grep -qF "$1" "$study_page" || fail "no row '$1': $(cat "$study_page")"; }

# VaSE-AttnV differs on half of the positions: 0.2 and 0.3. The others count all: 0.01 and 0.015, and 0.1 twice. Of two texts
# Student's t asks for 12.7 standard errors.
fills_the_page() {
  run "$script" measure 'mb-*'
  expect_status 0
  run "$script" tables
  expect_status 0
  expect_row '| q4_0 | vase-attnv-weighted | 180 | 2.00 | 12.50 ± 2.50 | - | 0.050 ± 0.000 | 90.0 |'
  expect_row '| q4_0 | vase-dkv-weighted | 180 | 2.00 | 100.00 ± 0.00 | 87.50 ± 2.50 | 0.400 ± 0.080 | 90.0 |'
  expect_row '| f16 | vase-attnv | 64 | 2.00 | 250.00 ± 50.00 | 237.50 ± 47.50 (=) | - | 95.0 |'
  expect_row '| f16 | snapkv | 64 | 2.00 | 1000.00 ± 200.00 |'
  expect_row '2 texts. Noise floor: 3.00. Not told apart from the best: f16 vase-attnv, f16 snapkv, q8_0,q4_0 snapkv. Not bought by so few: q8_0 snapkv (5 MiB needed).'
  expect_row '| Tiny 1B, 2.79 MiB | q4_0 vase-dkv-weighted | f16 vase-attnv | 0.400 ± 0.080 | 0.05 | not told apart from the aim |'
  expect_row '| Tiny 1B, texts that choose | KL over that of VaSE-AttnV f16 |'
  expect_row '| Tiny 1B, held out | KL over that of VaSE-AttnV f16 |'
  expect_row '| q4_0 vase-attnv-weighted | 0.0500 | 0.0500 | 0 of 1 |'
  expect_row '| q4_0 vase-dkv-weighted | 0.4000 | 0.4000 | 1 of 1 |'
  # shellcheck disable=SC2016
  expect_row '| `texts-gsm8k-two` | 2 | 5 to 6 | 1 to 2 |'
  expect_row '[mb-coder-r16-m64-rest](../eval/results/mb-coder-r16-m64-rest.json) | 2'
  if grep -q 'mb-coder\|texts-gsm8k-two' "$page"; then fail "the other page lists runs of the study"; fi
  cp "$study_page" "$scratch/page"
  run "$script" tables
  cmp "$study_page" "$scratch/page"
  expect_whole
}

names_what_is_missing() {
  rm "$results/mb-coder-r16-m64-rest.json"
  run "$script" tables
  expect_status 0
  # shellcheck disable=SC2016
  expect_row 'Not measured yet: `scripts/results measure mb-coder-r16-m64-rest`'
}

refuses_bad_results() {
  cp "$study_page" "$scratch/page"
  cp "$results/mb-coder-r16-m64-quick.json" "$scratch/run"
  spoil mb-coder-r16-m64-quick 'del run["groups"][0]["items"][0]'
  run "$script" tables
  expect_status 1
  expect_error 'have other texts each; measure it again: scripts/results measure --again mb-coder-r16-m64-quick'
  cp "$scratch/run" "$results/mb-coder-r16-m64-quick.json"
  spoil mb-coder-r16-m64-quick 'del run["rows"][0]["budget"]'
  run "$script" tables
  expect_status 1
  expect_error "mb-coder-r16-m64-quick.json.*no field 'budget'"
  cmp "$study_page" "$scratch/page"
}

PYTHONPATH=$tree/scripts/results_page:$tree/scripts/pages PYTHONDONTWRITEBYTECODE=1 \
  python3 "$source_dir/tests/scripts/results_study_test.py" "$source_dir/eval/results"
needs_texts_and_rows
rm -r "$results/texts-gsm8k-two.json" "$work/texts-gsm8k-two"
joins_texts
writes_texts
goes_on_where_it_stopped
fills_the_page
names_what_is_missing
refuses_bad_results
