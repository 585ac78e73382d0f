"""record.py RESULT FILE COMMAND: keeps the JSON of a finished `vase bench`, with the command that made it, as FILE."""
import json
import pathlib
import sys

from files import PageError, write_whole


def one_row_a_line(run):
    head = {field: value for field, value in run.items() if field != "rows"}
    rows = ",\n".join(json.dumps(row) for row in run["rows"])
    return f'{json.dumps(head)[:-1]}, "rows": [\n{rows}\n]}}\n'


def main(result, file, command):
    try:
        text = one_row_a_line({"command": command, **json.loads(pathlib.Path(result).read_text())})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PageError(f"`vase bench` left no report: {error}") from error
    write_whole(pathlib.Path(file), text.encode())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except PageError as error:
        sys.exit(f"error: {error}")
