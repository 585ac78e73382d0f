"""What every page made from recorded runs needs: its error, and files that are whole or not there."""
import os


class PageError(Exception):
    """One line for people: what was wrong, and what to do."""


def write_whole(path, data):
    """Replaces `path` by `data` (bytes) at once, so that no reader and no interrupted run sees a part."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise PageError(f"cannot write {path}: {error.strerror}") from error
