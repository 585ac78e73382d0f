"""results_page_test.py RESULTS: the arithmetic of docs/results.md, and that the list of runs and its figures belong together."""
import math
import pathlib
import sys
import unittest

import kl_parts
import study_figures
import tables
from cases import Beside, Share
from figures import FIGURES
from record import in_order, text_of
from recorded import Results, known_runs
from results import joined, read_authors
from runs import read_runs
from spread import paired, rank_correlation, ranks, t_quantile, wilson

RESULTS = pathlib.Path(sys.argv.pop())
# Runs whose texts others read.
TEXTS = {"texts-coder-1.5b", "texts-coder-0.5b", "texts-smollm2"}


class Numbers(unittest.TestCase):
    def test_wilson_s_ends_are_shares_from_which_the_one_seen_is_just_as_far_as_it_may_be(self):
        for end in wilson(45, 64):
            self.assertAlmostEqual(abs(45 / 64 - end), 1.959964 * math.sqrt(end * (1 - end) / 64))
        self.assertEqual(wilson(0, 4)[0], 0)

    def test_student_s_t_is_scipy_s(self):
        scipy = {1: 12.7062047, 2: 4.30265273, 3: 3.18244631, 5: 2.57058184, 10: 2.22813885, 19: 2.09302405, 30: 2.04227246, 100: 1.98397152}
        for degrees, t in scipy.items():
            self.assertAlmostEqual(t_quantile(degrees), t, places=7)
        self.assertAlmostEqual(t_quantile(100000), 1.959964, places=4)

    def test_pairs_are_problems_that_both_have(self):
        mean, low, high = paired({"a": 1, "b": 1, "c": 0}, {"a": 0, "b": 1, "d": 1})
        self.assertEqual(mean, 0.5)
        self.assertAlmostEqual(high - mean, 12.7062047 * 0.5)  # stdev of 1, 0 is sqrt(1/2), over sqrt(2)
        self.assertAlmostEqual(mean - low, high - mean)
        self.assertIsNone(paired({"a": 1}, {"b": 1}))

    def test_problems_that_all_differ_by_as_much_say_nothing_of_others(self):
        self.assertEqual(paired({"a": 1, "b": 1}, {"a": 0, "b": 0}), (1, None, None))
        self.assertEqual(tables.points((-0.5, None, None)), "-50.0 [?]")
        self.assertEqual(tables.points((-0.5, -0.75, -0.25)), "-50.0 [-75.0, -25.0]")

    def test_ranks_share_ties(self):
        self.assertEqual(ranks([10, 30, 20, 20]), [1, 4, 2.5, 2.5])
        self.assertAlmostEqual(rank_correlation([1, 2, 3], [1, 8, 27]), 1)
        self.assertAlmostEqual(rank_correlation([1, 2, 3, 4], [2, 1, 4, 3]), 0.6)
        self.assertIsNone(rank_correlation([1, 1], [1, 2]))

    def test_ids_are_ordered_by_their_numbers(self):
        lines = [{"id": name} for name in ("gsm8k-10", "gsm8k-9", "test/algebra/2.json", "test/algebra/10.json")]
        self.assertEqual([line["id"] for line in in_order(lines[::-1])], ["gsm8k-9", "gsm8k-10", "test/algebra/2.json", "test/algebra/10.json"])

    def test_policies_are_measured_a_few_at_a_time(self):
        policies, others = kl_parts.split(["--model", "m", "--policy", "a", "--kv-budget", "64", "--policy", "b"])
        self.assertEqual((policies, others), (["a", "b"], ["--model", "m", "--kv-budget", "64"]))
        self.assertEqual([len(part) for part in kl_parts.parts_of(list("abcdefghijklm"))], [6, 6, 1])

    def test_records_have_a_line_for_each_group(self):
        text = text_of({"kind": "run", "rows": [{"a": 1}], "groups": [{"b": 2}, {"c": 3}]})
        self.assertEqual(text, '{"kind": "run", "rows": [\n{"a":1}\n], "groups": [\n{"b":2},\n{"c":3}\n]}\n')


class FakeRun:
    """What joined() looks at in a recorded run."""

    def __init__(self, *entries):
        self.fields = {field: [{"policy": policy, "budget": budget, "by": by} for policy, budget, by in entries] for field in ("rows", "groups")}

    def __getitem__(self, field):
        return self.fields[field]

    def of(self, entry, field):
        return entry[field]


class Joined(unittest.TestCase):
    def test_what_two_runs_hold_is_the_first_one_s(self):
        first = FakeRun(("full", 0, "first"), ("vase", 96, "first"), ("vase", 96, "first, other seed"))
        second = FakeRun(("full", 0, "second"), ("random", 96, "second"), ("vase", 128, "second"))
        whole = joined([first, second])
        for field in ("rows", "groups"):
            held = [(entry["policy"], entry["budget"], entry["by"]) for entry in whole[field]]
            self.assertEqual(held, [("full", 0, "first"), ("vase", 96, "first"), ("vase", 96, "first, other seed"), ("random", 96, "second"), ("vase", 128, "second")])
        self.assertEqual(len(first["rows"]), 3)


class Lists(unittest.TestCase):
    def test_every_run_belongs_to_a_figure_and_every_figure_has_one(self):
        results = Results(known_runs(RESULTS), {}, {})
        matching = [results.matching(figure.runs) for figure in FIGURES + study_figures.FIGURES]
        self.assertTrue(all(matching))
        self.assertEqual(set(results.known), set().union(*matching) | TEXTS)
        self.assertEqual(len(results.known), len(set(results.known)))

    def test_a_run_comes_behind_those_that_it_reads(self):
        seen = set()
        for run in read_runs(RESULTS):
            read = {word.removeprefix("RUN/").partition("/")[0] for word in run.words if word.startswith("RUN/")}
            self.assertLessEqual(read, seen)
            seen.add(run.name)

    def test_the_authors_policies_are_those_of_runs(self):
        words = {run.name: run.words for run in read_runs(RESULTS)}
        of = lambda prefix: {word for name in words if name.startswith(prefix) for word in words[name]}
        for one in read_authors(RESULTS):
            if one.parity != "greedy":
                self.assertIn(one.parity, of("gsm8k-64-parity"))
                self.assertIn(one.default, of("gsm8k-64-default"))

    def test_groups_keep_the_authors_order_or_do_not(self):
        def case(group, value):
            share = Share(value, 0, 1, 0, None)
            return Beside("", group, share, share, None)

        kept = [case("good", 0.7), case("good", 0.6), case("bad", 0.64)]
        self.assertEqual(tables.groups(kept), "Groups, in the authors' order: good 65.0, bad 64.0; parity has the same order.")
        self.assertIn("bad 66.0; parity has another order.", tables.groups([*kept[:2], case("bad", 0.66)]))


unittest.main()
