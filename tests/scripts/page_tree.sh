# shellcheck shell=bash
# shellcheck disable=SC2154 # names that harness.sh sets, and `results` of the tree that is tested
# What tests of pages of recorded runs share, in the scratch tree: a build and models that are there at once, pages, checks.

printf '#!/bin/sh\nexit 0\n' >"$tree/scripts/build"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "/models/$1.gguf"\n' >"$tree/scripts/fetch-model"

# empty_page NAME: docs/NAME.md with nothing between its markers.
empty_page() {
  mkdir -p "$tree/docs"
  grep -E '^(#|<!-- )' "$source_dir/docs/$1.md" |
    awk '/^<!-- begin/ { inside = 1; print; next } /^<!-- end/ { inside = 0 } !inside' >"$tree/docs/$1.md"
}

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

# allow_package_index INDEX CONFIG: the harness keeps tests away from pip's index; those that draw need it. What they were
# before the harness: $PIP_INDEX_URL and $PIP_CONFIG_FILE.
allow_package_index() {
  unset PIP_NO_INDEX PIP_FIND_LINKS PIP_CONFIG_FILE
  if [[ -n $1 ]]; then export PIP_INDEX_URL=$1; fi
  if [[ -n $2 ]]; then export PIP_CONFIG_FILE=$2; fi
}

is_picture() {
  python3 - "$1" <<'PY'
import sys, xml.dom.minidom
svg = xml.dom.minidom.parse(sys.argv[1]).documentElement
assert svg.tagName == "svg" and len(svg.getElementsByTagName("path")) > 20
PY
}
