"""results_study_test.py RESULTS: the arithmetic of docs/answers-per-megabyte.md, and that its runs, rows and aims belong together."""
import pathlib
import sys
import unittest
from unittest import mock

import study
import study_tables
import study_figures
import texts
import tune_parts
from files import PageError
from recorded import Results, known_runs
from runs import read_runs
from study import ATTNV, CANDIDATES, COMPOSITION, DKV, NICKNAMES, RANDOM, Kind, Row

RESULTS = pathlib.Path(sys.argv.pop())


def row(kl, kind=ATTNV):
    return Row(kind, 64, 1, kl, {text: 1 for text in kl})


class Numbers(unittest.TestCase):
    def test_a_ratio_of_proportional_rows_has_no_error(self):
        value, error = study.ratio(row({"a": 0.1, "b": 0.3}), row({"b": 0.6, "a": 0.2}))
        self.assertAlmostEqual(value, 0.5)
        self.assertAlmostEqual(error, 0)

    def test_the_error_of_a_ratio_is_that_of_what_it_leaves_over(self):
        # 0.08 of 0.2 and 0.3 leaves 0.004 and -0.004: standard error 0.004, over a mean of 0.25.
        value, error = study.ratio(row({"a": 0.02, "b": 0.02}), row({"a": 0.2, "b": 0.3}))
        self.assertAlmostEqual(value, 0.08)
        self.assertAlmostEqual(error, 0.016)
        self.assertIsNone(study.ratio(row({"a": 1}), row({"a": 2}))[1])

    def test_rows_are_told_apart_beyond_the_floor_and_student_s_t(self):
        best = row({"a": 0.01, "b": 0.02, "c": 0.01, "d": 0.02})
        clear = study.behind(row({"a": 0.02, "b": 0.025, "c": 0.02, "d": 0.025}), best, 0.003)  # 5.2 errors, t is 3.2
        self.assertAlmostEqual(clear.mean, 0.0075)
        self.assertAlmostEqual(clear.error, 0.0025 / 3**0.5)
        self.assertTrue(clear.told_apart)
        self.assertFalse(study.behind(row({"a": 0.02, "b": 0.025, "c": 0.02, "d": 0.025}), best, 0.008).told_apart)
        self.assertFalse(study.behind(row({"a": 0.03, "b": 0.02}), row({"a": 0.01, "b": 0.02}), 0.003).told_apart)  # 0.01 ± 0.01
        self.assertFalse(study.behind(row({"a": 0.02, "b": 0.025}), row({"a": 0.01, "b": 0.02}), 0.003).told_apart)  # 3 errors, t is 12.7
        self.assertFalse(study.behind(row({"a": 0.9}), row({"a": 0.1}), 0.003).told_apart)  # one text

    def test_a_row_is_the_full_cache_before_its_own_positions(self):
        entry = study.Entry(ATTNV, 64, 1, {"a": (50, 0.4, 0.9)})
        joined = entry.row({"a": 200})
        self.assertAlmostEqual(joined.kl["a"], 0.1)
        self.assertAlmostEqual(joined.same_top["a"], 0.975)

    def test_points_stand_side_by_side(self):
        best, equal, worse = row({"a": 0.01, "b": 0.02}), row({"a": 0.011, "b": 0.021}, DKV), row({"a": 0.3, "b": 0.3}, RANDOM)
        few, many = study.Point("Tiny", 2, 0.003, [best], ["x"], []), study.Point("Tiny", 4, 0.012, [best, equal, worse], ["x"], [])
        lines = study_tables.side_by_side([few, many]).splitlines()
        self.assertEqual(lines[0], "| rows | policy | 2 MiB | 4 MiB |")
        self.assertEqual(lines[2:], [
            "| f16 | vase-attnv | 15.00 ± 5.00 | 15.00 ± 5.00 |",
            "| f16 | vase-dkv | - | 16.00 ± 5.00 (=) |",
            "| f16 | random-sinks | - | 300.00 ± 0.00 |",
        ])  # fmt: skip

    def test_rounding_stands_by_type_and_model(self):
        small = row({"a": 0.001, "b": 0.002}, Kind("vase", "q8_0"))
        large = row({"a": 0.01, "b": 0.01}, Kind("vase", "q4_0"))
        with mock.patch.object(study_tables, "points_of", lambda runs: [study.Point(runs[0], 24, 0.003, [small, large], ["x"], [])]):
            lines = study_tables.types_table(["Tiny", "Small"]).splitlines()
        self.assertEqual(lines[0], "| rows: keys, values | Tiny | Small |")
        self.assertEqual(lines[2:], [
            "| q8_0 | 1.50 ± 0.50 (*) | 1.50 ± 0.50 (*) |",
            "| q4_0 | 10.00 ± 0.00 | 10.00 ± 0.00 |",
            "| noise floor | 3.00 | 3.00 |",
        ])  # fmt: skip

    def test_verdicts_say_when_they_are_close(self):
        self.assertEqual(study_tables.verdict(0.04, 0.004, 0.05, 20), "met")  # 2.5 errors, t is 2.1
        self.assertEqual(study_tables.verdict(0.06, 0.004, 0.05, 20), "missed")
        self.assertEqual(study_tables.verdict(0.04, 0.004, 0.05, 3), "not told apart from the aim")  # t is 4.3
        self.assertEqual(study_tables.verdict(0.06, 0.01, 0.05, 20), "not told apart from the aim")
        self.assertEqual(study_tables.verdict(0.04, None, 0.05, 1), "not told apart from the aim")

    def test_settings_are_names_without_megabytes_and_rows(self):
        self.assertEqual(study_tables.setting_of("mb-smollm2-r32-m128-quick"), "mb-smollm2-r32")
        self.assertEqual(study_tables.setting_of("mb-held-math-m64-rest"), "mb-held-math")

    def test_texts_are_chosen_by_number_among_prompts_of_equal_length(self):
        recorded = [{"id": f"gsm8k-{number}", "P": length} for number, length in ((100, 7), (20, 8), (9, 7), (30, 7), (8, 8))]
        self.assertEqual([one["id"] for one in texts.chosen(recorded, 1, 2)], ["gsm8k-9", "gsm8k-30", "gsm8k-8", "gsm8k-20"])
        self.assertEqual([one["id"] for one in texts.chosen(recorded, 3, 4)], ["gsm8k-100"])
        self.assertRaises(PageError, texts.range_of, "5")

    def test_runs_name_rows(self):
        rows = {"quick": [["--kv-type", "f16"], ["--kv-type", "q4_0", "--seeds", "3"]]}
        shared, calls = tune_parts.calls_of(["--model", "m", "ROWS/quick"], rows)
        self.assertEqual((shared, calls), (["--model", "m"], rows["quick"]))
        with self.assertRaisesRegex(PageError, "no rows 'slow'; it has quick"):
            tune_parts.calls_of(["ROWS/slow"], rows)
        with self.assertRaisesRegex(PageError, "needs rows"):
            tune_parts.calls_of(["--model", "m"], rows)


