# SPDX-License-Identifier: Apache-2.0
"""The answer of cairn why against the cause that why_program, or why_d3d12_program, was made to have: one fault, scored;
several, as tables. For bench/truth --why."""
import collections
import json
import pathlib
import statistics

# As why_program lists it: `devices` that show it, with commas, the `experiment` that names the cause, others that help `also`, the
# `line` of the loop or the access. why_d3d12_program has HASH#INDEX for a loop: the shader's DXBC, and its place there.
Fault = collections.namedtuple("Fault", "name group devices experiment also line what")
# The program does not fail.
HEALTHY = "-"
# It does, and no experiment knows why.
NONE = "none"
GROUPS = "healthy,loops,other,lifetime,memory,race"
QUICK = ("healthy", "step-zero", "two-loops")
# Verdicts of experiments that changed nothing.
NOT_MADE = ("not asked", "does not apply")


def read_list(text):
    return [Fault(*line.split("\t")) for line in text.splitlines()]


def helpers(fault):
    """Experiments that help, and rightly so. All work of why_program ends, so that it ends as well if it gets more time."""
    return {fault.experiment, *fault.also.split(","), "time"} - {HEALTHY, NONE}


def place(where, by_index):
    if by_index:
        # Not all answers know the DXBC of a loop.
        return f"{where.get('dxbc', '')}#{where['index']}"
    return f"{pathlib.PurePosixPath(where['file']).name}:{where['line']}"


def places(experiment, by_index):
    """The loops that the answer names, each of which is enough alone; or the accesses. With `by_index` as HASH#INDEX,
    otherwise as file:line."""
    named = [loop for loop in experiment.get("loops", []) if loop["alone"]] + experiment.get("accesses", [])
    return sorted({place(each, by_index) for each in named})


def is_place(told, line):
    """`told`, where the answer has no DXBC, is right if the index is."""
    return len(told) == 1 and (told[0] == line or told[0].startswith("#") and line.endswith(told[0]))


def asked(fault, experiments):
    """"" if the experiment that knows the cause was made, otherwise why it was not."""
    if fault.experiment == HEALTHY:
        return ""
    if fault.experiment == NONE:
        made = any(each["verdict"] not in NOT_MADE for each in experiments.values())
        return "" if made else "no experiment was made"
    known = experiments.get(fault.experiment)
    if known is None:
        return f"{fault.experiment}: not in the answer"
    if known["verdict"] in NOT_MADE:
        return f"{fault.experiment}: {known['why'] or known['verdict']}"
    return ""


def score(fault, answer):
    """What is added to the result of the run."""
    experiments = {each["name"]: each for each in answer["experiments"]}
    causes, right = answer["causes"], helpers(fault)
    proven = [name for name in causes if experiments[name]["verdict"] == "proven"]
    result = {"experiment": fault.experiment, "failure": answer["failure"], "causes": causes,
              "sure": experiments[causes[0]]["verdict"] if causes else "",
              "wrong_proven": [name for name in proven if name not in right],
              "verdicts": {name: each["verdict"] for name, each in experiments.items()},
              "runs": answer["runs"], "seconds": answer["seconds"], "line": fault.line, "told_lines": [],
              "first": None, "told": None, "right_line": None}
    where = [name for name in ("loops", "bounds") if name in causes and name in right]
    if fault.line != "-" and where:
        result["told_lines"] = places(experiments[where[0]], "#" in fault.line)
        result["right_line"] = is_place(result["told_lines"], fault.line)
    if fault.experiment != HEALTHY and not answer["failure"]:
        return {**result, "outcome": "not shown", "why": "the program does not fail on this device"}
    why_not = asked(fault, experiments)
    if why_not:
        return {**result, "outcome": "not asked", "why": why_not}
    if fault.experiment == HEALTHY:
        result["first"] = result["told"] = not answer["failure"]
    elif fault.experiment == NONE:
        # What helps rightly may be told.
        result["first"] = result["told"] = set(causes) <= right
    else:
        result["first"], result["told"] = causes[:1] == [fault.experiment], fault.experiment in causes
    return {**result, "outcome": "scored"}


