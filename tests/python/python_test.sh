#!/usr/bin/env bash
# python_test.sh SOURCE_DIR WORK_DIR PREFIX MODEL VASE: installs the module by pip into WORK_DIR/venv, against the libraries at
# PREFIX, and tests it there; then the program VASE on files that NumPy wrote. Ends with 77, "skipped", where Python, pip or the
# package index is missing.
set -euo pipefail
source_dir=$1 work_dir=$2 prefix=$3 model=$4 vase=$5
python=$work_dir/venv/bin/python

skip() {
  echo "skipped: $*"
  exit 77
}

# Once; later runs find it there.
make_environment() {
  python3 -c 'import sysconfig, os; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    skip "no Python.h; install python3-dev"
  rm -rf "$work_dir/venv"
  python3 -m venv "$work_dir/venv" || skip "python3 -m venv does not work; install python3-venv"
  "$python" -m pip install --quiet --disable-pip-version-check --retries 1 'scikit-build-core>=0.10' 'nanobind>=2.4' numpy ||
    skip "pip cannot fetch scikit-build-core, nanobind and numpy"
}

"$python" -c 'import scikit_build_core, nanobind, numpy' 2>/dev/null || make_environment
"$python" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
  -C build-dir="$work_dir/build" -C cmake.define.VASE_PREFIX="$prefix" "$source_dir"
cd "$work_dir"
"$python" "$source_dir/tests/python/vase_test.py" "$model"
"$python" "$source_dir/tests/python/numpy_test.py" "$vase"
question=$(printf 'a long question %.0s' {1..40})
"$python" "$source_dir/examples/stream.py" "$model" "$question" 2>&1 >/dev/null | grep -q '^[1-9][0-9]* tokens evicted'
