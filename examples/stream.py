"""stream.py MODEL PROMPT: streams an answer, with a policy whose score is written in Python."""

import sys

import numpy as np

import vase


class SmallKeyTimesRange(vase.Scorer):
    """Keeps the slots with the smallest key norm times value range."""

    name = "small-key-times-range"
    needs = vase.Needs(value_range=True)

    def score(self, head):
        norms = np.linalg.norm(head.keys[: head.candidates], axis=1)
        return -norms * head.value_range  # larger is kept


def main(path, prompt):
    model = vase.Model(path)
    policy = vase.Policy("protect=sinks:4 score=uniform").with_scorer(SmallKeyTimesRange())
    engine = vase.Engine(model, policy, budget=128, buffer=32)
    session = engine.submit(model.tokenize_chat([{"role": "user", "content": prompt}]), max_tokens=200)
    for text in session:
        print(text, end="", flush=True)
    print(f"\n{session.counters.evicted} tokens evicted, ended by {session.finish}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except vase.Error as error:
        sys.exit(f"error: {error}")