def miss_of(result):
    """A sentence, or "" if nothing is wrong."""
    if result["outcome"] == "failed":
        return result["why"]
    if result["outcome"] == "not shown" and result["backend"].startswith("scripted"):
        return "a scripted driver shows it in each run"
    parts = [f"{name} is told as proven, and is not the cause" for name in result["wrong_proven"]]
    if result["first"] is False:
        told = ", ".join(result["causes"]) or "no cause"
        if result["experiment"] == HEALTHY:
            parts.append(f"it is healthy, and fails: {result['failure']}")
        elif result["experiment"] == NONE:
            parts.append(f"no experiment knows the cause; told: {told}")
        else:
            verdict = result["verdicts"][result["experiment"]]
            parts.append(f"the cause is {result['experiment']} ({verdict}); told first: {told}")
    if result["right_line"] is False:
        parts.append(f"the place is {result['line']}; told: {', '.join(result['told_lines']) or 'no line'}")
    return "; ".join(parts)


def is_bad(result, quick):
    """With `quick`, what is right has to be proven, too."""
    unsure = quick and result["outcome"] == "scored" and result["experiment"] not in (HEALTHY, NONE) and (
        result["sure"] != "proven" or result["right_line"] is not True)
    return unsure or bool(miss_of(result))


def table_line(result):
    start = f"| {result['fault']} "
    if result["outcome"] == "failed":
        return f"{start}| failed: {result['why'].splitlines()[0]} | | | | |"
    told = ", ".join(result["causes"]) or "no cause"
    if result["outcome"] != "scored":
        told = f"{result['outcome']}: {result['why']}"
    right = {None: "", True: "right", False: "**wrong**"}
    return (f"{start}| {result['experiment']} | {told} | {result['sure']} | {right[result['right_line']]} | "
            f"{result['runs']} in {result['seconds']:.0f} s |")


def share(values):
    judged = [value for value in values if value is not None]
    return f"{sum(judged)} of {len(judged)}" if judged else "-"


def summary_line(name, results):
    scored = [result for result in results if result["outcome"] == "scored"]
    answered = [result for result in results if result["outcome"] != "failed"]
    count = collections.Counter(result["outcome"] for result in results)
    failing = [result for result in scored if result["causes"]]
    numbers = [
        name, len(scored), count["not asked"], count["not shown"], count["failed"],
        share(result["first"] for result in scored), share(result["told"] for result in scored),
        share(result["sure"] == "proven" for result in failing),
        share(result["right_line"] for result in scored),
        sum(len(result["wrong_proven"]) for result in answered),
        f"{statistics.median(result['runs'] for result in failing):g}" if failing else "-",
        f"{statistics.median(result['seconds'] for result in failing):.0f} s" if failing else "-",
    ]
    return "| " + " | ".join(map(str, numbers)) + " |"


def print_tables(results, skipped):
    """`skipped`: number of runs by reason."""
    groups = collections.defaultdict(list)
    for result in results:
        groups[result["backend"], result["group"]].append(result)
    print("| device, group | scored | not asked | not shown | failed | right cause first | right cause told | proven | "
          "right line | wrong cause proven | runs for a cause: median | time for it |")
    print("|---" + "|---:" * 11 + "|")
    for (backend, group), members in groups.items():
        print(summary_line(f"{backend}, {group}", members))
    for backend in dict.fromkeys(result["backend"] for result in results):
        print(summary_line(f"**{backend}, all**", [each for each in results if each["backend"] == backend]))
    for reason, count in skipped.items():
        print(f"\n{count} not run: {reason}")
    print("\n| fault | cause | told | how sure | line | runs |")
    print("|---|---|---|---|---|---:|")
    for result in results:
        print(table_line(result))
    misses = [(result["fault"], miss_of(result)) for result in results if miss_of(result)]
    print(f"\nMisses: {len(misses)}")
    for fault, miss in misses:
        print(f"- {fault}: {miss}")


