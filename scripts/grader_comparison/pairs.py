"""pairs.py PAIRS_BY_HAND [PROBLEMS...]: prints pairs of answers for two graders as JSON lines {"given", "expected"}.

The pairs by hand come first. Then every answer of the problem files against itself in other notations, against itself
changed, and against the answers of two other problems. Nothing is said about which are the same: graders are compared
with each other.
"""
import json
import re
import sys
from collections import Counter
from fractions import Fraction

NUMBER = re.compile(r"-?\d+")
FRACTION = re.compile(r"(-?)\\d?frac\{(\d+)\}\{(\d+)\}")
MOST_OF_A_FORM = 4
NEIGHBOURS = (1, 7)  # an answer is compared with those so many problems further on


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def distinct_answers(paths):
    """Of answers that differ in their numbers alone the first few."""
    answers = [str(problem["answer"]) for path in paths for problem in read_lines(path)]
    kept, seen = [], Counter()
    for answer in dict.fromkeys(answers):
        form = re.sub(r"\d+", "0", answer.replace(" ", ""))
        seen[form] += 1
        if seen[form] <= MOST_OF_A_FORM:
            kept.append(answer)
    return kept


def whole_number_notations(text):
    number = int(text)
    yield f"{number}.0"
    yield f"{number}.00"
    yield f"\\${number}"
    yield f"{number}\\text{{ units}}"
    yield f"{number} dollars"
    yield f"{number}\\%"
    yield f"\\frac{{{2 * number}}}{{2}}"
    yield f"x = {number}"
    if abs(number) >= 1000:
        yield f"{number:,}"
        yield f"{number:,}".replace(",", "{,}")
        yield f"{number:,}".replace(",", ",\\!")


def fraction_notations(sign, above, below):
    value = Fraction(int(above), int(below))
    yield f"{sign}{above}/{below}"
    yield f"{sign}\\tfrac{{{above}}}{{{below}}}"
    yield f"\\frac{{{sign}{3 * int(above)}}}{{{3 * int(below)}}}"
    yield f"{sign}{float(value):.9f}"
    yield f"{sign}{float(value):.2f}"
    whole, rest = divmod(value.numerator, value.denominator)
    if whole and rest:
        yield f"{sign}{whole}\\frac{{{rest}}}{{{value.denominator}}}"


def other_notations(text):
    """Most of them mean the same."""
    yield text.replace(" ", "")
    yield f"$ {text} $"
    yield f"{{{text}}}"
    yield text.replace("\\frac", "\\dfrac")
    yield text.replace("\\left", "").replace("\\right", "")
    yield text.replace("^\\circ", "°")
    yield re.sub(r"\\text\{\s*(.*?)\s*\}", r"\1", text)
    yield re.sub(r"\\sqrt\{(\d)\}", r"\\sqrt\1", text)
    yield text.replace("\\pi", "π").replace("\\sqrt", "√")
    yield text.replace("pmatrix", "bmatrix")
    if NUMBER.fullmatch(text):
        yield from whole_number_notations(text)
    if match := FRACTION.fullmatch(text):
        yield from fraction_notations(*match.groups())


def changed(text):
    """Most of them mean something else."""
    if match := NUMBER.search(text):
        yield text[: match.start()] + str(int(match.group()) + 1) + text[match.end() :]
    yield "-" + text
    yield text + "+1"
    yield text + "x"
    for one, other in (("(", "["), ("]", ")"), ("+", "-"), ("\\pi", ""), ("\\sqrt", ""), ("\\cup", ","), ("\\pm", "+")):
        if one in text:
            yield text.replace(one, other)


def main():
    by_hand, *problems = sys.argv[1:]
    pairs = [(pair["given"], pair["expected"]) for pair in read_lines(by_hand)]
    answers = distinct_answers(problems)
    for i, answer in enumerate(answers):
        pairs += [(given, answer) for given in (*other_notations(answer), *changed(answer))]
        pairs += [(answers[(i + step) % len(answers)], answer) for step in NEIGHBOURS]
    for given, expected in dict.fromkeys(pairs):
        print(json.dumps({"given": given, "expected": expected}))


if __name__ == "__main__":
    main()
