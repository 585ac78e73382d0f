#!/usr/bin/env python3
"""Holds the direction of includes between the folders of the tree (docs/architecture.md) and the size of files.

Usage: check_includes.py PROJECT_ROOT
"""
import pathlib
import re
import sys

# folder -> folders it may include, besides itself and include/vase
ALLOWED = {
    "include/vase": set(),
    "src/base": set(),
    "src/kernels": {"src/base"},
    "src/policies": {"src/base", "src/kernels"},
    "src/cache": {"src/base", "src/kernels"},
    "src/ggml_log": set(),
    "src/text": {"src/base", "src/ggml_log"},
    "src/model": {"src/base", "src/ggml_log", "src/kernels"},
    "src/engine": {"src/base", "src/kernels", "src/policies", "src/cache", "src/text", "src/model"},
    "eval": set(),
    "src/capi": set(),
    "python": set(),
    "examples": set(),
    "cli": {"bench", "eval"},
}
# Single headers beyond that: messages of the front end name the nearest word as those of a policy's text do, and it
# looks whether memory is enough before it begins; it measures values as the engine's log does; fingerprints and settings are
# hashed alike.
ALLOWED_HEADERS = {("cli", "policies/words.h"), ("cli", "policies/presets.h"), ("cli", "text/stream.h"),
                   ("cli", "base/machine.h"), ("cli", "base/cosine.h"), ("eval", "base/fnv.h")}
# ggml and libllama are hidden inside these folders.
GGML_USERS = {"src/ggml_log", "src/text", "src/model", "bench", "tests", "fuzz"}
MAX_LINES = 400
SOURCES = {".h", ".cc", ".c", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(path, folders):
    text = path.as_posix()
    return max((f for f in folders if text.startswith(f + "/")), key=len, default=None)


def target_folder(root, included):
    for prefix in ("include", "src", "bench", "."):
        if (root / prefix / included).is_file():
            parts = pathlib.PurePosixPath(prefix, included).parts
            if parts[0] == "bench":
                return "bench"
            return "/".join(parts[:2]) if parts[0] in ("include", "src") else parts[0]
    return None


def check(root, path, complaints):
    relative = path.relative_to(root)
    lines = path.read_text().splitlines()
    if len(lines) > MAX_LINES:
        complaints.append(f"{relative}: {len(lines)} lines; at most {MAX_LINES}")
    folder = folder_of(relative, list(ALLOWED) + ["bench", "tests", "fuzz"])
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        kind, included = match.groups()
        where = f"{relative}:{number}"
        if re.match(r"(ggml|gguf|llama)[-.\w]*\.h$", included) and folder not in GGML_USERS:
            complaints.append(f"{where}: {included} may be used in {', '.join(sorted(GGML_USERS))} only")
        if kind == "<" or folder not in ALLOWED:
            continue
        target = target_folder(root, included)
        if target is None or target in ("include/vase", folder):
            continue
        if target not in ALLOWED[folder] and (folder, included) not in ALLOWED_HEADERS:
            complaints.append(f"{where}: {folder} must not include {target} ({included})")


def main(root):
    complaints = []
    count = 0
    for top in ("include", "src", "python", "examples", "eval", "cli", "bench", "tests", "fuzz"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES:
                count += 1
                check(root, path, complaints)
    print("\n".join(complaints) or f"{count} files follow the layers")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