class Missing(unittest.TestCase):
    def test_all_runs_of_a_pattern_are_named_by_it(self):
        results = Results(["mb-a", "mb-b", "kl"], {}, {})
        self.assertEqual(results.missing(["mb-*", "kl"]), ["'mb-*'", "kl"])
        results.rows["mb-a"] = []
        self.assertEqual(results.missing(["mb-*", "mb-b"]), ["mb-b"])
        self.assertEqual(Results(["mb-a"], {}, {}).missing(["mb-*"]), ["mb-a"])


def kinds_of(call):
    values = lambda flag: [call[i + 1] for i, word in enumerate(call) if word == flag]
    pairs = [policy.partition(" @")[::2] for policy in values("--policy")]
    return [Kind(policy, kv_type) for policy, own in pairs for kv_type in ([own] if own else values("--kv-type"))]


class Lists(unittest.TestCase):
    rows = tune_parts.read_rows(RESULTS)
    runs = [run for run in read_runs(RESULTS) if run.kind == "tune"]

    def test_no_row_is_measured_twice(self):
        points = {}
        for run in self.runs:
            shared, calls = tune_parts.calls_of(list(run.words), self.rows)
            points.setdefault(tuple(shared), []).extend(kind for call in calls for kind in kinds_of(call))
        for point, kinds in points.items():
            self.assertEqual(len(kinds), len(set(kinds)), point)

    def test_policies_without_a_name_have_a_short_one(self):
        kinds = [kind for calls in self.rows.values() for call in calls for kind in kinds_of(call)]
        self.assertTrue({kind for kind in kinds if COMPOSITION.partition(":form")[0] in kind.policy} <= {k for k in kinds if k.policy in NICKNAMES})

    def test_two_lists_of_rows_are_what_the_first_tables_need(self):
        quick = {kind for name in ("default", "quick") for call in self.rows[name] for kind in kinds_of(call)}
        self.assertLessEqual({ATTNV, DKV, RANDOM, *CANDIDATES}, quick)

    def test_every_run_of_the_study_can_be_taken_apart(self):
        self.assertTrue(self.runs)
        for run in self.runs:
            shared, _ = tune_parts.calls_of(list(run.words), self.rows)
            self.assertTrue(all(tune_parts.value_of(shared, flag) for flag in ("--text", "--kv-budget-mb", "--threads")))

    def test_aims_are_about_runs_of_the_list(self):
        results = Results(known_runs(RESULTS), {}, {})
        (figure,) = [one for one in study_figures.FIGURES if one.name == "mb-aims"]
        runs = results.matching(figure.runs)
        for aim in study_tables.AIMS:
            self.assertEqual([name for name in runs if name.startswith(aim.at)], [f"{aim.at}default", f"{aim.at}quick"])


unittest.main()
