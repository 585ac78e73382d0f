"""page.py tables|plot ROOT: fills docs/performance.md from bench/results, and with `plot` makes docs/performance/*.svg.

Everything is read and made before anything is written.
"""
import pathlib
import re
import sys

from figures import FIGURES
from files import PageError, write_whole
from results import load
from tables import runs_table


def say(line):
    print(line, file=sys.stderr)


def measure_command(names):
    return f"scripts/performance measure {' '.join(names)}"


def picture(root, figure):
    return root / "docs" / "performance" / f"{figure.name}.svg"


def section(figure, results, has_picture):
    """What stands between the markers of a figure."""
    rows, missing = results.rows_of(figure.runs), results.missing(figure.runs)
    parts = []
    if rows and has_picture:
        parts.append(f"![{figure.alt}](performance/{figure.name}.svg)")
    if rows:
        parts.append(figure.table(rows))
    if missing:
        parts.append(f"Not measured yet: `{measure_command(missing)}`")
    return "\n\n".join(parts)


def fill(text, name, content):
    """Puts `content` between the markers of `name`."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    filled, count = pattern.subn(lambda _: f"{begin}\n{content}\n{end}", text)
    if count != 1:
        raise PageError(f"docs/performance.md: the lines '{begin}' and '{end}' must stand there once, in this order")
    return filled


def filled_page(root, results, pictures):
    page = root / "docs" / "performance.md"
    try:
        text = page.read_text()
    except OSError as error:
        raise PageError(f"cannot read {page}: {error.strerror}") from error
    for figure in FIGURES:
        has_picture = figure.name in pictures if pictures is not None else picture(root, figure).exists()
        text = fill(text, figure.name, section(figure, results, has_picture))
    return fill(text, "runs", runs_table(results))


def draw(results):
    """name -> SVG, of every figure that has a run."""
    import plots

    pictures = {}
    for figure in FIGURES:
        rows, missing = results.rows_of(figure.runs), results.missing(figure.runs)
        if missing:
            say(f"{figure.name}: {'some runs are missing' if rows else 'left out'}; to make it: {measure_command(missing)}")
        if rows:
            pictures[figure.name] = plots.svg(figure.name, rows)
    return pictures


def main(verb, root):
    root = pathlib.Path(root)
    results = load(root / "bench" / "results", say)
    pictures = draw(results) if verb == "plot" else None
    page = filled_page(root, results, pictures)
    for figure in FIGURES if verb == "plot" else ():
        path = picture(root, figure)
        if figure.name in pictures:
            write_whole(path, pictures[figure.name])
        else:
            path.unlink(missing_ok=True)
    write_whole(root / "docs" / "performance.md", page.encode())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except PageError as error:
        sys.exit(f"error: {error}")
