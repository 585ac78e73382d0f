"""differences.py OWN MATH_VERIFY JUDGED: lists the pairs on which two graders differ.

OWN and MATH_VERIFY hold what `vase eval grade --json` printed for the same pairs. JUDGED has JSON lines {"given",
"expected", "own", "right", "why"}: a pair on which they differ, what the own grader says, which of the two is right
("own", "math-verify", or "either" where it is a matter of taste), and a word why. Ends with 1 when there is a difference
that is not judged, or a judged pair that is judged otherwise now.
"""
import json
import sys


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def key(pair):
    return pair["given"], pair["expected"]


def show(pair, own, word):
    verdict = "own: same, math-verify: different" if own else "own: different, math-verify: same"
    print(f"{pair[0]}   expected: {pair[1]}   ({verdict}) {word}")


def main():
    own, other = ({key(line): line["same"] for line in read_lines(path)} for path in sys.argv[1:3])
    judged = {key(line): line for line in read_lines(sys.argv[3])}
    unjudged = [pair for pair in own if None in (own[pair], other[pair])]
    for pair in unjudged:
        print(f"{pair[0]}   expected: {pair[1]}   one of them could not judge it")
        del own[pair]
    different = {pair: same for pair, same in own.items() if same != other[pair]}
    open_ones = 0
    counts = {"own": 0, "math-verify": 0, "either": 0}
    for pair, same in different.items():
        judgement = judged.get(pair)
        if judgement and judgement["own"] == same:
            counts[judgement["right"]] += 1
            show(pair, same, f"right: {judgement['right']}, {judgement['why']}")
        else:
            open_ones += 1
            show(pair, same, "NOT JUDGED")
    gone = [pair for pair in judged if pair in own and pair not in different]
    for pair in gone:
        print(f"{pair[0]}   expected: {pair[1]}   judged, but they agree now")
    share = 100 * (1 - len(different) / len(own))
    print(
        f"{len(own)} pairs, {len(different)} differ ({share:.1f} % agreement): right is own {counts['own']}, "
        f"math-verify {counts['math-verify']}, a matter of taste {counts['either']}, not judged {open_ones}; without a verdict {len(unjudged)}"
    )
    sys.exit(1 if open_ones or gone else 0)


if __name__ == "__main__":
    main()
