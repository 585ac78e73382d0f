"""write.py tables|page ROOT: fills docs/results.md and docs/answers-per-megabyte.md from eval/results, and with `page` makes their
pictures."""
import pathlib
import sys

import study_figures
from figures import FIGURES
from files import PageError
from page import Page, say, write_pages
from results import load
from tables import runs_table


def main(verb, root):
    root = pathlib.Path(root)
    results = load(root / "eval" / "results", say)
    svg = None
    if verb == "page":
        import plots

        svg = plots.svg
    in_study = lambda run: run["kind"] in study_figures.KINDS
    pages = [
        (page_of(root, "results", FIGURES), {"runs": runs_table(results, lambda run: not in_study(run))}),
        (page_of(root, "answers-per-megabyte", study_figures.FIGURES), {"mb-runs": runs_table(results, in_study)}),
    ]
    write_pages(pages, results, svg)


def page_of(root, name, figures):
    return Page(root, name, "scripts/results measure", figures)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except PageError as error:
        sys.exit(f"error: {error}")
