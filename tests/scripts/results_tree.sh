# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # names that harness.sh sets, or the tests use
# What scripts/results needs, in the scratch tree: a short list of runs, a page, data sets, and programs that answer at once.
# Source it after harness.sh.

# shellcheck source=tests/scripts/page_tree.sh
source "$(dirname "${BASH_SOURCE[0]}")/page_tree.sh"

results=$tree/eval/results
page=$tree/docs/results.md
study_page=$tree/docs/answers-per-megabyte.md
export VASE_DATA=$scratch/data

mkdir -p "$results" "$tree/docs" "$tree/build/cli" "$tree/build/bench/peer_answers" "$VASE_DATA"
for name in p-1 p-2 p-11 p-3; do echo '{"id": "'$name'", "problem": "A SECRET PROBLEM", "answer": "1"}'; done >"$VASE_DATA/gsm8k.jsonl"
cat >"$VASE_DATA/ids.jsonl" <<'TXT'
{"id": "p-11", "P": 5, "tokens": [7, 8, 9]}
{"id": "p-2", "P": 6, "tokens": [7, 8]}
{"id": "p-1", "P": 5, "tokens": [7]}
TXT
cat >"$results/runs.txt" <<'TXT'
# A comment
gsm8k-64-greedy 3 run --model @tiny --task gsm8k=DATA/gsm8k.jsonl --greedy --policy full
gsm8k-64-parity 8 run --model @tiny --task gsm8k=DATA/gsm8k.jsonl --policy full --policy 'snapkv order=score' --policy random --kv-budget 128 --seeds 2
gsm8k-64-default 8 run --model @tiny --task gsm8k=DATA/gsm8k.jsonl --policy full --policy snapkv --policy random --kv-budget 128

gsm8k-100-greedy 4 run --model @tiny --task gsm8k=DATA/gsm8k.jsonl --greedy --policy full
gsm8k-100-ggml 4 run --model @tiny --task gsm8k=DATA/gsm8k.jsonl --greedy --policy full --products ggml
gsm8k-100-llama 5 peer @tiny RUN/gsm8k-100-greedy
gsm8k-100 9 run --model @tiny --task gsm8k=DATA/gsm8k.jsonl --greedy --policy full --policy snapkv --policy random --kv-budget 96 --kv-budget 128
kl-coder-1.5b 6 kl --model @tiny --text RUN/gsm8k-100-greedy/results.jsonl PRESETS --kv-budget 64 --kv-budget 128
texts-gsm8k-two 0 join DATA/gsm8k.jsonl DATA/ids.jsonl 1-1
texts-written 1 write --model @tiny --seed 1 scripts/questions.txt
mb-coder-r16-m64-quick 2 tune --model @tiny --text RUN/texts-gsm8k-two/texts.jsonl --kv-buffer 16 --kv-budget-mb 2.79 ROWS/quick
mb-coder-r16-m64-rest 2 tune --model @tiny --text RUN/texts-gsm8k-two/texts.jsonl --kv-buffer 16 --kv-budget-mb 2.79 ROWS/rest
mb-held-gsm8k-m64-quick 2 tune --model @tiny --text RUN/texts-gsm8k-two/texts.jsonl --kv-buffer 16 --kv-budget-mb 2.79 ROWS/quick
TXT
cat >"$results/rows.txt" <<'TXT'
# A comment
quick --kv-type f16 --policy vase-attnv --seeds 2
quick --kv-type q4_0 --policy vase-attnv-weighted --policy vase-dkv-weighted --seeds 2
rest --policy 'snapkv @q8_0' --policy 'snapkv @f16' --policy 'snapkv @q8_0,q4_0'
TXT
cat >"$results/authors.txt" <<'TXT'
# A comment
75.0 | full | full cache | full | full
50.0 | attention | SnapKV | snapkv order=score | snapkv
0.0 | chance | random | random | random
TXT
cp "$source_dir/tests/scripts/fake_eval.py" "$tree/build/cli/vase"
cp "$source_dir/tests/scripts/fake_eval.py" "$tree/build/bench/peer_answers/peer_answers"

empty_page results
empty_page answers-per-megabyte
