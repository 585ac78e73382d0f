# shellcheck shell=bash
# Helpers shared by the scripts of this folder; source it after `set -euo pipefail`.
# Results go to stdout, everything meant for people to stderr.

repo_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Everything that is downloaded or built once lives here, outside the tree.
cache_dir=${VASE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vase}

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $*"
  exit 1
}

usage_error() {
  say "error: $*"
  exit 2
}

# help_if_asked "$@": for --help among the arguments prints the comment at the head of the script, and exits.
help_if_asked() {
  local argument
  for argument in "$@"; do
    [[ $argument == --help || $argument == -h ]] || continue
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
    exit 0
  done
}

# --- Work that can be interrupted ---------------------------------------------------------------------

work_dir=
child=

# Runs at every exit: ends the command in progress with all its children, and removes the half-made.
clean_up() {
  if [[ -n $child ]]; then
    kill -TERM -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  if [[ -n $work_dir ]]; then rm -rf "$work_dir"; fi
}

trap clean_up EXIT
trap 'say "interrupted; nothing half-made is left, run it again"; exit 130' INT TERM HUP

# supervise COMMAND...: runs it in a process group of its own, so that clean_up can end all of it.
supervise() {
  local status=0
  set -m
  "$@" </dev/null &
  child=$!
  set +m
  wait "$child" || status=$?
  child=
  return "$status"
}

# start_work NAME: one run at a time makes NAME; a second one waits here. Sets work_dir, an empty folder in
# the cache for the half-made, and log. What a killed run left there goes first. Returns holding the lock.
start_work() {
  mkdir -p "$cache_dir" 2>/dev/null || die "cannot create $cache_dir; set VASE_CACHE to a folder you can write to"
  { exec 9>"$cache_dir/$1.lock"; } 2>/dev/null || die "cannot write to $cache_dir; set VASE_CACHE to a folder you can write to"
  if ! flock --nonblock 9; then
    say "another run is making $1; waiting for it"
    supervise flock 9
  fi
  work_dir=$cache_dir/.$1.partial
  log=$work_dir/log
  rm -rf "$work_dir"
  mkdir "$work_dir" || die "cannot write to $cache_dir; set VASE_CACHE to a folder you can write to"
}

end_work() {
  rm -rf "$work_dir"
  work_dir=
  exec 9>&-
}

# --- Failures in one line -----------------------------------------------------------------------------

# explain WHAT: dies with one line that names the likely cause, out of the log of the failed command.
explain() {
  local what=$1
  if grep -qi 'No space left on device\|Disk quota exceeded\|disk full' "$log" || disk_is_full; then
    die "$what: the disk of $cache_dir is full; free some space or set VASE_CACHE to another disk"
  fi
  cp "$log" "$cache_dir/failed.log"
  local details="details: $cache_dir/failed.log"
  if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
    die "$what: hash mismatch, the downloaded file is not the pinned one; try again or use another package index ($details)"
  fi
  if grep -q 'CERTIFICATE_VERIFY_FAILED' "$log"; then
    die "$what: the package index shows a certificate that is not trusted here; set PIP_CERT to your network's certificate file ($details)"
  fi
  if grep -q 'Could not find a version\|No matching distribution\|ConnectionError\|timed out\|ProxyError' "$log"; then
    die "$what: the package index cannot be reached or lacks the package; check the network and 'pip config list' ($details)"
  fi
  tail -n 30 "$log" >&2
  die "$what failed ($details)"
}

# A full disk can swallow the message that says so: try to write a little.
disk_is_full() {
  ! head -c 65536 /dev/zero >"$work_dir/probe" 2>/dev/null
}

# --- Progress -----------------------------------------------------------------------------------------

