"""Answers JSON lines {"given", "expected", "read"} with JSON lines {"same"}, by the package math-verify.

Where "read" is true and the two differ, the answer also says whether the package reads the expected one: {"same", "read"}.

The first line that it writes is {"version"} of the package, or {"error"} when it cannot be loaded. `vase` carries this
program and runs it with `python3 -c`; it ends with its input.
"""
import json
import os
import sys


def say(stream, **fields):
    stream.write(json.dumps(fields) + "\n")
    stream.flush()


def as_formula(text):
    """An answer as math-verify expects one: in a box, as a model writes it."""
    return "\\boxed{" + text + "}"


def compare(parse, verify, pair):
    """Without the package's limits of time, beyond which it says "different". `vase` has one of its own."""
    given, expected = (parse(as_formula(pair[key]), parsing_timeout=None) for key in ("given", "expected"))
    if verify(expected, given, timeout_seconds=None):
        return {"same": True}
    if not pair["read"]:
        return {"same": False}
    return {"same": False, "read": bool(verify(expected, expected, timeout_seconds=None))}


def main():
    # Whatever libraries print must not come between the lines.
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        from importlib.metadata import version
        from math_verify import parse, verify
    except Exception as problem:
        say(stream, error=f"{type(problem).__name__}: {problem}")
        return
    say(stream, version=version("math-verify"))
    for line in sys.stdin:
        say(stream, **compare(parse, verify, json.loads(line)))


if __name__ == "__main__":
    main()
