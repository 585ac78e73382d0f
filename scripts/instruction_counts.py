#!/usr/bin/env python3
"""Compares the instructions that the hot kernels execute with the stored baseline.

  scripts/instruction_counts.py build/bench/instructions/instruction_counts            # compare
  scripts/instruction_counts.py build/bench/instructions/instruction_counts --update   # store what was counted

The program runs under valgrind's callgrind, which counts instructions: the same number on a busy machine and on an idle
one. Counts depend on the compiler, on Highway's version and on the vector instructions that valgrind knows, so the
baseline has a set of them for each such build. A kernel fails when it executes more than 3 % above its baseline.

Exit status: 0 all kernels are within the tolerance, 1 some are not or something is wrong, 77 there is no baseline for
this build or no valgrind. docs/bench.md, section 6.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOLERANCE = 0.03
SKIPPED = 77
BASELINE = pathlib.Path(__file__).resolve().parent.parent / "bench" / "instructions" / "baseline.json"
CASE = re.compile(r"^desc: Trigger: Client Request: (.+)$", re.MULTILINE)
TOTAL = re.compile(r"^totals: (\d+)$", re.MULTILINE)


class Failure(Exception):
    """One line for people."""


def run_program(program, folder):
    """Runs the program under callgrind, which leaves a file per case in the folder. Returns what it says of its build."""
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/counts", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    build = re.search(r"^build: (.+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not build:
        raise Failure(f"{program} failed under valgrind (status {done.returncode}):\n{done.stderr.strip()[-2000:]}")
    return build.group(1)


def read_counts(folder):
    """Instructions by case, out of callgrind's files."""
    counts = {}
    for path in sorted(pathlib.Path(folder).iterdir(), key=lambda p: (len(p.name), p.name)):
        text = path.read_text()
        case, total = CASE.search(text), TOTAL.search(text)
        if not case:
            continue  # what callgrind writes when the program ends
        if not total or int(total.group(1)) == 0:
            raise Failure(f"nothing was counted for '{case.group(1)}'")
        if case.group(1) in counts:
            raise Failure(f"two cases are named '{case.group(1)}'")
        counts[case.group(1)] = int(total.group(1))
    if not counts:
        raise Failure("the program ran no case")
    return counts


def read_baseline(path):
    """{build: {case: instructions}}; empty when there is no file."""
    try:
        baseline = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error}") from error
    whole = isinstance(baseline, dict) and all(
        isinstance(counts, dict) and all(type(n) is int and n > 0 for n in counts.values()) for counts in baseline.values())
    if not whole:
        raise Failure(f"{path}: must be an object that maps a build to an object of cases and positive integers")
    return baseline


def write_baseline(path, baseline):
    """Replaces the file as a whole."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(json.dumps(baseline, indent=2, sort_keys=True) + "\n")
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Failure(f"{path}: {error}") from error


def print_table(counts, expected):
    width = max(map(len, counts))
    print(f"{'case':{width}} {'counted':>12} {'baseline':>12} {'ratio':>7}")
    for case, count in counts.items():
        known = expected.get(case)
        print(f"{case:{width}} {count:12} {known or '-':>12} {f'{count / known:.3f}' if known else '-':>7}")


def findings(counts, expected):
    """(what is wrong, what is better) as lists of texts."""
    wrong = [f"{case} was not counted" for case in expected if case not in counts]
    wrong += [f"{case} is not in the baseline" for case in counts if case not in expected]
    better = []
    for case in counts:
        ratio = counts[case] / expected[case] if case in expected else 1
        if ratio > 1 + TOLERANCE:
            wrong.append(f"{case} takes {ratio:.3f} times its instructions")
        elif ratio < 1 - TOLERANCE:
            better.append(f"{case} takes {ratio:.3f}")
    return wrong, better


def compare(counts, expected, renew):
    print_table(counts, expected)
    wrong, better = findings(counts, expected)
    if better:
        print(f"better than the baseline: {', '.join(better)}; renew it with {renew}")
    if wrong:
        raise Failure(f"{'; '.join(wrong)} (allowed: {1 + TOLERANCE}). If that is meant, renew the baseline with {renew}"
                      " and say why in the commit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built instruction_counts")
    parser.add_argument("--baseline", type=pathlib.Path, default=BASELINE, metavar="FILE",
                        help="bench/instructions/baseline.json when absent")
    parser.add_argument("--update", action="store_true", help="store the counts of this build in the baseline")
    o = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed", file=sys.stderr)
        return SKIPPED
    baseline = read_baseline(o.baseline)
    with tempfile.TemporaryDirectory() as folder:
        build = run_program(o.program, folder)
        counts = read_counts(folder)
    renew = f"{sys.argv[0]} {o.program} --update"
    print(build)
    if o.update:
        write_baseline(o.baseline, baseline | {build: counts})
        print_table(counts, baseline.get(build, {}))
        return 0
    if build not in baseline:
        print(f"skipped: {o.baseline} has no counts for this build; {renew} stores them. It has: {'; '.join(baseline)}",
              file=sys.stderr)
        return SKIPPED
    compare(counts, baseline[build], renew)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
