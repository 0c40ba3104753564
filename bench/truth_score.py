# SPDX-License-Identifier: Apache-2.0
"""What the faulting program noted against what a report says: one run, scored; several, as tables. For bench/truth."""
import collections
import datetime
import json
import re
import statistics
import struct

# A report shows it as a scope; it is no label (tests/truth/recorder.h).
SECONDARY = "secondary command buffer"
# How much later the program's own clock may see what the GPU did, in seconds.
SLACK_S = 0.25


class Truth:
    """What truth.json and words of a run say (tests/truth/README.md)."""

    def __init__(self, folder):
        self.known = json.loads((folder / "truth.json").read_text())
        with open(folder / "words", "rb") as file:
            data = file.read()
        (magic, count, times, words, per_work, self.submitted_ns, self.fault_ns,
         self.good_end_ns, self.looked_ns) = struct.unpack_from("<8s8Q", data)
        if magic != b"cairntru":
            raise ValueError("words: not a file of truth_program")
        self.works = self.known["works"]
        self.begun, self.ended = [], []
        self.begun_ns, self.ended_ns = [], []
        for i in range(count):
            begun_ns, ended_ns = struct.unpack_from("<2Q", data, times + 16 * i)
            notes = struct.unpack_from("<65I", data, words + 4 * per_work * i)
            self.begun.append(any(notes))
            self.ended.append(all(word == 2 for word in notes[:64]))
            self.begun_ns.append(begun_ns)
            self.ended_ns.append(ended_ns)
            if i == self.known["work"]:
                shaded, drawn = notes[64] != 0, any(notes[:64])
        # Its pixels, or the invocations that it was to have, would tell of its end, and there are none: what a barrier
        # holds back until then says that it may have come. Of other works that is known: True or False.
        behind = self.known.get("behind")
        silent = behind is not None and not drawn and (shaded or self.known.get("fetches") == "arguments")
        if silent and self.ended[behind]:
            self.ended[self.work] = None

    @property
    def work(self):
        return self.known["work"]

    def noted(self, work):
        """False of works that leave no notes: a wait."""
        return self.works[work]["type"] != "WAIT_EVENTS"

    def known_at(self, seen_s):
        """Words that are copied lag behind where the program died between two looks."""
        return self.known["words"] == "imported" or (seen_s is not None and self.looked_ns / 1e9 >= seen_s)

    def outlasted(self, hang_s):
        """The work of the fault ended in the end, after longer than a watchdog waits."""
        return self.work is not None and self.ended_ns[self.work] - self.begun_ns[self.work] > 1.5e9 * hang_s

    def fault_s(self):
        """When it happened, or the latest moment before that is known; None for a healthy run."""
        begun_ns = self.begun_ns[self.work] if self.work is not None else 0
        ns = self.fault_ns or begun_ns or self.submitted_ns
        return ns / 1e9 if ns and not self.good_end_ns else None


