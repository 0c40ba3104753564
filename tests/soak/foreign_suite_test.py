#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does foreign-suite count what it ran? Its program and its cairn are scripts here, which say one thing each."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

SUITE = pathlib.Path(__file__).resolve().parent / "foreign-suite"

PROGRAM = """#!/bin/sh
if [ "$1" = --list-tests ]; then printf '%s\\n' {tests}; exit; fi
echo "d3d12: 1 tests executed (0 failures, 0 successful todo, 0 skipped, 0 todo, 0 bugs)."
case "$VKD3D_TEST_FILTER" in
test_dies*) kill -SEGV $$ ;;
test_waits) echo "waits" >"$0.waits"; exec sleep 1000 ;;
esac
"""

# A trace holds the command line of its capture.
CAIRN = """#!/bin/sh
verb="$1" all="$*"
if [ "$verb" = run ]; then
  while [ "$1" != -- ]; do [ "$1" = -o ] && trace="$2"; shift; done
  shift
  case "$all" in *--capture*) echo "$all" >"$trace" ;; esac
  "$@"
  exit
fi
for trace; do :; done
echo "$all" >>"$trace.replayed"
played() {{ echo "$trace: $1 played in 0.10 s; $2 match the recording"; }}
case "$(basename "$trace")" in
{answers}
esac
"""

NOTHING = "0 readbacks, 0 images, 0 subresources"


def answer(test, frames, calls, counts, after="", code=0):
    return (f"{test}.cairn) {after}\n  played '{frames} and {calls} calls' '{counts}'; exit {code} ;;")


ANSWERS = {
    "test_reads": answer("test_reads", "1 frame", "1,024", "1,200 readbacks, 0 images, 3 subresources and 4 results"),
    "test_writes": answer("test_writes", "2 frames", "9", "0 readbacks, 0 images, 1 subresource and 0 results"),
    "test_makes": answer("test_makes", "0 frames", "9", f"{NOTHING} and 9 results"),
    "test_asks": answer("test_asks", "0 frames", "1", f"{NOTHING} and 0 results"),
    "test_queries": answer("test_queries", "1 frame", "5", f"{NOTHING} and 2 results"),
    "test_lacks": answer("test_lacks", "1 frame", "5", "1 readback, 0 images, 0 subresources and 2 results",
                         'echo "cairn replay: warning: skipped (call 7): a work graph"', 3),
    "test_differs": 'test_differs.cairn) echo "cairn replay: x: first difference: record 4: 8 bytes"; exit 1 ;;',
    "test_dies": 'test_dies.cairn) echo "cairn replay: x: the playback died of SIGSEGV in a thread"; exit 4 ;;',
}


class ForeignSuiteTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def command(self, tests, *options):
        self.write("d3d12", PROGRAM.format(tests=" ".join(tests)))
        self.write("build/bin/cairn", CAIRN.format(answers="\n".join(ANSWERS.get(test, "") for test in tests)))
        return [sys.executable, "-B", SUITE, self.folder / "d3d12", "--build", self.folder / "build",
                "--folder", self.folder / "out", "--tries", "2", "--keep", *options]

    def suite(self, tests, *options):
        return subprocess.run(self.command(tests, *options), capture_output=True, text=True, check=False, timeout=100)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.chmod(file, 0o755)

    def text(self, name):
        return (self.folder / "out" / name).read_text()

    def test_what_is_counted(self):
        done = self.suite(ANSWERS)
        self.assertEqual(done.stderr, "")
        self.assertIn("replay: 8 traces, clean 5, 0 of them not in the first try; died as their programs did: 1\n"
                      "  compared what the GPU wrote: 4 of 6 that gave it work (1201 readbacks, 0 images, "
                      "4 subresources); results of calls alone: 1; nothing: 1\n", done.stdout)
        self.assertIn("  not clean: test_lacks: 3: cairn replay: warning: skipped (call 7): a work graph\n",
                      done.stdout)
        self.assertIn("  not clean: test_differs: 1; 1: cairn replay: x: first difference: record 4: 8 bytes\n",
                      done.stdout)
        self.assertIn("  gave the GPU work, and compared nothing of it: test_queries\n", done.stdout)
        self.assertIn("  gave the GPU work, and compared nothing of it: test_dies\n", done.stdout)
        self.assertNotIn("not clean: test_dies", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_clean_ones_and_one_that_died(self):
        done = self.suite(["test_reads", "test_dies"])
        self.assertEqual(done.returncode, 0, done.stdout)
        # Neither is run again.
        self.assertEqual(self.text("test_dies.cairn.replayed").count("\n"), 1)

    def test_groups_are_counted_and_nothing_else_is_run(self):
        done = self.suite(ANSWERS, "--group", "reads and others=test_reads,test_d*", "--group", "queries=test_queries")
        self.assertIn("  reads and others: 3 traces, clean 2; compared what the GPU wrote: 2 of 3\n"
                      "  queries: 1 traces, clean 1; compared what the GPU wrote: 0 of 1\n", done.stdout)
        self.assertIn("replay: 4 traces, clean 2,", done.stdout)

    def test_a_group_without_tests_is_refused(self):
        for text in ("reads", "=test_reads", "reads=", "reads=test_reads,"):
            done = self.suite(["test_reads"], "--group", text)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, f"foreign-suite: --group: '{text}' is not NAME=PATTERN,PATTERN...\n")

    def test_an_interrupt_ends_what_runs_and_tells_what_was_done(self):
        os.mkfifo(self.folder / "d3d12.waits")
        suite = subprocess.Popen(self.command(["test_reads", "test_waits"], "--modes", "capture,replay",
                                              "--timeout", "900"),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with open(self.folder / "d3d12.waits", encoding="utf-8") as waits:  # opens when the test does
            self.assertEqual(waits.read(), "waits\n")
        suite.send_signal(signal.SIGINT)
        out, err = suite.communicate(timeout=100)
        self.assertEqual(suite.returncode, 130)
        self.assertIn("replay: 1 traces, clean 1,", out)
        self.assertIn("interrupted; the same command goes on", err)
        self.assertNotIn("test_waits", self.text("results.jsonl"))

    def test_hashes_are_kept_and_compared(self):
        self.suite(["test_reads"])
        self.assertIn("run --capture --hash-resources ", self.text("test_reads.cairn"))
        self.assertIn("replay --validate=all ", self.text("test_reads.cairn.replayed"))

    def test_what_was_read_alone(self):
        self.suite(["test_reads"], "--validate", "read")
        self.assertNotIn("--hash-resources", self.text("test_reads.cairn"))
        self.assertIn("replay --validate=read ", self.text("test_reads.cairn.replayed"))


if __name__ == "__main__":
    unittest.main()
