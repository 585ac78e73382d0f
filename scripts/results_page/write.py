"""write.py tables|page ROOT: fills docs/results.md from eval/results, and with `page` makes docs/results/*.svg."""
import pathlib
import sys

from figures import FIGURES
from files import PageError
from page import Page, say, write_page
from results import load
from tables import runs_table


def main(verb, root):
    root = pathlib.Path(root)
    results = load(root / "eval" / "results", say)
    svg = None
    if verb == "page":
        import plots

        svg = plots.svg
    page = Page(root, "results", "scripts/results measure", FIGURES)
    write_page(page, results, svg, {"runs": runs_table(results)})


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except PageError as error:
        sys.exit(f"error: {error}")
