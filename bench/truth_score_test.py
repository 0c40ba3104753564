#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the scorer see each way to be wrong? A truth and a report of two works, changed one thing at a time."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import struct
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import truth_why
from truth_score import Report, Truth, key, read_results, score, score_search


def bench():
    """bench/truth, which has no .py."""
    file = pathlib.Path(__file__).resolve().parent / "truth"
    loader = importlib.machinery.SourceFileLoader("bench_truth", str(file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_truth", loader))
    loader.exec_module(module)
    return module


SECOND = 1_000_000_000
BEGUN, ENDED = [1] * 64, [2] * 64


def write_words(file, works, submitted=0, fault=0, good_end=0, looked=0):
    """`works`: (begun_ns, ended_ns, 64 words or more) of each."""
    words_at = 4096 + 16 * len(works)
    data = struct.pack("<8s8Q", b"cairntru", len(works), 4096, words_at, 72, submitted, fault, good_end, looked)
    data = data.ljust(4096, b"\0") + b"".join(struct.pack("<2Q", *work[:2]) for work in works)
    data += b"".join(struct.pack("<72I", *work[2], *[0] * (72 - len(work[2]))) for work in works)
    file.write_bytes(data)


class Scoring(unittest.TestCase):
    """Work 0 has ended when the report was made, at 10 s; work 1 runs, and is the culprit."""

    def setUp(self):
        self.words = [(1 * SECOND, 2 * SECOND, ENDED), (3 * SECOND, 0, BEGUN)]
        self.known = {"right_kinds": ["GPU hang"], "role": "culprit", "work": 1, "words": "imported",
                      "vain_semaphores": [], "works": [
                          {"path": ["Frame 0", "Sort"], "type": "DISPATCH", "ordinal": 1},
                          {"path": ["Frame 0", "Sort"], "type": "DISPATCH", "ordinal": 2}]}
        label = {"type": "PASS", "ordinal": 0, "pipeline": None, "state": "in flight"}
        work = {"type": "DISPATCH", "name": "", "parent": 1, "pipeline": 0}
        self.scopes = [{**label, "name": "Frame 0", "parent": None}, {**label, "name": "Sort", "parent": 0},
                       {**work, "ordinal": 1, "state": "completed"}, {**work, "ordinal": 2, "state": "in flight"}]
        self.verdict = {"kind": "GPU hang", "how_sure": "proven", "sentence": "", "cycle": None, "wait": None,
                        "suspects": [{"scope": 3, "execution": 0}]}
        self.looked_s = 9
        self.executions = [{"first_scope": 0, "scope_count": 4}]
        self.syncs, self.waits, self.objects = [], {"waits": [], "cycles": []}, []

    def score(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "truth.json").write_text(json.dumps(self.known))
            write_words(folder / "words", self.words, looked=self.looked_s * SECOND)
            truth = Truth(folder)
        report = {"verdict": self.verdict, "scopes": self.scopes, "syncs": self.syncs, "waits": self.waits,
                  "objects": self.objects, "executions": self.executions,
                  "process": {"seen": "1970-01-01 00:00:10.000 UTC"}}
        return score(truth, Report(report, truth.works), 12.5)

    def test_right(self):
        result = self.score()
        self.assertEqual((result["in_set"], result["first"], result["exact"], result["honest"]), (True,) * 4)
        self.assertEqual((result["suspects"], result["with_pipeline"], result["to_file_s"]), (1, 1, 9.5))
        self.assertEqual((result["false_finished"], result["false_not_started"]), ([], []))

    def test_the_victim_is_named(self):
        self.verdict["suspects"][0]["scope"] = 2
        result = self.score()
        self.assertEqual((result["in_set"], result["exact"], result["honest"]), (False, False, False))

    def test_the_label_of_several_works_names_none(self):
        self.verdict["suspects"][0]["scope"] = 1
        result = self.score()
        self.assertEqual((result["in_set"], result["around"], result["honest"]), (False, True, False))

    def test_second_of_two(self):
        self.verdict.update(how_sure="likely", suspects=[{"scope": 2, "execution": 0}, {"scope": 3, "execution": 0}])
        result = self.score()
        self.assertEqual((result["in_set"], result["first"], result["exact"], result["honest"]),
                         (True, False, False, True))

    def test_the_first_suspect_is_of_another_queue(self):
        self.executions = [{"first_scope": 0, "scope_count": 2, "queue": 0},
                           {"first_scope": 2, "scope_count": 2, "queue": 1}]
        self.verdict.update(how_sure="one of", suspects=[{"scope": 1, "execution": 0}, {"scope": 3, "execution": 1}])
        self.assertTrue(self.score()["innocent_queue"])
        self.verdict["suspects"].reverse()
        self.assertFalse(self.score()["innocent_queue"])

    def test_a_fault_is_told_as_a_hang(self):
        self.known["right_kinds"] = ["GPU fault", "device lost", "GPU hang"]
        self.assertTrue(self.score()["hang_alone"])
        self.verdict["sentence"] = "GPU hang or unreported fault in DRAW #3 (proven)"
        self.assertFalse(self.score()["hang_alone"])

    def test_a_dispatch_whose_arguments_were_not_fetched_may_have_ended(self):
        self.known.update(work=0, behind=1, fetches="arguments")
        self.words = [(0, 0, [0] * 64), (3 * SECOND, 4 * SECOND, ENDED)]
        self.assertIsNone(self.score()["culprit_ended"])

    def test_unfinished_work_is_called_finished(self):
        self.scopes[3]["state"] = "completed"
        self.assertEqual(self.score()["false_finished"], [1])

    def test_work_that_ended_long_after_the_report_was_called_finished_in_it(self):
        self.words[0] = (1 * SECOND, 11 * SECOND, ENDED)
        self.assertEqual(self.score()["false_finished"], [0])

    def test_one_lane_that_has_not_ended_is_enough(self):
        self.words[0] = (1 * SECOND, 0, [2] * 63 + [1])
        self.assertEqual(self.score()["false_finished"], [0])

    def test_copied_words_tell_nothing_of_what_came_behind_the_last_look(self):
        self.known["words"] = "copied"
        self.scopes[3]["state"] = "completed"
        self.assertEqual(self.score()["false_finished"], [])
        self.looked_s = 11
        self.assertEqual(self.score()["false_finished"], [1])

    def test_begun_work_is_called_not_started(self):
        self.scopes[3]["state"] = "not started"
        self.assertEqual(self.score()["false_not_started"], [1])

    def test_what_began_after_the_report_may_be_called_not_started(self):
        self.scopes[3]["state"] = "not started"
        self.words[1] = (11 * SECOND, 0, BEGUN)
        self.assertEqual(self.score()["false_not_started"], [])

    def test_nothing_running_is_a_lie_while_work_runs(self):
        self.verdict.update(how_sure="nothing running", suspects=[])
        result = self.score()
        self.assertEqual((result["in_set"], result["honest"]), (False, False))

    def fetch_from_a_destroyed_buffer(self):
        """The draw 0 shaded its vertices, and drew no pixel; 1 is held back until it has ended, and ended."""
        self.known.update(work=0, behind=1)
        self.words = [(1 * SECOND, 0, [0] * 64 + [1]), (3 * SECOND, 4 * SECOND, ENDED)]
        self.scopes[2]["state"] = self.scopes[3]["state"] = "completed"

    def test_whether_a_draw_without_pixels_ended_is_not_known(self):
        self.fetch_from_a_destroyed_buffer()
        self.verdict.update(how_sure="one of", suspects=[{"scope": 2, "execution": 0}])
        result = self.score()
        self.assertEqual((result["culprit_ended"], result["false_finished"]), (None, []))
        self.assertEqual((result["in_set"], result["exact"], result["honest"]), (True, False, True))

    def test_where_something_else_is_named_instead_it_is_missing_all_the_same(self):
        self.fetch_from_a_destroyed_buffer()
        self.verdict.update(how_sure="one of", suspects=[{"scope": 3, "execution": 0}])
        result = self.score()
        self.assertEqual((result["in_set"], result["honest"]), (False, False))

    def test_all_finished_is_honest_and_names_nobody(self):
        self.fetch_from_a_destroyed_buffer()
        self.verdict.update(how_sure="all completed", suspects=[])
        result = self.score()
        self.assertEqual((result["in_set"], result["honest"]), (False, True))
        # Not so while work surely runs.
        self.words[1] = (3 * SECOND, 0, BEGUN)
        self.assertFalse(self.score()["honest"])

    def test_a_draw_is_unfinished_where_nothing_says_that_it_may_have_ended(self):
        for change in ({"behind": None}, {"words": BEGUN + [1]}, {"words": [0] * 65}, {"behind_ended": False}):
            self.fetch_from_a_destroyed_buffer()
            self.known["behind"] = change.get("behind", 1)
            self.words[0] = (1 * SECOND, 0, change.get("words", self.words[0][2]))
            if not change.get("behind_ended", True):
                self.words[1] = (3 * SECOND, 0, BEGUN)
            result = self.score()
            self.assertIs(result["culprit_ended"], False, change)
            self.assertIn(0, result["false_finished"], change)

    def test_wrong_kind(self):
        self.verdict["kind"] = "killed"
        self.assertFalse(self.score()["right_kind"])

    def test_a_healthy_program_gets_a_culprit(self):
        self.known.update(role="", work=None)
        self.words[1] = (3 * SECOND, 4 * SECOND, ENDED)
        result = self.score()
        self.assertEqual((result["in_set"], result["false_alarm"]), (None, True))

    def test_waits(self):
        self.known.update(role="", work=None, vain_semaphores=["Never"])
        self.verdict.update(wait=0, suspects=[])
        self.waits = {"waits": [{"sync": 0}], "cycles": []}
        self.syncs, self.objects = [{"object": 0}], [{"name": "Never"}]
        self.assertTrue(self.score()["exact"])
        self.objects[0]["name"] = "Another"
        result = self.score()
        self.assertEqual((result["in_set"], result["exact"], result["honest"]), (False, False, False))


class Searches(unittest.TestCase):
    """The answer of cairn bisect to a work that faults."""

    def setUp(self):
        self.known = {"right_kinds": ["device lost"], "role": "culprit", "work": 0, "words": "imported", "works": [
            {"path": ["Frame 0", "Fog", "Scatter"], "type": "DISPATCH", "ordinal": 1}]}
        self.part = {"kind": "work", "path": ["Frame #", "Fog", "Scatter"], "type": "DISPATCH", "ordinal": 1,
                     "count": 1, "recorded": 1, "pipeline": "P"}
        self.answer = {"found": True, "failure": "device lost", "not_to_blame": False, "reason": "", "runs": 9,
                       "seconds": 3.5, "culprits": [[self.part]]}

    def score(self):
        truth = Truth.__new__(Truth)
        truth.known, truth.works = self.known, self.known["works"]
        return score_search(truth, self.answer)

    def test_right(self):
        result = self.score()
        self.assertEqual((result["exact"], result["right_kind"], result["suspects"]), (True, True, 1))

    def test_another_work(self):
        self.part["path"] = ["Frame #", "Fog", "Accumulate"]
        result = self.score()
        self.assertEqual((result["in_set"], result["honest"]), (False, False))

    def test_of_a_secondary_command_buffer_in_each_frame(self):
        self.part.update(path=["Scatter"], recorded=4)
        result = self.score()
        self.assertEqual((result["in_set"], result["exact"], result["suspects"]), (True, True, 1))

    def test_labels_that_differ_by_a_number(self):
        self.known["works"] = [{"path": [f"Frame {frame}", "Shadows", f"Cascade {cascade}"], "type": "DRAW", "ordinal": 1}
                               for frame in (0, 1) for cascade in (1, 2)]
        self.known["work"] = 3
        self.part.update(path=["Frame #", "Shadows", "Cascade #"], type="DRAW", ordinal=2)
        self.assertTrue(self.score()["exact"])
        self.part["ordinal"] = 1
        self.assertFalse(self.score()["in_set"])

    def test_several_of_a_kind(self):
        self.part["count"] = 3
        result = self.score()
        self.assertEqual((result["in_set"], result["suspects"]), (False, 3))

    def test_two_works_of_which_one_is_innocent(self):
        self.answer["culprits"][0].append({**self.part, "path": ["Frame #", "Fog", "Accumulate"]})
        result = self.score()
        self.assertEqual((result["in_set"], result["exact"]), (True, False))

    def test_nothing_found_is_honest_and_wrong(self):
        self.answer.update(found=False, culprits=[])
        result = self.score()
        self.assertEqual((result["in_set"], result["honest"]), (False, True))

    def test_waits_have_no_culprit(self):
        self.known.update(role="", work=None, right_kinds=["deadlock"])
        self.answer["failure"] = "hang"
        self.assertEqual((self.score()["in_set"], self.score()["false_alarm"]), (False, True))
        self.answer.update(found=False, culprits=[], not_to_blame=True)
        self.assertEqual((self.score()["exact"], self.score()["false_alarm"]), (True, False))


class Whys(unittest.TestCase):
    """The answer of cairn why to a loop that does not end, and to other faults."""

    def setUp(self):
        self.fault = truth_why.Fault("march", "loops", "any", "loops", "-", "fog.frag:41", "")
        self.loop = {"file": "shaders/fog.frag", "line": 41, "alone": True}
        self.verdicts = {"loops": "proven", "keep-alive": "fails", "barrier-before": "does not apply"}
        self.answer = {"failure": "hang", "causes": ["loops"], "runs": 14, "seconds": 30.5}

    def score(self, **fault):
        experiments = [{"name": name, "verdict": verdict, "why": "nothing was changed"}
                       for name, verdict in self.verdicts.items()]
        experiments[0]["loops"] = [self.loop, {"file": "fog.frag", "line": 7, "alone": False}]
        answer = {**self.answer, "experiments": experiments}
        return {"fault": "march", **truth_why.score(self.fault._replace(**fault), answer)}

    def test_right(self):
        result = self.score()
        self.assertEqual((result["outcome"], result["first"], result["told"], result["right_line"], result["sure"]),
                         ("scored", True, True, True, "proven"))
        self.assertEqual((result["wrong_proven"], result["runs"], truth_why.miss_of(result)), ([], 14, ""))
        self.assertFalse(truth_why.is_bad(result, quick=True))

    def test_another_line(self):
        self.loop["line"] = 40
        result = self.score()
        self.assertEqual((result["first"], result["right_line"]), (True, False))
        self.assertEqual(truth_why.miss_of(result), "the place is fog.frag:41; told: fog.frag:40")

    def test_a_line_of_another_file(self):
        self.loop["file"] = "why.glsl"
        self.assertIs(self.score()["right_line"], False)

    def test_no_loop_is_enough_alone(self):
        self.loop["alone"] = False
        result = self.score()
        self.assertEqual((result["right_line"], truth_why.miss_of(result)),
                         (False, "the place is fog.frag:41; told: no line"))

    def test_two_loops_of_which_one_is_innocent(self):
        experiments = [{"name": "loops", "verdict": "proven", "why": "",
                        "loops": [self.loop, {**self.loop, "line": 7}]}]
        result = truth_why.score(self.fault, {**self.answer, "experiments": experiments})
        self.assertIs(result["right_line"], False)

    def test_a_loop_without_a_line(self):
        self.fault = self.fault._replace(line="0123abcd#2")
        self.loop.update(file="", line=0, index=2)
        self.assertIs(self.score()["right_line"], True)
        self.loop["index"] = 0
        result = self.score()
        self.assertEqual((result["right_line"], truth_why.miss_of(result)),
                         (False, "the place is 0123abcd#2; told: #0"))
        self.loop.update(index=2, dxbc="0123abcd")
        self.assertIs(self.score()["right_line"], True)
        self.loop["dxbc"] = "4567cdef"
        self.assertIs(self.score()["right_line"], False)

    def test_another_cause_is_proven(self):
        self.verdicts["keep-alive"] = "proven"
        self.answer["causes"] = ["keep-alive", "loops"]
        result = self.score()
        self.assertEqual((result["first"], result["told"], result["wrong_proven"]), (False, True, ["keep-alive"]))
        self.assertEqual(truth_why.miss_of(result), "keep-alive is told as proven, and is not the cause; "
                                                    "the cause is loops (proven); told first: keep-alive, loops")

    def test_another_cause_that_is_only_likely_is_a_miss_and_not_proven(self):
        self.verdicts.update({"loops": "fails", "keep-alive": "likely"})
        self.answer["causes"] = ["keep-alive"]
        result = self.score()
        self.assertEqual((result["first"], result["told"], result["wrong_proven"]), (False, False, []))
        self.assertTrue(truth_why.is_bad(result, quick=False))

    def test_that_work_ends_with_more_time_is_right(self):
        self.verdicts["time"] = "proven"
        self.answer["causes"] = ["loops", "time"]
        self.assertEqual(truth_why.miss_of(self.score()), "")
        self.answer["causes"] = ["time"]
        self.verdicts["loops"] = "fails"
        self.assertEqual(self.score(experiment=truth_why.NONE, line="-")["first"], True)
        self.assertEqual(self.score()["first"], False)

    def test_what_helps_too_is_not_wrong(self):
        self.verdicts["barrier-before"] = "proven"
        self.answer["causes"] = ["loops", "barrier-before"]
        result = self.score(experiment="barrier-before", also="barrier-after,loops")
        self.assertEqual((result["first"], result["told"], result["wrong_proven"], result["right_line"]),
                         (False, True, [], True))

    def test_the_cause_was_not_asked(self):
        result = self.score(experiment="barrier-before", also="loops")
        self.assertEqual((result["outcome"], result["why"], result["first"]),
                         ("not asked", "barrier-before: nothing was changed", None))
        self.assertFalse(truth_why.is_bad(result, quick=False))
        # Not so if another cause is proven instead.
        result = self.score(experiment="barrier-before")
        self.assertEqual((result["outcome"], result["wrong_proven"]), ("not asked", ["loops"]))
        self.assertTrue(truth_why.is_bad(result, quick=False))

    def test_no_experiment_knows_the_cause(self):
        self.verdicts["loops"] = "fails"
        self.answer["causes"] = []
        self.assertEqual((self.score(experiment="none")["outcome"], self.score(experiment="none")["first"]),
                         ("scored", True))
        self.verdicts = dict.fromkeys(self.verdicts, "does not apply")
        self.assertEqual(self.score(experiment="none")["outcome"], "not asked")

    def test_no_experiment_knows_the_cause_and_where_it_shows_is_told(self):
        result = self.score(experiment="none", also="loops")
        self.assertEqual((result["first"], result["wrong_proven"], result["right_line"]), (True, [], True))

    def test_no_experiment_knows_the_cause_and_one_is_told(self):
        result = self.score(experiment="none", line="-")
        self.assertEqual((result["first"], result["wrong_proven"], result["right_line"]), (False, ["loops"], None))

    def test_a_device_that_does_not_fail(self):
        self.answer.update(failure="", causes=[])
        result = self.score()
        self.assertEqual((result["outcome"], result["first"]), ("not shown", None))

    def test_a_healthy_program(self):
        healthy = {"experiment": "-", "line": "-"}
        result = self.score(**healthy)
        self.assertEqual((result["first"], result["wrong_proven"]), (False, ["loops"]))
        self.answer.update(failure="", causes=[])
        self.assertEqual((self.score(**healthy)["first"], self.score(**healthy)["outcome"]), (True, "scored"))

    def test_quick_runs_have_to_be_proven(self):
        self.verdicts["loops"] = "likely"
        result = self.score()
        self.assertEqual((truth_why.is_bad(result, quick=False), truth_why.is_bad(result, quick=True)), (False, True))

    def test_the_list(self):
        line = "list\tloops\tany\tloops\t-\tlist.comp:13\ta linked list with a cycle\n"
        on_gpu = "race\trace\tgpu\tbarrier-before\tbarrier-after,loops\t-\ta race\n"
        first, second = truth_why.read_list(line + on_gpu)
        self.assertEqual((first.line, truth_why.helpers(first)), ("list.comp:13", {"loops", "time"}))
        self.assertEqual(truth_why.helpers(second), {"barrier-before", "barrier-after", "loops", "time"})
        skipped = {}
        self.assertEqual(truth_why.wanted([first, second], "cpu", skipped), [first])
        self.assertEqual(skipped, {"only a GPU shows it": 1})
        self.assertEqual(truth_why.wanted([first, second], "gpu", {}), [first, second])

    def test_the_tables(self):
        common = {"mode": "why", "backend": "cpu", "group": "loops"}
        self.loop["line"] = 40
        results = [{**common, **self.score()},
                   {**common, "fault": "long", "outcome": "failed", "why": "the time was up"}]
        with contextlib.redirect_stdout(io.StringIO()) as told:
            truth_why.print_tables(results, {"only a GPU shows it": 9})
        lines = told.getvalue().splitlines()
        self.assertIn("| cpu, loops | 1 | 0 | 0 | 1 | 1 of 1 | 1 of 1 | 1 of 1 | 0 of 1 | 0 | 14 | 30 s |", lines)
        self.assertIn("| march | loops | loops | proven | **wrong** | 14 in 30 s |", lines)
        self.assertIn("9 not run: only a GPU shows it", lines)
        self.assertEqual(lines[-3:], ["Misses: 2", "- march: the place is fog.frag:41; told: fog.frag:40",
                                      "- long: the time was up"])


class Runs(unittest.TestCase):
    """Which runs are made, in which order, and which results are of the same run."""

    def setUp(self):
        self.bench = bench()
        self.faults = [self.bench.Fault(*words) for words in (
            ("pixel-store", "memory", "", "draw"), ("store", "memory", "", "-"), ("pixel-long", "hang", "", "draw"),
            ("healthy", "healthy", "", "-"))]
        self.arguments = argparse.Namespace(quick=False, only="*", groups="healthy,hang,memory", modes="top,full")

    def test_what_harms_most_comes_last(self):
        wanted = self.bench.wanted_runs(self.arguments, self.faults)
        self.assertEqual([fault.name for fault, mode in wanted if mode == "top"],
                         ["pixel-long", "healthy", "store", "pixel-store"])

    def test_one_group(self):
        self.arguments.groups = "hang"
        self.assertEqual([fault.name for fault, _ in self.bench.wanted_runs(self.arguments, self.faults)],
                         ["pixel-long", "pixel-long"])

    def test_draws_are_left_out_and_counted(self):
        skipped = {}
        wanted = self.bench.wanted_runs(self.arguments, self.faults)
        with contextlib.redirect_stderr(io.StringIO()) as told:
            kept = self.bench.without_draws(wanted, skipped)
        self.assertEqual([fault.name for fault, mode in kept if mode == "top"], ["healthy", "store"])
        self.assertEqual(list(skipped.values()), [4])
        self.assertEqual(told.getvalue().count("\n"), 2)

    def test_other_frames_are_other_runs(self):
        old = {"backend": "gpu", "fault": "healthy", "mode": "top"}
        whole, dispatches = {**old, "frame": "whole"}, {**old, "frame": "dispatches"}
        self.assertEqual(key(old), key(whole))
        self.assertNotEqual(key(whole), key(dispatches))
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "a.jsonl"
            file.write_text("".join(json.dumps(result) + "\n" for result in (old, whole, dispatches)))
            self.assertEqual(read_results([file]), [whole, dispatches])


if __name__ == "__main__":
    unittest.main()