# Turns ninja's "[ 42%]" lines on stdin into one live line (terminal) or a line every 20 % (log file).
show_percent() {
  local label=$1 line percent shown=-1 step=20
  if [[ -t 2 ]]; then step=1; fi
  while IFS= read -r line; do
    [[ $line =~ ^\[\ *([0-9]+)%\] ]] || continue
    percent=${BASH_REMATCH[1]}
    if ((percent / step == shown)); then continue; fi
    shown=$((percent / step))
    if [[ -t 2 ]]; then printf '\r%s: %3d %%' "$label" "$percent" >&2; else say "$label: $percent %"; fi
  done
  if [[ -t 2 ]]; then printf '\n' >&2; fi
}

# ninja_with_progress LABEL LOG ARGUMENTS...
ninja_with_progress() {
  local label=$1 log_file=$2
  shift 2
  NINJA_STATUS='[%p] ' ninja "$@" 2>&1 | tee -a "$log_file" | show_percent "$label"
}

# --- Packages -----------------------------------------------------------------------------------------

# pip_download FOLDER ARGUMENTS...: pip refuses what does not match the hashes of its requirement file.
pip_download() {
  local folder=$1 python
  shift
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 || continue
    # Temporary files belong to the same disk and are removed with the rest.
    mkdir -p "$work_dir/tmp"
    PYTHONPATH=$repo_dir/scripts/no_build PYTHONDONTWRITEBYTECODE=1 TMPDIR=$work_dir/tmp \
      "$python" -m pip --disable-pip-version-check download --no-cache-dir --quiet --retries 2 --no-deps \
      --require-hashes --dest "$folder" "$@" >>"$log" 2>&1
    return
  done
  die "pip is missing; install python3-pip"
}

# get_python_packages NAME REQUIREMENTS: sets python_packages to a folder for PYTHONPATH with what the file requires, for
# the python3 of PATH; the first time it is fetched.
get_python_packages() {
  local name=$1 requirements=$2 version
  version=$(sha256sum "$requirements" | cut -c 1-12)-$(python3 -c 'import sys; print(*sys.version_info[:2], sep=".")')
  python_packages=$cache_dir/$name-$version
  if [[ -d $python_packages ]]; then return; fi
  start_work "$name-$version"
  if [[ ! -d $python_packages ]]; then
    say "fetching $name"
    mkdir "$work_dir/tmp"
    TMPDIR=$work_dir/tmp supervise python3 -m pip --disable-pip-version-check install --quiet --no-cache-dir --retries 2 \
      --only-binary :all: --target "$work_dir/packages" --requirement "$requirements" >>"$log" 2>&1 ||
      explain "fetching $name"
    mv "$work_dir/packages" "$python_packages"
  fi
  end_work
}

# --- Compiler -----------------------------------------------------------------------------------------

# Sets CC and CXX: Clang 16 or newer where there is one (its AMX code in ggml works, GCC's does not), else GCC.
choose_compiler() {
  local version
  for version in 19 20 18 17 16; do
    if command -v "clang++-$version" >/dev/null; then
      CC=clang-$version CXX=clang++-$version
      return
    fi
  done
  command -v g++ >/dev/null || die "no compiler; install clang-19 or g++"
  CC=gcc CXX=g++
}

has_openmp() { printf 'int main(){}' | "$CXX" -fopenmp -x c++ -o /dev/null - 2>/dev/null; }

# CMake arguments for the chosen compiler, with ccache where it is installed. Sets cmake_arguments.
set_cmake_arguments() {
  choose_compiler
  cmake_arguments=(-G Ninja "-DCMAKE_C_COMPILER=$CC" "-DCMAKE_CXX_COMPILER=$CXX")
  if command -v ccache >/dev/null; then
    cmake_arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
}

# Allowed values of --sanitize.
check_sanitizer() {
  case $1 in
    address,undefined | thread) ;;
    *) usage_error "unknown sanitizer '$1'; allowed: address,undefined or thread" ;;
  esac
}

# build_dir_of SANITIZER
build_dir_of() { printf '%s\n' "$repo_dir/build${1:+-${1//,/-}}"; }