class Report:
    """The JSON of a report, with its scopes as the works of the truth."""

    def __init__(self, known, works):
        self.known = known
        self.scopes = known["scopes"]
        numbers = {(tuple(work["path"]), work["type"], work["ordinal"]): i for i, work in enumerate(works)}
        self.work_of = {}
        for number, scope in enumerate(self.scopes):
            work = numbers.get((self.path(number), scope["type"], scope["ordinal"]))
            if work is not None:
                self.work_of[number] = work

    def path(self, scope):
        labels = []
        while scope is not None:
            if self.scopes[scope]["type"] == "PASS" and self.scopes[scope]["name"] != SECONDARY:
                labels.append(self.scopes[scope]["name"])
            scope = self.scopes[scope]["parent"]
        return tuple(reversed(labels))

    def seen_s(self):
        seen = self.known["process"]["seen"]
        if not seen:
            return None
        moment = datetime.datetime.strptime(seen, "%Y-%m-%d %H:%M:%S.%f UTC")
        return moment.replace(tzinfo=datetime.timezone.utc).timestamp()

    def suspects(self):
        return self.known["verdict"]["suspects"]

    def is_work(self, suspect, work, works):
        """It names the work, or the label that it stands alone in."""
        scope = suspect["scope"]
        if scope is None:
            return False
        if self.work_of.get(scope) == work:
            return True
        alone = sum(1 for other in works if other["path"] == works[work]["path"]) == 1
        return (alone and self.scopes[scope]["type"] == "PASS" and
                self.path(scope) == tuple(works[work]["path"]))

    def surrounds(self, suspect, work, works):
        """It names no work, but a scope or a list that the work is in."""
        path = tuple(works[work]["path"])
        if suspect["scope"] is not None:
            outer = self.path(suspect["scope"])
            return self.scopes[suspect["scope"]]["type"] == "PASS" and path[:len(outer)] == outer
        execution = self.known["executions"][suspect["execution"]]
        inside = range(execution["first_scope"], execution["first_scope"] + execution["scope_count"])
        return any(self.work_of.get(scope) == work for scope in inside)

    def queue_of(self, suspect):
        return self.known["executions"][suspect["execution"]].get("queue")

    def queues_of_work(self, work):
        """Of the executions in which the report has it."""
        return {execution.get("queue") for execution in self.known["executions"]
                if any(self.work_of.get(execution["first_scope"] + i) == work
                       for i in range(execution["scope_count"]))}

    def vain_waits(self):
        """Names of what the verdict says that is waited for in vain."""
        verdict, waits = self.known["verdict"], self.known["waits"]
        indices = []
        if verdict["cycle"] is not None:
            indices = waits["cycles"][verdict["cycle"]]
        elif verdict["wait"] is not None:
            indices = [verdict["wait"]]
        names = []
        for index in indices:
            sync = self.known["syncs"][waits["waits"][index]["sync"]]
            names.append("" if sync["object"] is None else self.known["objects"][sync["object"]]["name"])
        return names


def false_claims(truth, report):
    """(works called finished that were not, works called not started that were)"""
    finished, not_started = [], []
    seen = report.seen_s()
    if not truth.known_at(seen):
        return [], []
    for scope, work in report.work_of.items():
        if not truth.noted(work):
            continue
        state = report.scopes[scope]["state"]
        later = seen is not None and truth.ended_ns[work] / 1e9 > seen + SLACK_S
        if state == "completed" and (truth.ended[work] is False or later):
            finished.append(work)
        begun = truth.begun_ns[work] / 1e9
        if state == "not started" and begun and (seen is None or begun < seen):
            not_started.append(work)
    return sorted(set(finished)), sorted(set(not_started))


def runs_at(truth, seen):
    """Works that had surely begun then, and had not ended."""
    running = []
    for work in range(len(truth.works)):
        begun = truth.begun_ns[work] / 1e9
        if begun and truth.ended[work] is False and (seen is None or begun < seen):
            running.append(work)
    return running


def is_pipeline_work(report, suspect):
    return suspect["scope"] is not None and report.scopes[suspect["scope"]]["pipeline"] is not None


def score_work(truth, report, result):
    """For a fault of, or while, one piece of work."""
    suspects = report.suspects()
    named = [report.is_work(suspect, truth.work, truth.works) for suspect in suspects]
    result["in_set"] = any(named)
    result["around"] = not any(named) and any(
        report.surrounds(suspect, truth.work, truth.works) for suspect in suspects)
    result["first"] = bool(named) and named[0]
    result["exact"] = result["how_sure"] == "proven" and named == [True]
    queues = report.queues_of_work(truth.work)
    result["innocent_queue"] = bool(suspects and queues) and report.queue_of(suspects[0]) not in queues
    result["culprit_ended"] = truth.ended[truth.work] if truth.noted(truth.work) else False


def score_waits(truth, report, result):
    vain = truth.known["vain_semaphores"]
    names = report.vain_waits()
    right = bool(names) and set(names) <= set(vain) and not report.suspects()
    result.update(in_set=right, around=False, first=right, exact=right and set(names) == set(vain))


def is_honest(truth, report, result):
    """The verdict is as sure as it says."""
    how_sure = result["how_sure"]
    if how_sure == "unknown" or (result["in_set"] is None and not truth.known_at(report.seen_s())):
        return True
    if how_sure in ("nothing running", "all completed"):
        return not runs_at(truth, report.seen_s())
    if result["in_set"] is None:
        # Nobody knows which work ran at that moment, but what surely ran must be among them.
        named = {report.work_of.get(suspect["scope"]) for suspect in report.suspects()}
        return set(runs_at(truth, report.seen_s())) <= named
    if how_sure == "proven":
        return result["exact"]
    return result["in_set"] or result["around"]