class WhyRunner:
    """Runs cairn why on why_program, or why_d3d12_program. `runner`: the Runner of bench/truth."""

    def __init__(self, runner, arguments):
        self.runner, self.arguments = runner, arguments
        self.backend = None
        self.sizes = {}
        # Of what the answers are: part of the name of the device in tables.
        self.subject = ", D3D12 traces" if arguments.traces else ", D3D12" if arguments.d3d12 else ""

    def faults(self):
        code, errors, output = self.runner.run([self.runner.program, "--list"], 60)
        if code != 0:
            raise RuntimeError(errors)
        return read_list(output)

    def measure(self, seconds):
        """What --size of why_program takes, for work of `seconds`; "" if the device does not answer."""
        if seconds not in self.sizes:
            command = [self.runner.program, "--measure", "--seconds", seconds]
            code, _, output = self.runner.run(command + self.runner.scripted, 120)
            if code != 0:
                return ""
            self.backend, self.sizes[seconds] = output.split()
        return self.sizes[seconds]

    def hang_timeout(self, fault):
        if self.arguments.hang_timeout:
            return self.arguments.hang_timeout
        if self.backend in ("cpu", "scripted"):
            return 2
        # An NVIDIA GPU takes a second to notice that it lost its device.
        return 0.75 if fault.group == "loops" else 2.5

    def command(self, fault):
        """cairn why and the program; None if the device could not be measured."""
        hang = self.hang_timeout(fault)
        # lavapipe leaves all loops of an invocation after 65,535 trips; and how long they take differs with what else
        # the machine does. What is slow has to end within ten times the watchdog's time.
        seconds = 3 * hang + 1 if self.backend != "cpu" or fault.experiment == "time" else 8 * hang
        size = self.measure(seconds)
        if not size:
            return None
        trips = 256 if self.backend == "cpu" else 65536
        # A CPU takes seconds for a thousandth of what a GPU does at once: a sixteenth of the crowd takes `seconds` / 16.
        counts = min(1 << 15, max(1, int(size.split(",")[2]) // 16)) if self.backend == "cpu" else 1 << 24
        program = ["--", self.runner.program, "--size", size, "--limit", 60, fault.name] + self.runner.scripted
        subject = [self.capture(hang, program)] if self.arguments.traces else program
        return [self.runner.cairn, "why", "--json", "--quiet", "--restart", "--hang-timeout", hang, "--runs",
                self.arguments.runs, "--trips", trips, "--counts", counts, "--max-runs", self.arguments.max_runs, "--journal",
                self.runner.scratch / "journal", *subject]

    def capture(self, hang, program):
        """The trace of the program until it failed; one that is not there if nothing was captured."""
        trace = self.runner.scratch / "why.cairn"
        trace.unlink(missing_ok=True)
        self.runner.run([self.runner.cairn, "run", "--capture", "--quiet", "-o", trace, "--hang-timeout", hang,
                         "--kill-on-hang", "--dump-on-exit", *program], self.arguments.timeout)
        return trace

    def common(self, fault):
        return {"mode": "why", "backend": self.backend + self.subject, "fault": fault.name, "group": fault.group}

    def one(self, fault):
        common = self.common(fault)
        command = self.command(fault)
        if command is None:
            return {**common, "outcome": "failed", "why": "the device could not be measured"}
        code, errors, output = self.runner.run(command, self.arguments.search_timeout)
        common["exit_code"] = code
        try:
            answer = json.loads(output)
        except ValueError:
            why = "the time was up" if code is None else "no answer"
            return {**common, "outcome": "failed", "why": f"{why}: {errors[-400:]}"}
        if self.arguments.keep:
            self.arguments.keep.mkdir(parents=True, exist_ok=True)
            backend = common["backend"].replace(", ", ".").replace(" ", "-")
            (self.arguments.keep / f"{backend}.{fault.name}.why.json").write_text(output)
        return {**common, **score(fault, answer)}


def wanted(faults, backend, skipped):
    """Those that the device can show; the others are counted."""
    shown = {"scripted": {"scripted"}}.get(backend, {"any", backend})
    kept = [fault for fault in faults if shown & set(fault.devices.split(","))]
    if len(kept) < len(faults):
        why = {"cpu": "only a GPU shows it", "gpu": "only lavapipe shows it",
               "scripted": "the driver of tests/icd runs no shaders"}[backend]
        skipped[why] = len(faults) - len(kept)
    return kept
