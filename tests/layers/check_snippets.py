#!/usr/bin/env python3
"""Every code block of docs/ that names a file, as in ```cpp examples/generate.cc, must stand in that file word for word.

Usage: check_snippets.py PROJECT_ROOT
"""
import pathlib
import re
import sys

BLOCK = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(root):
    complaints, count = [], 0
    for page in sorted((root / "docs").rglob("*.md")):
        for path, code in BLOCK.findall(page.read_text()):
            count += 1
            if code not in (root / path).read_text():
                complaints.append(f"{page.relative_to(root)}: this is not in {path}:\n{code}")
    print("\n".join(complaints) or f"{count} snippets stand in the files that they name")
    return 1 if complaints or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