def score(truth, report, file_s):
    verdict = report.known["verdict"]
    finished, not_started = false_claims(truth, report)
    suspects = report.suspects()
    result = {
        "kind": verdict["kind"],
        "right_kind": verdict["kind"] in truth.known["right_kinds"],
        "how_sure": verdict["how_sure"],
        "sentence": verdict["sentence"],
        "suspects": len(suspects),
        "with_pipeline": sum(1 for suspect in suspects if is_pipeline_work(report, suspect)),
        "false_finished": finished, "false_not_started": not_started,
        "in_set": None, "around": None, "first": None, "exact": None, "innocent_queue": False,
    }
    # Told as a hang, and the reader is not told that it may be a fault.
    result["hang_alone"] = verdict["kind"] == "GPU hang" and "fault" not in verdict["sentence"] and (
        truth.known["right_kinds"][0] == "GPU fault")
    if truth.known["vain_semaphores"]:
        score_waits(truth, report, result)
    elif truth.known["role"] in ("culprit", "running"):
        score_work(truth, report, result)
    result["honest"] = is_honest(truth, report, result)
    # With nothing running, nothing may be a suspect.
    known = truth.known_at(report.seen_s())
    result["false_alarm"] = known and result["in_set"] is None and bool(suspects) and all(
        ended or not truth.noted(i) for i, ended in enumerate(truth.ended))
    fault_s = truth.fault_s()
    result["to_file_s"] = round(max(file_s - fault_s, 0), 3) if fault_s is not None else None
    return result


# How cairn bisect calls what reports call otherwise.
FAILURES = {"GPU hang": "hang", "endless wait": "hang", "deadlock": "hang", "GPU fault": "device lost",
            "device lost": "device lost", "CPU fault": "death", "nothing wrong": ""}


def place_of_work(work):
    """As cairn bisect knows it, in whatever frame: numbers of labels are "#"."""
    return [re.sub("[0-9]+", "#", label) for label in work["path"]], work["type"]


def names_work(part, works, index):
    """A part of a culprit of cairn bisect is this work. Work of a secondary command buffer is known there without the
    labels around its execution."""
    place, kind = place_of_work(works[index])
    path = [label for label in part["path"] if label != SECONDARY]
    if not path or path != place[-len(path):] or part["type"] != kind or part["count"] != 1:
        return False
    frame = works[index]["path"][0]
    before = sum(work["path"][0] == frame and place_of_work(work) == (place, kind) for work in works[:index])
    return part["kind"] != "work" or part["ordinal"] == before + 1


def score_search(truth, answer):
    """The answer of cairn bisect --json -- PROGRAM."""
    culprits, found = answer["culprits"], answer["found"]
    kind = answer["failure"]
    has_culprit = truth.known["role"] == "culprit" and truth.noted(truth.work)
    result = {"kind": kind or "none", "right_kind": kind in {FAILURES.get(k) for k in truth.known["right_kinds"]},
              "how_sure": "not to blame" if answer["not_to_blame"] else "found" if found else "not found",
              "sentence": answer["reason"], "suspects": sum(part["count"] for parts in culprits for part in parts),
              "with_pipeline": sum(part["count"] for parts in culprits for part in parts if part["pipeline"]),
              "false_finished": [], "false_not_started": [], "around": False, "to_file_s": None,
              "runs": answer["runs"], "seconds": answer["seconds"]}
    named = [[names_work(part, truth.works, truth.work) for part in parts] for parts in culprits] if has_culprit else []
    if has_culprit:
        right, first = any(map(any, named)), bool(named) and any(named[0])
        exact = named == [[True]]
    elif kind:
        # Waits and barriers are never left out: no work is the culprit.
        right = first = exact = answer["not_to_blame"] and not culprits
    else:
        right = first = exact = None
    result.update(in_set=right, first=first, exact=exact, honest=right is None or right or not found,
                  false_alarm=not has_culprit and bool(culprits))
    return result


def device_of(result):
    """With what its frames have, if that is not everything; results of before 23 November 2026 do not tell."""
    return result["backend"] + (", dispatches only" if result.get("frame") == "dispatches" else "")


def key(result):
    return device_of(result), result["fault"], result["mode"]


def read_results(files):
    """The last line of each run, in the order in which they first came."""
    results = {}
    for file in files:
        if file.exists():
            for line in file.read_text().splitlines():
                try:
                    result = json.loads(line)
                except ValueError:
                    continue  # the last one, if the run was cut off while it was written
                results[key(result)] = result
    return list(results.values())


