#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does foreign-why see a wrong answer? Its cairn and its node are scripts here."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOAK = pathlib.Path(__file__).resolve().parent / "foreign-why"

LOOP = {"shader": "00000000000000a1", "index": 0, "function": "", "file": "", "line": 0, "text": "", "executions": 64,
        "cuts": 64, "first": "invocation (0, 0, 0)", "left": "", "comparison": "<", "right": "", "left_value": "0.5",
        "right_value": "3"}
# Prints why.json as the answer; `run` is the program itself, and loses a number if loops are cut.
CAIRN = """#!/bin/sh
if [ "$1" = why ]; then cat "$(dirname "$0")/why.json"; exit; fi
case "$CAIRN_EXPERIMENT" in loops=65536) echo {cut} ;; *) echo done 1 ;; esac
"""


class ForeignWhyTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        self.write("node", "#!/bin/sh\necho done 1\n")
        self.write("cairn", CAIRN.format(cut="done 1"))

    def write(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def answers(self, causes=("loops",), verdict="proven", **loop):
        loops = {"name": "loops", "verdict": verdict, "why": "", "loops": [dict(LOOP, **loop)]}
        answer = {"causes": list(causes), "experiments": [loops], "runs": 16, "seconds": 4}
        self.write("why.json", json.dumps(answer))

    def soak(self, only, *options):
        environment = dict(os.environ, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")
        finished = subprocess.run([SOAK, "--build", self.folder, "--only", only, *options], env=environment,
                                  capture_output=True, text=True, check=False)
        return finished.returncode, finished.stdout + finished.stderr

    def assert_says(self, code, text, only="endless-dawn"):
        said = self.soak(only, "--dawn", self.folder)
        self.assertEqual(code, said[0], said[1])
        self.assertIn(text, said[1])

    def test_the_right_loop(self):
        self.answers()
        self.assert_says(0, "1 well, 0 WRONG, 0 skipped")

    def test_another_loop(self):
        self.answers(index=1)
        self.assert_says(1, "not the loop of march()")

    def test_a_loop_that_is_not_always_cut(self):
        self.answers(cuts=63)
        self.assert_says(1, "not each execution")

    def test_nothing_proven(self):
        self.answers(causes=[], verdict="fails")
        self.assert_says(1, "loops: fails")

    def test_what_is_not_there_is_skipped(self):
        code, said = self.soak("endless-dawn,endless-cube,cube")
        self.assertEqual(2, code, said)
        self.assertIn("0 well, 0 WRONG, 3 skipped", said)

    def test_no_such_case(self):
        code, said = self.soak("teapot")
        self.assertEqual(2, code, said)
        self.assertIn("no case is called teapot", said)

    def test_another_result_with_limited_loops(self):
        self.write("cairn", CAIRN.format(cut="done 2"))
        self.assert_says(1, "WRONG: dawn: ", only="dawn")

    def test_a_program_whose_loops_were_not_counted(self):
        self.assert_says(1, "0 modules with 0 loops limited", only="dawn")


if __name__ == "__main__":
    unittest.main()
