# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # names that harness.sh sets, or the tests use
# What scripts/performance needs, in the scratch tree: two runs, a page, and a `vase` that answers at once. Source it after
# harness.sh.

performance=$tree/scripts/performance
results=$tree/bench/results
page=$tree/docs/performance.md

mkdir -p "$results" "$tree/docs" "$tree/build/cli"
cat >"$results/runs.txt" <<'TXT'
# A comment
depth-4b-a 5 --shape qwen3-4b --depth 512,2048,8192 --tokens 64 --policy full --policy vase-attnv --kv-budget 2048 --peer llama

stall-b 1 --model @tiny --depth 4096 --tokens 64 --policy vase-attnv --kv-budget 1024
TXT
printf '#!/bin/sh\nexit 0\n' >"$tree/scripts/build"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "/models/$1.gguf"\n' >"$tree/scripts/fetch-model"

answering_vase() { cp "$source_dir/tests/scripts/fake_vase.py" "$tree/build/cli/vase"; }
answering_vase

# The page with nothing between its markers.
grep -E '^(#|<!-- )' "$source_dir/docs/performance.md" |
  awk '/^<!-- begin/ { inside = 1; print; next } /^<!-- end/ { inside = 0 } !inside' >"$page"

# spoil RUN CODE: changes the recorded run by Python code that sees it as `run`.
spoil() {
  python3 - "$results/$1.json" "$2" <<'PY'
import json, sys
path, code = sys.argv[1:]
run = json.load(open(path))
exec(code)
json.dump(run, open(path, "w"))
PY
}

# Nothing half-made in the tree or in the cache.
expect_whole() {
  local found
  found=$(find "$tree" "$VASE_CACHE" -name '*.partial*')
  [[ -z $found ]] || fail "left behind: $found"
}