def place_of(result):
    if result["in_set"] is None:
        return "names nobody" if not result["false_alarm"] else "**names a culprit**"
    if result["exact"]:
        return "exact"
    if result["first"]:
        return "first"
    if result["in_set"]:
        return "in the set"
    return "around" if result["around"] else "**missing**"


def table_line(result):
    start = f"| {result['fault']} | {result['mode']} "
    if result["outcome"] != "scored":
        return f"{start}| {result['outcome']}: {result['why'].splitlines()[0]} | | | | | |"
    wrong = [f"**{len(result[name])} false {words}**" for name, words in
             (("false_finished", "finished"), ("false_not_started", "not started")) if result[name]]
    if not result["honest"]:
        wrong.append("**not honest**")
    if result.get("innocent_queue"):
        wrong.append("**innocent queue first**")
    if result.get("hang_alone"):
        wrong.append("**no word of a fault**")
    kind = result["kind"] if result["right_kind"] else f"**{result['kind']}**"
    late = "" if result["to_file_s"] is None else f"{result['to_file_s']:.1f} s"
    return (f"{start}| {place_of(result)} | {result['suspects']} ({result['with_pipeline']}) | {kind} | "
            f"{result['how_sure']} | {', '.join(wrong)} | {late} |")


def share(count, total):
    return "-" if total == 0 else f"{count} of {total}"


def summary_line(name, results, skipped):
    scored = [result for result in results if result["outcome"] == "scored"]
    judged = [result for result in scored if result["in_set"] is not None]
    counts = [result["suspects"] for result in judged]
    pipelines = [result["with_pipeline"] for result in judged]
    late = [result["to_file_s"] for result in scored if result["to_file_s"] is not None]
    numbers = [
        name, str(len(scored)), str(len(results) - len(scored) + skipped),
        share(sum(result["in_set"] for result in judged), len(judged)),
        share(sum(result["first"] for result in judged), len(judged)),
        share(sum(result["first"] and result["with_pipeline"] <= 1 for result in judged), len(judged)),
        share(sum(result["exact"] for result in judged), len(judged)),
        f"{statistics.median(counts):g}, {max(counts)}" if counts else "-",
        f"{statistics.median(pipelines):g}, {max(pipelines)}" if counts else "-",
        str(sum(len(result["false_finished"]) for result in scored)),
        str(sum(len(result["false_not_started"]) for result in scored)),
        share(sum(result["right_kind"] for result in scored), len(scored)),
        share(sum(result["honest"] for result in scored), len(scored)),
        str(sum(result.get("innocent_queue", False) for result in judged)),
        str(sum(result.get("hang_alone", False) for result in scored)),
        f"{statistics.median(late):.1f} s" if late else "-",
    ]
    return "| " + " | ".join(numbers) + " |"


GROUPS = ("hang", "wait", "death", "memory")


def exact_of(results, group):
    judged = [result for result in results if result["outcome"] == "scored" and result["group"] == group
              and result["in_set"] is not None]
    return share(sum(result["exact"] for result in judged), len(judged))


def print_tables(results, skipped):
    """`skipped`: number of runs by reason."""
    groups = collections.defaultdict(list)
    for result in results:
        groups[device_of(result), result["mode"]].append(result)
    print("| device, mode | scored | not scored | in the set | first | first, alone | exact | suspects: median, most | "
          "with a pipeline | false finished | false not started | kind right | honest | "
          "innocent queue first | hang, no word of a fault | to the file |")
    print("|---" + "|---:" * 15 + "|")
    for (backend, mode), group in groups.items():
        print(summary_line(f"{backend}, {mode}", group, 0))
    for reason, count in skipped.items():
        print(f"| {reason} | 0 | {count} " + "| " * 13 + "|")
    print("\n| exact | " + " | ".join(GROUPS) + " |")
    print("|---|" + "---:|" * len(GROUPS))
    for (backend, mode), group in groups.items():
        print(f"| {backend}, {mode} | " + " | ".join(exact_of(group, name) for name in GROUPS) + " |")
    print("\n| fault | mode | culprit | suspects (with a pipeline) | kind | how sure | wrong | to the file |")
    print("|---|---|---|---:|---|---|---|---:|")
    for result in sorted(results, key=device_of):
        print(table_line(result))
