#!/usr/bin/env bash
# Without root, missing packages are named in one line that can be pasted.
# shellcheck source=tests/scripts/harness.sh
source "$(dirname "$0")/harness.sh" "$1"

# A machine without ninja and unzip: every command of this one but those.
bare=$scratch/bare
mkdir "$bare"
find /usr/bin/ -maxdepth 1 ! -type d ! -name 'ninja*' ! -name unzip -exec ln -sft "$bare" {} +
printf '#!/bin/sh\nexit 99\n' >"$scratch/forbidden"
chmod +x "$scratch/forbidden"
ln -sf "$scratch/forbidden" "$bare/apt-get"
chmod -R a+rX "$scratch"

as_nobody=()
if ((EUID == 0)); then as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups); fi

PATH=$bare HOME=$scratch run "${as_nobody[@]}" bash "$tree/scripts/setup"
expect_status 1
expect_error 'packages are missing'
expect_said '^  sudo apt-get update && sudo apt-get install -y --no-install-recommends .*ninja-build.*unzip'
[[ ! -e $VASE_CACHE ]] || fail "made a cache before the packages were there"
