"""Places of a page that a script fills: between <!-- begin NAME --> and <!-- end NAME -->."""
import re

from files import PageError


def fill(page, text, name, content):
    """The text of the page with `content` between the markers of `name`. page: its name, for messages."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    filled, count = pattern.subn(lambda _: f"{begin}\n{content}\n{end}", text)
    if count != 1:
        raise PageError(f"{page}: the lines '{begin}' and '{end}' must stand there once, in this order")
    return filled
