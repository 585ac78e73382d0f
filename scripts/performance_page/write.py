"""write.py tables|plot ROOT: fills docs/performance.md from bench/results, and with `plot` makes docs/performance/*.svg."""
import pathlib
import sys

from figures import FIGURES
from files import PageError
from page import Page, say, write_page
from results import load
from tables import runs_table


def main(verb, root):
    root = pathlib.Path(root)
    results = load(root / "bench" / "results", say)
    svg = None
    if verb == "plot":
        import plots

        svg = plots.svg
    page = Page(root, "performance", "scripts/performance measure", FIGURES)
    write_page(page, results, svg, {"runs": runs_table(results)})


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except PageError as error:
        sys.exit(f"error: {error}")
