# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # names that harness.sh sets, or the tests use
# What scripts/performance needs, in the scratch tree: two runs, a page, and a `vase` that answers at once. Source it after
# harness.sh.

# shellcheck source=tests/scripts/page_tree.sh
source "$(dirname "${BASH_SOURCE[0]}")/page_tree.sh"

performance=$tree/scripts/performance
results=$tree/bench/results
page=$tree/docs/performance.md

mkdir -p "$results" "$tree/docs" "$tree/build/cli"
cat >"$results/runs.txt" <<'TXT'
# A comment
depth-4b-a 5 --shape qwen3-4b --depth 512,2048,8192 --tokens 64 --policy full --policy vase-attnv --kv-budget 2048 --peer llama

stall-b 1 --model @tiny --depth 4096 --tokens 64 --policy vase-attnv --kv-budget 1024
TXT

answering_vase() { cp "$source_dir/tests/scripts/fake_vase.py" "$tree/build/cli/vase"; }
answering_vase

empty_page performance
