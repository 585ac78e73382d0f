# shellcheck shell=bash
# A scratch copy of the scripts, packages made on the spot, and checks. Source it with the tree as $1.
set -euo pipefail

source_dir=$1
scratch=$(mktemp -d)
trap 'end_background; unmount; rm -rf "$scratch"' EXIT
mounted=
background=()

tree=$scratch/tree
links=$scratch/packages
mkdir -p "$tree/cmake/pinned" "$links" "$scratch/bin"
cp -r "$source_dir/scripts" "$tree/scripts"
rm -f "$tree"/scripts/models/*

export VASE_CACHE=$scratch/cache
export PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS=$links
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL

end_background() {
  local pid
  for pid in "${background[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
}
unmount() { if [[ -n $mounted ]]; then umount "$mounted"; fi; }

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# run COMMAND...: keeps its exit status, stdout and stderr in status, $scratch/out and $scratch/err.
run() {
  status=0
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
}

expect_status() { [[ $status == "$1" ]] || fail "exit status $status, expected $1: $(cat "$scratch/err")"; }
expect_error() { grep -q "^error: .*$1" "$scratch/err" || fail "no error with '$1': $(cat "$scratch/err")"; }
expect_said() { grep -q "$1" "$scratch/err" || fail "'$1' was not said: $(cat "$scratch/err")"; }

# Only locks, finished models and finished prefixes may be in the cache.
expect_no_leftovers() {
  local found
  found=$(find "$VASE_CACHE" -name '*.partial*' -o -name '*.whl' -o -name '*.tar.gz')
  [[ -z $found ]] || fail "left behind: $found"
}

# wait_for COMMAND...: until it succeeds, ten seconds at most.
wait_for() {
  for _ in {1..200}; do
    if "$@"; then return; fi
    sleep 0.05
  done
  fail "never came true: $*"
}

sha256_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# make_wheel NAME FILE: a wheel NAME-1.0 whose member data/part.bin is FILE.
make_wheel() {
  python3 - "$links" "$1" "$2" <<'PY'
import pathlib, sys, zipfile
links, name, part = sys.argv[1:]
info = f"{name}-1.0.dist-info"
with zipfile.ZipFile(pathlib.Path(links) / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
    wheel.write(part, f"{name}/data/part.bin")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", "")
PY
}

# slow_down COMMAND: from now on it announces itself in $scratch/COMMAND.started, then waits for $scratch/go.
slow_down() {
  local real
  real=$(command -v "$1")
  cat >"$scratch/bin/$1" <<SH
#!/bin/sh
touch '$scratch/$1.started'
while ! [ -e '$scratch/go' ]; do sleep 0.05; done
exec '$real' "\$@"
SH
  chmod +x "$scratch/bin/$1"
  PATH=$scratch/bin:$PATH
}
