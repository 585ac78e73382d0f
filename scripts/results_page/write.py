"""write.py tables|page ROOT: fills docs/results.md and docs/answers-per-megabyte.md from eval/results, and with `page` makes their
pictures."""
import study_figures
from figures import FIGURES
from page import Page, main
from results import load
from tables import runs_table


def pages(root, results):
    in_study = lambda run: run["kind"] in study_figures.KINDS
    return [
        (page_of(root, "results", FIGURES), {"runs": runs_table(results, lambda run: not in_study(run))}),
        (page_of(root, "answers-per-megabyte", study_figures.FIGURES), {"mb-runs": runs_table(results, in_study)}),
    ]


def page_of(root, name, figures):
    return Page(root, name, "scripts/results measure", figures)


if __name__ == "__main__":
    main("eval/results", load, pages)
