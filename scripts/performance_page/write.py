"""write.py tables|plot ROOT: fills docs/performance.md from bench/results, and with `plot` makes docs/performance/*.svg."""
from figures import FIGURES
from page import Page, main
from results import load
from tables import runs_table


def pages(root, results):
    return [(Page(root, "performance", "scripts/performance measure", FIGURES), {"runs": runs_table(results)})]


if __name__ == "__main__":
    main("bench/results", load, pages)
