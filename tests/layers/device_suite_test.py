"""tools/device_suite: no run is green in which a test that was asked for has not passed."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A program that says what GoogleTest says of two tests; `end` is how it goes on behind them.
PROGRAM = """#!/usr/bin/env python3
import sys
tests = ["A.one", "A.two"]
if "--gtest_list_tests" in sys.argv:
    print("A.\\n  one\\n  two")
    sys.exit(0)
chosen = sys.argv[1].split("=")[1].split(":")
for test in (t for t in tests if t in chosen):
    print(f"[ RUN      ] {test}")
    print(f"[       OK ] {test} (1 ms)")
"""


class DeviceSuite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        (self.build / "bin").mkdir()

    def program(self, end, mode=0o755):
        file = self.build / "bin" / "dummy"
        file.write_text(PROGRAM + end)
        file.chmod(mode)

    def run_suite(self, *items):
        out = self.build / "out.jsonl"
        outcome = subprocess.run([sys.executable, ROOT / "tools/device_suite", self.build, out, *items, "--gpus", "none", "--workers", "1",
                                  "--seconds", "60", "--commit", "one"], capture_output=True, text=True)
        return outcome.returncode, json.loads(out.read_text().splitlines()[-1])

    def test_tests_that_pass_are_not_run_again(self):
        self.program("")
        code, summary = self.run_suite("dummy")
        self.assertEqual((code, summary["passed"], summary["failed tests"], summary["left"]), (0, 2, [], []), summary)
        code, summary = self.run_suite("dummy")
        self.assertEqual((code, summary["asked"]), (0, 0), summary)

    def test_a_program_that_cannot_be_started_has_failed(self):
        self.program("", 0o644)
        code, summary = self.run_suite("dummy")
        self.assertEqual((code, summary["failed tests"]), (1, ["dummy a program"]), summary)

    def test_tests_of_a_program_that_goes_away_have_failed(self):
        self.program("")  # which takes its own permission between two runs of it
        file = self.build / "bin" / "dummy"
        file.write_text(file.read_text().replace("    sys.exit(0)", "    import os\n    os.chmod(__file__, 0o644)\n    sys.exit(0)"))
        code, summary = self.run_suite("dummy")
        self.assertEqual((code, summary["failed tests"]), (1, ["dummy A.one", "dummy A.two"]), summary)

    def test_what_fails_around_tests_is_told_again_and_again(self):
        self.program("sys.exit(1)\n")
        for _ in range(2):
            code, summary = self.run_suite("dummy")
            self.assertEqual((code, summary.get("passed"), summary["failed tests"]), (1, 2, ["dummy the end"]), summary)

    def test_a_program_that_ends_within_a_test_has_failed_in_it(self):
        self.program("")
        file = self.build / "bin" / "dummy"
        file.write_text(file.read_text().replace("    print(f\"[       OK",
                                                 "    if test == 'A.two': sys.exit(1)\n    print(f\"[       OK"))
        code, summary = self.run_suite("dummy")
        self.assertEqual((code, summary["passed"], summary["failed tests"]), (1, 1, ["dummy A.two"]), summary)

    def test_tests_whose_outcome_cannot_be_kept_are_left(self):
        self.program("")
        suite = (ROOT / "tools/device_suite").read_text()
        broken = self.build / "device_suite"
        broken.write_text(suite.replace("    def write(self, record):\n", "    def write(self, record):\n        raise OSError('no room')\n"))
        out = self.build / "out.jsonl"
        outcome = subprocess.run([sys.executable, broken, self.build, out, "dummy", "--gpus", "none", "--workers", "1", "--seconds", "20",
                                  "--commit", "one"], capture_output=True, text=True)
        self.assertEqual(outcome.returncode, 1, outcome.stdout)
        self.assertEqual(json.loads(out.read_text().splitlines()[-1])["left"], ["dummy A.one", "dummy A.two"])


if __name__ == "__main__":
    unittest.main()
