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
# Prints why.json as the answer; `run` is the program itself, and a layer that changes something in it.
CAIRN = """#!/usr/bin/env python3
import os, pathlib, struct, sys
if sys.argv[1] == "why":
    print((pathlib.Path(sys.argv[0]).parent / "why.json").read_text())
    sys.exit()
experiment = os.environ.get("CAIRN_EXPERIMENT", "")

def write(variable, at, layout, *words):
    with open(os.environ[variable], "r+b") as board:
        board.seek(at)
        board.write(struct.pack(layout, *words))

if experiment.startswith("loops=") and {loops}:
    write("CAIRN_EXPERIMENT_BOARD", 16, "<3I", 1, 2, 1)
    write("CAIRN_EXPERIMENT_BOARD", (64 + 65536 * 96 + (1 << 24) + 65535) // 65536 * 65536, "<3I", 64, 17, 0)
if experiment == "binding=none":
    write("CAIRN_EXPERIMENT_BOARD", 16, "<3I", {bindings}, 0, {emptied})
if experiment == "robust":
    write("CAIRN_ELIMINATION", 68, "<I", {features})
if experiment == "barrier-before":
    write("CAIRN_ELIMINATION", 68, "<I", {barriers})
print({results}.get(experiment, "done 1"))
"""


def fake_cairn(loops=True, barriers=3, bindings=2, emptied=0, features=0x0400001B, **results):
    return CAIRN.format(loops=loops, barriers=barriers, bindings=bindings, emptied=emptied, features=features,
                        results=results)


class ForeignWhyTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        self.write("node", "#!/bin/sh\necho done 1\n")
        self.write("cairn", fake_cairn())

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
        self.write("cairn", fake_cairn(**{"loops=65536": "done 2"}))
        self.assert_says(1, "WRONG: dawn: loops cut: ", only="dawn")

    def test_a_program_whose_loops_were_not_counted(self):
        self.write("cairn", fake_cairn(loops=False))
        self.assert_says(1, "0 modules with 0 loops, left 0 times", only="dawn")

    def test_a_healthy_program_that_stays_as_it_is(self):
        self.assert_says(0, "loops counted: 1 modules with 1 loops, left 64 times, most trips 17, 0 cuts", only="dawn")
        self.assert_says(0, "barriers: 3 changes", only="dawn")
        self.assert_says(0, "robust accesses: 4 features enabled", only="dawn")
        self.assert_says(0, "bindings told: 2 bindings told", only="dawn")

    def test_another_result_with_another_change(self):
        for experiment, name in (("bounds=count", "accesses counted"), ("counts=4294967295", "counts read"),
                                 ("keep-alive", "objects kept alive"), ("barrier-before", "barriers"),
                                 ("serial-queues", "one submission at a time"), ("robust", "robust accesses"),
                                 ("binding=none", "bindings told")):
            self.write("cairn", fake_cairn(**{experiment: "done 2"}))
            self.assert_says(1, f"WRONG: dawn: {name}: ", only="dawn")

    def test_a_change_that_was_not_made(self):
        self.write("cairn", fake_cairn(barriers=0))
        self.assert_says(1, "barriers: 0 changes", only="dawn")
        self.write("cairn", fake_cairn(features=0))
        self.assert_says(1, "robust accesses: 0 features enabled", only="dawn")
        self.write("cairn", fake_cairn(bindings=0))
        self.assert_says(1, "bindings told: 0 bindings told", only="dawn")

    def test_a_binding_that_was_emptied(self):
        self.write("cairn", fake_cairn(emptied=1))
        self.assert_says(1, "WRONG: dawn: ", only="dawn")


if __name__ == "__main__":
    unittest.main()
