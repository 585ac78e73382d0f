#!/usr/bin/env python3
"""scripts/instruction_counts.py with a made-up valgrind: instruction_counts_test.py TREE."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)) / "scripts" / "instruction_counts.py"
BUILD = "clang 1.2.3, Highway 4.5.6, AVX2"

# Writes the files that callgrind would write, and the program's line.
VALGRIND = """#!/usr/bin/env python3
import json, os, sys
file = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--callgrind-out-file="))
open(file, "w").write("desc: Trigger: Program termination\\ntotals: 0\\n")
for i, (case, count) in enumerate(json.loads(os.environ["COUNTS"])):
    open(f"{file}.{i + 1}", "w").write(f"desc: Trigger: Client Request: {case}\\nevents: Ir\\n\\ntotals: {count}\\n")
print("build: " + os.environ["BUILD"])
sys.exit(int(os.environ.get("STATUS", 0)))
"""


class InstructionCounts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.baseline = self.folder / "baseline.json"
        fake = self.folder / "bin" / "valgrind"
        fake.parent.mkdir()
        fake.write_text(VALGRIND)
        fake.chmod(0o755)
        self.path = f"{fake.parent}:{os.environ['PATH']}"
        self.store({BUILD: {"draw": 1000, "sketch": 200000}})

    def store(self, baseline):
        self.baseline.write_text(json.dumps(baseline))

    def check(self, counts, *arguments, build=BUILD, status="0", path=None):
        environment = os.environ | {"PATH": path or self.path, "COUNTS": json.dumps(list(counts)), "BUILD": build,
                                    "STATUS": status}
        return subprocess.run([sys.executable, SCRIPT, "program", "--baseline", self.baseline, *arguments],
                              env=environment, capture_output=True, text=True, check=False)

    def expect(self, done, status, *texts):
        self.assertEqual(done.returncode, status, done.stderr)
        for text in texts:
            self.assertIn(text, done.stdout + done.stderr)

    def test_within_the_tolerance(self):
        done = self.check([("draw", 1029), ("sketch", 195000)])
        self.expect(done, 0, "1.029", "0.975")
        self.assertNotIn("better", done.stdout)

    def test_ten_percent_more_fails(self):
        done = self.check([("draw", 1100), ("sketch", 200000)])
        self.expect(done, 1, "error: draw takes 1.100 times its instructions (allowed: 1.03)", "--update")

    def test_fewer_ask_for_a_new_baseline(self):
        self.expect(self.check([("draw", 900), ("sketch", 200000)]), 0, "better", "draw takes 0.900", "--update")

    def test_missing_case_fails(self):
        self.expect(self.check([("draw", 1000)]), 1, "error: sketch was not counted")

    def test_new_case_fails(self):
        done = self.check([("draw", 1000), ("sketch", 200000), ("top_k", 5)])
        self.expect(done, 1, "error: top_k is not in the baseline")

    def test_bad_counts_fail(self):
        self.expect(self.check([]), 1, "ran no case")
        self.expect(self.check([("draw", 0)]), 1, "nothing was counted for 'draw'")
        self.expect(self.check([("draw", 1000), ("draw", 1000)]), 1, "two cases are named 'draw'")

    def test_program_that_fails(self):
        self.expect(self.check([("draw", 1000)], status="9"), 1, "program failed under valgrind (status 9)")

    def test_malformed_baseline_is_named(self):
        for text in ("{", "[]", '{"b": 1}', '{"b": {"draw": "many"}}', '{"b": {"draw": 0}}', '{"b": {"draw": true}}'):
            self.baseline.write_text(text)
            done = self.check([("draw", 1000)])
            self.expect(done, 1, f"error: {self.baseline}: ")
            self.assertNotIn("Traceback", done.stderr)
            self.expect(self.check([("draw", 1000)], "--update"), 1)
            self.assertEqual(self.baseline.read_text(), text)

    def test_unknown_build_is_skipped_aloud(self):
        self.expect(self.check([("draw", 1000)], build="gcc 9"), 77, "skipped", "no counts for this build", BUILD)
        self.baseline.unlink()
        self.expect(self.check([("draw", 1000)]), 77, "no counts for this build")

    def test_no_valgrind_is_skipped_aloud(self):
        self.expect(self.check([("draw", 1000)], path=str(self.folder)), 77, "skipped: valgrind is not installed")

    def test_update_keeps_other_builds(self):
        self.expect(self.check([("draw", 7)], "--update", build="gcc 9"), 0)
        self.expect(self.check([("draw", 8)], "--update"), 0)
        self.assertEqual(json.loads(self.baseline.read_text()), {BUILD: {"draw": 8}, "gcc 9": {"draw": 7}})
        self.expect(self.check([("draw", 8)]), 0)
        self.assertEqual({p.name for p in self.folder.iterdir()}, {"bin", "baseline.json"})

    def test_update_that_cannot_be_written(self):
        self.baseline = self.folder / "absent" / "baseline.json"
        self.expect(self.check([("draw", 7)], "--update"), 1, f"error: {self.baseline}: ")


if __name__ == "__main__":
    unittest.main()
