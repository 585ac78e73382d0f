#!/usr/bin/env bash
# No finding of shellcheck in any script of the tree.
set -euo pipefail
command -v shellcheck >/dev/null || exit 77
cd "$1"
grep -l -d skip -E '^#(!.*bash| shellcheck shell=bash)' scripts/* .ci/* tests/scripts/*.sh | xargs shellcheck -x
