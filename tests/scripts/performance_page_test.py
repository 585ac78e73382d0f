"""performance_page_test.py RESULTS: the arithmetic of the performance page, and that every run of the list has a figure."""
import pathlib
import sys
import unittest

from cases import crossing, model_of, ratio_of_repeats
from figures import FIGURES
from recorded import Results, known_runs
from results import Row
from tables import about, batch_table, digits, kv_types_table

RESULTS = pathlib.Path(sys.argv.pop())


def timed(depth, batch, speed):
    speeds = {"tokens_per_s": speed, "tokens_per_s_low": speed, "tokens_per_s_high": speed}
    peers = {"peer_flash_tokens_per_s": None, "peer_plain_tokens_per_s": None, "ratio_vs_peer": None}
    return Row(RESULTS, {"model": "m-1b", "policy_name": "full", "test": "tg8", "depth": depth, "batch": batch} | speeds | peers)


class Page(unittest.TestCase):
    def test_a_crossing_lies_between_two_depths(self):
        self.assertEqual(crossing([(1000, 1.0), (3000, 1.1)], 1.05), 2000)

    def test_a_crossing_is_the_last_one(self):
        self.assertEqual(crossing([(0, 1.2), (1000, 1.0), (3000, 1.1)], 1.05), 2000)

    def test_a_crossing_may_be_outside(self):
        self.assertEqual(crossing([(512, 1.1), (1024, 1.2)], 1.05), 512)
        self.assertIsNone(crossing([(512, 1.1), (1024, 1.0)], 1.05))

    def test_ratios_are_of_one_repeat(self):
        ours = Row(RESULTS, {"tokens_per_s_repeats": [10, 30, 40]})
        theirs = Row(RESULTS, {"tokens_per_s_repeats": [10, 10, 20]})
        self.assertEqual(ratio_of_repeats(ours, theirs), 2)  # of 1, 3, 2; the medians give 3

    def test_types_of_rows_are_compared_with_f16_of_their_run(self):
        def typed(path, key, value, speed):
            fields = timed(0, 1, speed).fields | {"key_type": key, "value_type": value, "budget": 64, "kv_mib": 1.0}
            return Row(path, fields | {"tokens_per_s_repeats": [speed]})

        other = RESULTS / "other.json"
        rows = [typed(RESULTS, "f16", "f16", 10), typed(RESULTS, "q8_0", "q4_0", 15), typed(other, "q4_0", "q4_0", 8), typed(other, "f16", "f16", 4)]
        lines = kv_types_table(rows).splitlines()[2:]
        self.assertEqual([line.split(" | ")[-1] for line in lines], ["- |", "1.50x |", "2.00x |", "- |"])
        self.assertIn("| q8_0,q4_0 |", lines[1])

    def test_names_end_with_the_size(self):
        names = {
            "qwen3-0.6b (random weights)": "qwen3-0.6b",
            "Qwen2.5 Coder 1.5B Instruct GGUF": "Qwen2.5 Coder 1.5B",
            "Smollm2 135M 8k Lc100K Mix1 Ep2": "Smollm2 135M",
            "nameless": "nameless",
        }
        for name, short in names.items():
            self.assertEqual(model_of(Row(RESULTS, {"model": name})), short)

    def test_numbers_keep_what_matters(self):
        self.assertEqual([digits(x) for x in (0.912, 9.994, 12.34, 1234.5)], ["0.91", "9.99", "12.3", "1,234"])
        self.assertEqual(about(4937), "4,900")

    def test_batches_at_different_depths_stand_apart(self):
        tables = batch_table([timed(16384, 4, 5), timed(8192, 4, 7), timed(8192, 8, 9)]).split("\n\n")
        self.assertEqual([table.splitlines()[0] for table in tables],
                         ["| m-1b, 8,192 seen, sequences | full cache |", "| m-1b, 16,384 seen, sequences | full cache |"])
        self.assertEqual([table.splitlines()[2:] for table in tables], [["| 4 | 7.00 |", "| 8 | 9.00 |"], ["| 4 | 5.00 |"]])

    def test_every_run_belongs_to_a_figure_and_every_figure_has_one(self):
        results = Results(known_runs(RESULTS), {}, {})
        matching = [results.matching(figure.runs) for figure in FIGURES]
        self.assertTrue(all(matching))
        self.assertEqual(set(results.known), set().union(*matching))
        self.assertEqual(len(results.known), len(set(results.known)))


unittest.main()
