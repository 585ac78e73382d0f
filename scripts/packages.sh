# shellcheck shell=bash
# Debian packages that the build needs; source it after lib.sh.

# package:what proves that it is there (a command, or a file that may stand in one of several places).
needed_packages=(
  cmake:cmake
  ninja-build:ninja
  g++:g++
  git:git
  pkg-config:pkg-config
  unzip:unzip
  util-linux:flock
  python3:python3
  python3-dev:python3-config
  libhwy-dev:/usr/include/hwy/highway.h
  librandom123-dev:/usr/include/Random123/philox.h
  libzip-dev:/usr/include/zip.h
  zlib1g-dev:/usr/include/zlib.h
  libcli11-dev:/usr/include/CLI/CLI.hpp
  nlohmann-json3-dev:/usr/include/nlohmann/json.hpp
  libgtest-dev:/usr/include/gtest/gtest.h
  libbenchmark-dev:/usr/include/benchmark/benchmark.h
  valgrind:/usr/include/valgrind/callgrind.h
)

is_there() {
  case $1 in
    /*) [[ -e $1 || -e ${1/usr/usr\/local} ]] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

has_venv() { python3 -c 'import ensurepip' 2>/dev/null || /usr/bin/python3 -c 'import ensurepip' 2>/dev/null; }

has_pip() { python3 -m pip --version >/dev/null 2>&1 || /usr/bin/python3 -m pip --version >/dev/null 2>&1; }

# A Clang that is recent enough, with its OpenMP library.
has_recent_clang() {
  (choose_compiler && [[ $CXX == clang* ]] && has_openmp) 2>/dev/null
}

# Prints the missing packages, one a line.
missing_packages() {
  local entry
  for entry in "${needed_packages[@]}"; do
    is_there "${entry#*:}" || printf '%s\n' "${entry%%:*}"
  done
  has_pip || printf '%s\n' python3-pip
  has_venv || printf '%s\n' python3-venv
}

# Clang makes faster code than GCC here; it is installed where the distribution has it, but not required.
wanted_compiler() {
  if ! has_recent_clang && apt-cache show clang-19 >/dev/null 2>&1; then
    printf '%s\n' clang-19 libclang-rt-19-dev libomp-19-dev
  fi
}

# Installs what is missing when this is root on Debian; else says exactly what to type.
ensure_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)) && { ((EUID != 0)) || [[ -z $(wanted_compiler) ]]; }; then return; fi
  if ! command -v apt-get >/dev/null; then
    die "missing: ${missing[*]} (Debian's names); install them with your system's package manager"
  fi
  if ((EUID == 0)); then
    install_packages
    return
  fi
  mapfile -t -O "${#missing[@]}" missing < <(wanted_compiler)
  say "error: packages are missing; run this line and try again:"
  say "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  exit 1
}

install_packages() {
  local missing log_file
  log_file=$(mktemp "${TMPDIR:-/tmp}/vase-apt.XXXXXX.log")
  say "installing Debian packages"
  supervise apt-get update >"$log_file" 2>&1 || say "apt-get update failed; trying with the lists that are here"
  mapfile -t missing < <(missing_packages; wanted_compiler)
  DEBIAN_FRONTEND=noninteractive supervise apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}" >>"$log_file" 2>&1 || {
    tail -n 15 "$log_file" >&2
    die "apt-get could not install: ${missing[*]}; see $log_file"
  }
  rm -f "$log_file"
}
