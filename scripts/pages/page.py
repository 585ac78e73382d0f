"""A page with figures: each a picture, a table, and the command for what is missing, between markers of its name."""
import pathlib
import sys
from dataclasses import dataclass
from typing import Callable

from files import PageError, write_whole
from markers import fill


@dataclass(frozen=True)
class Figure:
    name: str  # of its markers in the page, of its picture, and of its function in plots.py
    runs: tuple  # patterns of names of runs
    alt: str  # what the picture shows, for those who do not see it; "": it has none
    table: Callable  # of the rows of its runs


@dataclass(frozen=True)
class Page:
    root: object  # of the tree
    name: str  # of the file below docs/, and of the folder of its pictures: "performance"
    measure: str  # the command that measures runs; their names are appended
    figures: tuple

    @property
    def file(self):
        return f"docs/{self.name}.md"

    def picture(self, figure):
        return self.root / "docs" / self.name / f"{figure.name}.svg"

    def command(self, names):
        return f"{self.measure} {' '.join(names)}"


def say(line):
    print(line, file=sys.stderr)


def section(page, figure, results, has_picture):
    """What stands between the markers of a figure."""
    rows, missing = results.rows_of(figure.runs), results.missing(figure.runs)
    parts = []
    if rows and has_picture:
        parts.append(f"![{figure.alt}]({page.name}/{figure.name}.svg)")
    if rows:
        parts.append(figure.table(rows))
    if missing:
        parts.append(f"Not measured yet: `{page.command(missing)}`")
    return "\n\n".join(parts)


def filled(page, results, pictures, extra):
    path = page.root / page.file
    try:
        text = path.read_text()
    except OSError as error:
        raise PageError(f"cannot read {path}: {error.strerror}") from error
    for figure in page.figures:
        has_picture = figure.name in pictures if pictures is not None else page.picture(figure).exists()
        text = fill(page.file, text, figure.name, section(page, figure, results, has_picture))
    for name, content in extra.items():
        text = fill(page.file, text, name, content)
    return text


def draw(page, results, svg):
    """name -> SVG, of every figure that has a run."""
    pictures = {}
    for figure in page.figures:
        rows, missing = results.rows_of(figure.runs), results.missing(figure.runs)
        if missing:
            say(f"{figure.name}: {'some runs are missing' if rows else 'left out'}; to make it: {page.command(missing)}")
        if rows and figure.alt:
            pictures[figure.name] = svg(figure.name, rows)
    return pictures


def write_pages(pages, results, svg):
    """Fills pages, a list of (page, extra), and draws their pictures unless svg is None.

    svg(name, rows): the picture of a figure. extra: marker -> what stands there beside the figures. Everything is made before
    anything is written.
    """
    made = []
    for page, extra in pages:
        pictures = draw(page, results, svg) if svg else None
        made.append((page, pictures, filled(page, results, pictures, extra)))
    for page, pictures, text in made:
        put(page, pictures, text)


def put(page, pictures, text):
    for figure in page.figures if pictures is not None else ():
        if figure.name in pictures:
            write_whole(page.picture(figure), pictures[figure.name])
        else:
            page.picture(figure).unlink(missing_ok=True)
    write_whole(page.root / page.file, text.encode())


def main(folder, load, pages):
    """The program `write.py VERB ROOT`: fills pages; with another verb than "tables" the module plots draws their pictures.

    folder: of the results, below ROOT, from which load(folder, say) reads them. pages(root, results): as write_pages() takes them.
    """
    try:
        verb, root = sys.argv[1], pathlib.Path(sys.argv[2])
        results = load(root / folder, say)
        write_pages(pages(root, results), results, None if verb == "tables" else picture_maker())
    except PageError as error:
        sys.exit(f"error: {error}")


def picture_maker():
    import plots  # needs matplotlib

    return plots.svg
