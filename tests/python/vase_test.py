"""The Python module against a tiny model. Usage: vase_test.py MODEL"""

import os
import pathlib
import signal
import sys
import threading
import time
import unittest

import numpy as np

import vase

MODEL = sys.argv.pop() if len(sys.argv) > 1 else None
PROMPT = list(range(ord("a"), ord("z") + 1))


def line(rows=5):
    """Keys ln 1 .. ln n of one channel: the query 1 gives candidate j the probability (j + 1) / (1 + .. + C)."""
    return np.log(np.arange(1.0, rows + 1))[:, None], np.zeros((rows, 1)), np.ones((1, 1, 1))


class SmallKeyTimesRange(vase.Scorer):
    name = "small-key-times-range"
    needs = vase.Needs(value_range=True)

    def score(self, head):
        return -np.linalg.norm(head.keys[: head.candidates], axis=1) * head.value_range


class Failing(vase.Scorer):
    name = "failing"
    fail = True

    def score(self, head):
        if self.fail:
            raise KeyError("from the scorer")
        return head.positions


class SelectTest(unittest.TestCase):
    def refused(self, part, **changes):
        keys, values, queries = line()
        arguments = {"keys": keys, "values": values, "queries": queries, "budget": 3, "buffer": 1, **changes}
        with self.assertRaisesRegex(vase.Error, part) as raised:
            vase.select("snapkv", **arguments)
        self.assertEqual(raised.exception.code, "usage")

    def test_keeps_what_the_query_looks_at(self):
        keys, values, queries = line()
        kept = vase.select(
            "protect=sinks:1 score=attention:smooth=off", keys, values, queries=queries, budget=3, buffer=1
        )
        np.testing.assert_array_equal(kept.kept, [0, 3, 4])
        np.testing.assert_allclose(kept.scores, [0.1, 0.2, 0.3, 0.4], rtol=1e-6)
        np.testing.assert_array_equal(kept.protected, [0])
        self.assertEqual(kept.log_weight.size, 0)

    def test_names_what_is_wrong(self):
        keys, values, queries = line()
        broken = keys.copy()
        broken[2, 0] = np.nan
        self.refused(r"keys\[2\]\[0\] is NaN|keys\[2\] is NaN", keys=broken)
        self.refused("keys has 1 axes", keys=keys[:, 0])
        self.refused("values holds int64", values=np.zeros((5, 1), dtype=np.int64))
        self.refused("values has 4 rows", values=values[:4])
        self.refused("same number of columns", values=np.zeros((5, 2)))
        self.refused("same d", queries=np.ones((1, 1, 2)))
        self.refused("positions holds float64", positions=np.arange(5.0))
        self.refused("positions must lie in", positions=np.arange(5) - 1)
        self.refused("budget of 6", budget=6)
        self.refused("budget is 3.0", budget=3.0)
        self.refused("seed is -1", seed=-1)
        self.refused("log_weight .* same n", log_weight=np.zeros(0))
        self.refused("mean the same", rope_base=1e4, rope_frequencies=[1.0])

    def test_a_scorer_on_arrays(self):
        keys = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [9.0, 9.0]])  # norms 5, 1, 2, 1.4
        values = np.array([[0.0, 1.0], [0.0, 9.0], [0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])  # ranges 1, 9, 1, 1
        policy = vase.Policy("score=uniform").with_scorer(SmallKeyTimesRange())
        self.assertEqual(str(policy), "score=small-key-times-range select=top")
        kept = vase.select(policy, keys, values, budget=3, buffer=1)
        np.testing.assert_array_equal(kept.kept, [2, 3, 4])
        np.testing.assert_allclose(kept.scores, [-5, -9, -2, -np.sqrt(2)], rtol=1e-6)

    def test_a_scorer_sees_the_head_only_while_it_runs(self):
        seen = []

        class Spy(vase.Scorer):
            needs = vase.Needs(queries=2, attention="window-sum")

            def score(self, head):
                seen.append(head)
                self.shapes = head.keys.shape, head.values.shape, head.queries.shape, head.attention.shape
                return head.positions + head.uniform()

        spy = Spy()
        vase.select(
            vase.Policy("random").with_scorer(spy),
            np.zeros((6, 4)), np.zeros((6, 4)), queries=np.zeros((3, 2, 4)), budget=4, buffer=2,
        )
        self.assertEqual(spy.shapes, ((6, 4), (6, 4), (2, 2, 4), (4,)))
        with self.assertRaisesRegex(vase.Error, "only while score"):
            seen[0].positions

    def test_window_records_over_the_candidates_or_over_all_slots(self):
        class Record(vase.Scorer):
            def __init__(self, over_all):
                self.needs = vase.Needs(attention="window-sum", queries=2, over_all=over_all)

            def score(self, head):
                return head.attention

        rows = np.zeros((6, 1))  # equal keys: the two newest of six queries see 5 and 6 slots, 4 of them candidates
        for over_all, expected in ((False, 2 / 4), (True, 1 / 5 + 1 / 6)):
            policy = vase.Policy("random").with_scorer(Record(over_all))
            scores = vase.select(policy, rows, rows, queries=np.zeros((2, 1, 1)), budget=4, buffer=2).scores
            np.testing.assert_allclose(scores, [expected] * 4, rtol=1e-6)

    def test_what_a_scorer_raises_or_returns(self):
        keys, values, _ = line()
        with self.assertRaisesRegex(KeyError, "from the scorer"):
            vase.select(vase.Policy("random").with_scorer(Failing()), keys, values, budget=3, buffer=1)

        class Short(vase.Scorer):
            def score(self, head):
                return [1.0]

        with self.assertRaisesRegex(vase.Error, r"shape \(1,\)"):
            vase.select(vase.Policy("random").with_scorer(Short()), keys, values, budget=3, buffer=1)
        with self.assertRaisesRegex(vase.Error, "window-sum"):
            vase.Needs(attention="window")


class PolicyTest(unittest.TestCase):
    def test_texts(self):
        self.assertEqual(vase.Policy.presets()["snapkv"], "score=attention select=top")
        self.assertIn("sinks:4", repr(vase.Policy("vase-attnv")))
        with self.assertRaisesRegex(vase.Error, "vase-attnv"):
            vase.Policy("vase-atnv")
        with self.assertRaisesRegex(vase.Error, "not its class"):
            vase.Policy("random").with_scorer(Failing)


class EngineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = vase.Model(MODEL)

    def engine(self, policy="vase-attnv", **options):
        return vase.Engine(self.model, policy, **{"budget": 32, "buffer": 8, "threads": 2, **options})

    def test_model(self):
        self.assertEqual(self.model.shape.architecture, "qwen2")
        self.assertEqual(self.model.tokenize("abc", add_special=False), [97, 98, 99])
        self.assertEqual(self.model.piece(255), b"\xff")
        chat = [{"role": "user", "content": "hi"}]
        self.assertIn("hi", self.model.render_chat(chat))
        self.assertGreater(len(self.model.tokenize_chat(chat)), 2)
        for wrong in ({"role": "user"}, {"role": "user", "content": 5}, None):
            with self.assertRaisesRegex(vase.Error, "'role' and 'content'"):
                self.model.tokenize_chat([wrong])
        self.assertEqual(vase.Model(pathlib.Path(MODEL)).shape.layers, self.model.shape.layers)
        with self.assertRaises(vase.Error) as raised:
            vase.Model("/nowhere.gguf")
        self.assertEqual(raised.exception.code, "not found")

    def test_streams_two_sessions_at_once(self):
        engine = self.engine(sequences=2, log_evictions=True)
        options = {"max_tokens": 60, "ignore_eos": True}
        first, second = (engine.submit(PROMPT, seed=seed, **options) for seed in (1, 2))
        text = "".join(first)
        self.assertEqual(first.finish, "length")
        self.assertEqual(len(first.generated), 60)
        self.assertEqual(first.counters.tokens_seen, 26 + 59)
        self.assertGreater(first.counters.evicted, 0)
        record = first.evictions[0]
        self.assertEqual((record.eviction, len(record.kept), record.seen, record.candidates), (0, 32, 40, 32))
        np.testing.assert_array_equal(record.kept[-8:], np.arange(32, 40))
        self.assertNotEqual("".join(second), text)  # its texts were kept while the first one ran
        alone = self.engine().submit(PROMPT, seed=1, **options)
        self.assertEqual("".join(alone), text)
        self.assertIn("40 slots", str(engine.memory))

    def test_budgets_may_fall_over_the_layers(self):
        engine = self.engine(layer_budgets="pyramid", pyramid_beta=4)
        self.assertEqual((engine.memory.first_budget, engine.memory.last_budget, engine.memory.capacity), (50, 14, 40))
        session = engine.submit(PROMPT, max_tokens=60, ignore_eos=True)
        for _ in session:
            pass
        self.assertEqual(session.counters.first_eviction, 22)

    def test_layers_evict_at_different_steps(self):
        def seen(layer, **options):
            session = self.engine(log_evictions=True, **options).submit(PROMPT, max_tokens=60, ignore_eos=True)
            for _ in session:
                pass
            return [record.seen for record in session.evictions if record.layer == layer and record.kv_head == 0]

        self.assertEqual(seen(0), [40, 48, 56, 64, 72, 80])
        self.assertEqual(seen(1), [40, 44, 52, 60, 68, 76, 84])
        self.assertEqual(seen(1, stagger=False), seen(0))

    def test_a_scorer_that_raises_leaves_the_engine_sound(self):
        scorer = Failing()
        engine = self.engine(vase.Policy("score=uniform").with_scorer(scorer))
        session = engine.submit(PROMPT, max_tokens=60, ignore_eos=True)
        with self.assertRaisesRegex(KeyError, "from the scorer"):
            for _ in session:
                pass
        self.assertEqual(session.finish, "running")
        scorer.fail = False
        for _ in session:
            pass
        self.assertEqual((session.finish, len(session.generated)), ("length", 60))

    def test_cancelling_ends_the_iteration(self):
        session = self.engine().submit(PROMPT, max_tokens=1000, ignore_eos=True)
        for _ in session:
            session.cancel()
        self.assertEqual(session.finish, "cancelled")

    def test_only_several_repeats_are_a_loop(self):
        with self.assertRaisesRegex(vase.Error, "stop loops is 2; allowed: 0 .off., or 3 to 1000"):
            self.engine().submit(PROMPT, stop_loops=2)

    def test_interrupt(self):
        session = self.engine().submit(PROMPT, max_tokens=100000, ignore_eos=True)
        threading.Thread(target=lambda: (time.sleep(0.2), os.kill(os.getpid(), signal.SIGINT))).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in session:
                pass

    def test_force(self):
        heard = []
        engine = self.engine(logit_rows=4)
        counters = engine.force(PROMPT, lambda position, logits: heard.append((position, logits.shape)), prompt_tokens=5)
        self.assertEqual(heard, [(i, (self.model.shape.vocabulary,)) for i in range(26)])
        self.assertEqual(counters.tokens_seen, 26)
        with self.assertRaises(ZeroDivisionError):
            engine.force(PROMPT, lambda position, logits: 1 / 0)
        engine.force(PROMPT, lambda position, logits: None)

    def test_types_that_megabytes_buy(self):
        for tokens, types in ((100, "f16"), (100000, "q4_0")):
            memory = self.engine(budget_mib=1, auto_types=True, expected_tokens=tokens).memory
            self.assertEqual((memory.key_type, memory.value_type), (types, types))
            self.assertLessEqual(memory.bytes, 1 << 20)

    def test_refusals(self):
        for part, options in {
            "smallest budget": {"budget": 4},
            "key_type is 'f17'": {"key_type": "f17"},
            "budget in MiB": {"auto_types": True},
            "prefill is 'no'": {"prefill": "no"},
            "layer_budgets is 'flat'": {"layer_budgets": "flat"},
        }.items():
            with self.assertRaisesRegex(vase.Error, part):
                self.engine(**options)
        with self.assertRaises(TypeError):
            self.engine(budgett=4)
        engine = self.engine()
        with self.assertRaisesRegex(vase.Error, "prompt is empty"):
            engine.submit([])

        class Reentrant(vase.Scorer):
            def score(self, head):
                engine.step()

        engine = self.engine(vase.Policy("score=uniform").with_scorer(Reentrant()))
        with self.assertRaisesRegex(vase.Error, "in the midst of a step"):
            "".join(engine.submit(PROMPT, max_tokens=60, ignore_eos=True))


if __name__ == "__main__":
    unittest.main()
