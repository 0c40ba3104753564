// SPDX-License-Identifier: Apache-2.0
//
// The page in a real browser: docs/reference/viewer.md, "Tested".
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { allWords, build, cairn, completed, dataOf, deep, go, htmlOf, inFlight, open, pageWith, press, seriousFaults, settle, source, startBrowser, stickingOut, stopBrowser, text, texts, words } from "./browser.mjs";

const views = ["verdict", "timeline", "tree", "memory", "facts"];
const golden = join(source, "tests/golden");
const dumps = readdirSync(golden).filter((name) => /^(snapshot-.*|late-fault-.*)\.cairn$/.test(name)).map((name) => join(golden, name));
const fault = join(golden, "snapshot-vulkan-v1.cairn");

before(startBrowser);
after(stopBrowser);

const rowsOfTree = (page) => page.$eval(deep("cairn-tree .bar .quiet"), (element) => element.textContent);
const grouped = (number) => number.toLocaleString("en-US");

// Returns the report's name of a scope, written down once more: the page is compared with this.
const scopeName = (scope) => (scope.type === "PASS" && scope.name ? scope.name
  : scope.type + (scope.ordinal ? ` #${scope.ordinal}` : "") + (scope.arguments ? ` ${scope.arguments.words}` : "") + (scope.name ? `: "${scope.name}"` : ""));

assert(dumps.length >= 4, "the golden files are there");
for (const dump of dumps) {
  test(`${basename(dump)}: the page shows what the JSON says`, async () => {
    // The commands of the page name the file as the page does.
    const report = JSON.parse(cairn("report", "--json", dump).replaceAll(dump, basename(dump)));
    const html = htmlOf(dump);
    assert.deepEqual(dataOf(html).report, report);
    const { page, errors } = await open(pageWith(html, dataOf(html), "golden.html"));
    const { headline, how_sure_in_words: sure, rows } = report.verdict.answer;
    assert.equal(await text(page, "#headline"), headline);
    assert.deepEqual(await texts(page, "cairn-verdict .badge"), [report.verdict.kind === "nothing wrong" ? "no failure noticed" : report.verdict.kind, ...(sure ? [sure] : [])]);
    assert.deepEqual(await texts(page, ".answer dd"), rows.map(({ text }) => text));
    assert.deepEqual(await texts(page, "cairn-command code"), [...report.verdict.next, ...report.verdict.send].map(({ command }) => command));
    assert.equal((await text(page, ".next")).includes("for the program's or the driver's authors; "), report.verdict.send.length !== 0);
    // A single suspect stands in the answer, others in a list.
    const named = !["killed", "exited", "CPU fault", "nothing wrong"].includes(report.verdict.kind);
    const [culprit] = report.verdict.suspects;
    if (named && culprit?.scope != null) assert((await text(page, ".chip.culprit")).endsWith(scopeName(report.scopes[culprit.scope])));
    const suspects = await texts(page, "cairn-verdict .path");
    const shown = named && report.verdict.suspects.length === 1 ? [] : report.verdict.suspects.slice(0, 4);
    assert.equal(suspects.length, shown.length);
    shown.forEach((suspect, index) => suspect.scope !== null && assert(suspects[index].endsWith(scopeName(report.scopes[suspect.scope])), suspects[index]));

    await go(page, "view=timeline");
    const submissions = new Set(report.submissions.map(({ queue, number }) => `${queue}/${number}`));
    await press(page, "cairn-timeline .bar button:nth-of-type(3)");
    await settle(page);
    assert.equal((await page.$$(deep("cairn-timeline rect.box"))).length, submissions.size + report.empty_submissions.length);
    const states = await page.$$eval(deep("cairn-timeline rect.box.in-flight"), (boxes) => boxes.length);
    const running = new Set(report.submissions.filter(({ execution }) => execution !== null && report.executions[execution].state === inFlight).map(({ queue, number }) => `${queue}/${number}`));
    assert.equal(states, running.size);
    const times = await texts(page, "cairn-timeline text.quiet[y='17']");
    assert.equal(times.length > 0, report.submissions.some(({ time }) => time !== null));
    times.forEach((time, index) => assert.notEqual(time, times[index - 1]));

    await go(page, "view=tree");
    const nodes = new Set(report.executions.map(({ frame }) => frame)).size + report.executions.length + report.scopes.length;
    await press(page, "cairn-tree .bar button");
    await settle(page);
    assert.equal(await rowsOfTree(page), `${grouped(nodes)} row${nodes === 1 ? "" : "s"} of ${grouped(nodes)}`);

    await go(page, "view=facts");
    const tables = await texts(page, "cairn-facts option");
    for (const [name, value] of Object.entries(report)) {
      if (Array.isArray(value)) assert(tables.includes(`${name.replaceAll("_", " ")} (${grouped(value.length)})`), `${name} of ${tables}`);
    }
    for (const view of views) {
      await go(page, `view=${view}`);
      assert.equal((await page.$$(deep(`cairn-${view}`))).length, 1);
    }
    assert.deepEqual(errors, []);
    await page.close();
  });
}

// Sections of the text that other tests compare by their numbers, or that Facts has as a table.
const drawn = /^(Progress|<Frame|… \d+ more frames|Submissions|Suspects|Running on the GPU)/;
function linesOf(report) {
  let heading = "";
  return report.split("\n").slice(1).flatMap((line) => {
    if (!line.trim()) return [];
    if (/^\S/.test(line)) return void (heading = line) ?? [];
    if (drawn.test(heading) || /^ {4}- .* (waits for|signals) |recorded waits and signals:$|└─ submission \d+ of queue|^ {3}Data sources/.test(line)) return [];
    if (heading.startsWith("Objects") && line.startsWith(" - ")) return [];
    return [line.replace(/, (\d+) times$/, " $1")];
  });
}
for (const dump of dumps) {
  test(`${basename(dump)}: what the text says stands on the page`, async () => {
    const html = htmlOf(dump);
    const { page } = await open(pageWith(html, dataOf(html), "text.html"));
    let found = "";
    for (const view of ["verdict", "timeline", "memory"]) {
      await go(page, `view=${view}`);
      found += ` ${await allWords(page)}`;
    }
    const lines = linesOf(cairn("report", "--all", dump).replaceAll(dump, basename(dump)));
    assert(lines.length > 10);
    assert.deepEqual(lines.filter((line) => !found.includes(words(line.replace(/^  (next|send|or|file) +/, "").replace(/^[ \d.]*(\[.\]|!|-|└[─!])/, "")))), []);
    await page.close();
  });
}

test("the verdict is the first screen of the text: headline, how sure, rows, next commands", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  data.markdown = cairn("report", "--markdown", fault);
  data.report.verdict.answer = { headline: "GPU fault in DRAW_INDEXED #2", how_sure_in_words: "proven",
    rows: [{ label: "where", text: "Shadows > Shadow casters" }, { label: "because", text: "it began" }, { label: "because", text: "9.8 s, usually 0.2 ms" }] };
  data.report.verdict.next = [{ command: "cairn bisect -- ./game", effect: "finds the draw" }, { command: "cairn report --all game.cairn", effect: "shows all" }];
  data.report.verdict.send = [];
  const { page, errors } = await open(pageWith(html, data, "answer.html"));
  assert.equal(await text(page, "#headline"), "GPU fault in DRAW_INDEXED #2");
  assert.deepEqual(await texts(page, "cairn-verdict .badge"), ["GPU fault", "proven"]);
  assert.deepEqual(await texts(page, ".answer dt"), ["where", "because", ""]);
  assert.deepEqual(await texts(page, ".answer dd"), data.report.verdict.answer.rows.map(({ text }) => text));
  assert.deepEqual(await texts(page, "cairn-command code"), ["cairn bisect -- ./game", "cairn report --all game.cairn"]);
  assert.deepEqual(await texts(page, ".next li div"), ["finds the draw", "shows all"]);
  // Each step of the path leads to where it is drawn.
  const chips = await page.$$eval(deep(".chip"), (links) => links.map((link) => [link.textContent.trim(), link.hash]));
  assert.deepEqual(chips.map(([words]) => words), ['queue 0 "Graphics" (graphics), submission 1', 'frame 0: "Main"', "Shadows", "EXECUTE_COMMANDS #1", "Shadow casters", "[>] DRAW_INDEXED #2"]);
  assert.deepEqual(chips.map(([, hash]) => new URLSearchParams(hash.slice(1)).get("view")), ["timeline", "tree", "tree", "tree", "tree", "tree"]);
  await press(page, ".chip.culprit");
  await settle(page);
  assert.match(await text(page, "cairn-tree .row.chosen"), /DRAW_INDEXED #2/);
  await go(page, "view=verdict");
  // The pipeline from left to right, what is wrong with what was bound, and command lists of each queue.
  const flow = await texts(page, "cairn-pipeline .flow li");
  assert.match(flow.join("|"), /vertex shader.*main.*00000000000000a1/s);
  assert.deepEqual((await texts(page, "cairn-verdict .scroll td")).map((cell) => cell.trim()), ['queue 0 "Graphics" (graphics)', "1", "0", 'queue 1 "Async compute" (compute)', "0", "1"]);
  // The text that is copied, where the page may.
  await page.evaluate(() => { window.copied = []; Object.defineProperty(navigator, "clipboard", { value: { writeText: async (words) => void window.copied.push(words) } }); });
  await press(page, ".next li:nth-child(1) button");
  await press(page, "cairn-verdict .badges button");
  await settle(page);
  const [command, markdown] = await page.evaluate(() => window.copied);
  assert.equal(command, "cairn bisect -- ./game");
  assert.equal(markdown, cairn("report", "--markdown", fault));
  // Where it may not, the command is selected, to be copied by hand.
  await page.evaluate(() => { navigator.clipboard.writeText = async () => { throw new Error("no"); }; });
  await press(page, ".next li:nth-child(1) button");
  await settle(page);
  assert.match(await text(page, ".next li:nth-child(1) cairn-command"), /Press Ctrl\+C/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("what the program's own markers, the kernel and losses tell", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  Object.assign(report, {
    losses: ["a ring was full", "a ring was full", "a name was cut"], incidents: [], checkpoints: [],
    raw_marker_verdicts: [{ queue: 0, device: 0, consistent: false, executions_left_out: 3, candidate_count: 2, likely_count: 1,
      markers: [{ execution: 0, pipe: "top", slot: 2, value: "0x11", arrival: "arrived" }],
      works: [{ execution: 0, scope: null, after_marker: 1, state: inFlight, likely: false, reason: "Its end is not there." },
        { execution: 0, scope: 1, after_marker: 1, state: inFlight, likely: true, reason: "It began." }, { execution: 0, scope: 2, after_marker: 0, state: completed, likely: false, reason: "no" }] }],
    raw_markers: [{ device: 0, slot: 2, value: "0x11" }],
    kernel_log: { why_not: "", lines: [{ time: "1.5", names_process: true, tells_fault: false, text: "a time-out", address: null }] },
  });
  report.devices[0].notes = "it forgets";
  report.devices[0].lists_dropped = 2;
  report.objects.push({ state: "free" });
  const { page, errors } = await open(pageWith(html, data, "told.html"));
  const verdict = await allWords(page);
  for (const said of [
    "a ring was full (2 times)", "No failure was noticed; this is the state when the report was asked for.", "1.5 of this process a time-out", "note on this device it forgets",
    "2 command lists found no room and are not in this report", "2 candidates, 1 of them likely", "what was recorded behind marker 1) Its end is not there", "3 older executions",
    "No order of execution leaves the slots as they are", "marker 1: top of pipe, slot 2, 0x0000000000000011: arrived", "slot 2: 0x0000000000000011 (17)",
  ]) assert(verdict.includes(words(said)), said);
  // The likely one stands first.
  assert(verdict.indexOf("it began") < verdict.indexOf("its end is not there"));
  assert(!verdict.includes("checkpoints"));
  // An object of which nothing is known.
  for (const view of views) await go(page, `view=${view}`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("what is chosen is chosen everywhere, and stands in the address", async () => {
  const html = htmlOf(fault);
  const report = dataOf(html).report;
  const { page, errors } = await open(pageWith(html, dataOf(html), "chosen.html") + "#view=tree&scope=4");
  await settle(page);
  assert.equal(scopeName(report.scopes[4]), "DRAW_INDEXED #2");
  assert.match(await text(page, "cairn-tree .row.chosen"), /DRAW_INDEXED #2/);
  assert.match(await text(page, "cairn-chosen"), /Shadow pipeline/);
  await page.keyboard.press("2");
  await settle(page);
  assert.match(await page.$eval(deep("cairn-timeline rect.chosen title"), (title) => title.textContent), new RegExp(`queue 0 "Graphics" \\(graphics\\), submission 1: ${inFlight}`));
  assert.equal(await page.evaluate(() => location.hash), "#view=timeline&scope=4");
  // The next submission is that of the other queue.
  await page.$eval(deep("cairn-timeline svg[tabindex]"), (svg) => svg.focus());
  await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.match(await text(page, "cairn-chosen"), /Culling/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("rows by keyboard, fold and search", async () => {
  const html = htmlOf(fault);
  const { page, errors } = await open(pageWith(html, dataOf(html), "keys.html") + "#view=tree");
  await settle(page);
  await page.$eval(deep("cairn-tree .scroller"), (scroller) => scroller.focus());
  // Work that has not started is folded.
  await page.keyboard.press("End");
  await settle(page);
  assert.match(await text(page, "cairn-tree .row.chosen"), /"Culling"/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("End");
  await settle(page);
  assert.match(await text(page, "cairn-tree .row.chosen"), /DISPATCH #1/);
  await page.keyboard.press("ArrowUp");
  await settle(page);
  const before = await rowsOfTree(page);
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.notEqual(await rowsOfTree(page), before);
  await page.keyboard.press("/");
  await page.keyboard.type("casters");
  await settle(page);
  // The frame, the list, and the two scopes around it.
  assert.deepEqual((await texts(page, "cairn-tree .row")).map((row) => row.replace(/ {2,}.*| *▾ */g, "").trim()).length, 5);
  await page.keyboard.press("Escape");
  assert.deepEqual(errors, []);
  await page.close();
});

test("the tree opens at the culprit, unfinished work first", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  // 400 finished frames before and behind the one that failed.
  const done = (frame) => ({ ...report.executions[0], frame, name: `Finished ${frame}`, state: completed, scope_count: 0 });
  for (const each of report.executions) each.frame = 200;
  report.executions.push(...Array.from({ length: 400 }, (_, frame) => done(frame < 200 ? frame : frame + 1)));
  const { page, errors } = await open(pageWith(html, data, "first.html") + "#view=tree");
  await settle(page);
  const rows = (await texts(page, "cairn-tree .row")).map((row) => row.replace(/\s+/g, " ").trim());
  assert.match(rows[0], /^▾ frame 200/);
  assert.match(rows[1], /^▾\[>\] "Main", execution 1queue 0 "Graphics" \(graphics\)10\.001 s5/);
  const culprit = rows.find((row) => row.includes("culprit"));
  assert.match(culprit, /^\[>\] culprit DRAW_INDEXED #2graphics pipeline "Shadow pipeline"/);
  assert.equal(rows.filter((row) => row.includes("culprit")).length, 1);
  assert(rows.includes("▸ frame 01"), "a finished frame is folded, with how much is inside");
  assert.deepEqual((await texts(page, "cairn-tree .head span")).slice(1), ["queue, pipeline", "submission", "submitted", "inside"]);
  // Far down it is brought into sight.
  report.verdict.suspects[0] = { ...report.verdict.suspects[0], execution: 380, scope: null };
  const far = await open(pageWith(html, data, "far.html") + "#view=tree");
  await settle(far.page);
  assert((await texts(far.page, "cairn-tree .row")).some((row) => /culprit.*Finished 379/s.test(row)));
  await far.page.close();
  assert.deepEqual(errors, []);
  await page.close();
});

test("one search finds names, calls and addresses from everywhere", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  data.report.scopes[4].call = 18233;
  const { page, errors } = await open(pageWith(html, data, "search.html"));
  const search = async (words) => {
    await page.keyboard.press("/");
    await page.keyboard.type(words);
    await settle(page);
    return (await texts(page, ".found li")).map((found) => found.replace(/\s+/g, " ").trim());
  };
  const found = await search("shadow");
  for (const wanted of ["workShadows", "pipelinegraphics pipeline \"Shadow pipeline\"", "objectimage \"Shadow map\""]) assert(found.some((each) => each.startsWith(wanted)), `${wanted} in ${found}`);
  await page.keyboard.press("Escape");
  assert.deepEqual(await search("18,233"), ["callcall 18,233: DRAW_INDEXED #2"]);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await text(page, "cairn-tree .row.chosen"), /DRAW_INDEXED #2/);
  // An address leads to whose memory it is, or was.
  assert.match((await search("0x1000020100")).join("|"), /addressbuffer "Old lights" \+ 0x100 of 16 KiB, destroyed.*faultinvalid read at 0x1000020100/);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await text(page, "cairn-memory .row.chosen"), /Old lights/);
  assert.deepEqual(await search("0x12"), ["addressin no object that is known"]);
  await page.keyboard.press("Escape");
  assert.deepEqual(await search("no such name"), []);
  assert.match(await text(page, "div.found"), /Nothing has "no such name" in its name/);
  assert.deepEqual(await seriousFaults(page), []);
  await search("shadow");
  assert.deepEqual(await seriousFaults(page), []);
  assert.deepEqual(errors, []);
  await page.close();
});

test("the timeline has a strip by the clock: submissions, what hung and for how long, when it was noticed", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  Object.assign(report.process, { started: "2026-11-26 10:00:00.000 UTC", seen: "2026-11-26 10:00:10.500 UTC" });
  report.incidents = [{ ...report.incidents[0], kind: "hang", value: 2000, time: "2026-11-26 10:00:10.000 UTC", sentence: "The watchdog saw a hang." }];
  report.faults = [];
  // Ten frames, a second each; the last one hangs on queue 0, and queue 1 has not started.
  const done = Array.from({ length: 10 }, (_, frame) => ({ ...report.executions[0], frame, state: completed, scope_count: 0, submission_number: frame + 1 }));
  const [hangs, waits] = report.executions;
  Object.assign(hangs, { frame: 10, submission_number: 11 });
  Object.assign(waits, { frame: 10, submission_number: 1 });
  report.executions.push(...done);
  report.submissions = [...done.map(({ frame }) => ({ queue: 0, number: frame + 1, execution: frame + 2, time: `${frame * 0.5}00 s` })),
    { queue: 0, number: 11, execution: 0, time: "6.000 s" }, { queue: 1, number: 1, execution: 1, time: "6.100 s" }];
  const { page, errors } = await open(pageWith(html, data, "clock.html") + "#view=timeline");
  await settle(page);
  const width = await page.$eval(deep("cairn-clock svg"), (element) => element.clientWidth);
  const titles = await page.$$eval(deep("cairn-clock title"), (all) => all.map((title) => title.textContent));
  for (const title of ["submission 11: in flight; submitted at 6.000 s", "submission 1: not started; submitted at 6.100 s", "The watchdog saw a hang.", "frame 3"]) assert(titles.includes(title), title);
  // A width is a time: 4.5 s in flight and 2 s without progress, of the 10.5 s and the margins that are drawn.
  const [bar] = await page.$$eval(deep("cairn-clock .bar"), (bars) => bars.map((each) => Number(each.getAttribute("width"))));
  const hung = await page.$eval(deep("cairn-clock .hung rect"), (rect) => Number(rect.getAttribute("width")));
  assert(Math.abs(bar / hung - 4.5 / 2) < 0.02, `${bar} to ${hung}`);
  assert(Math.abs(hung / width - 2 / (10.5 * 1.01)) < 0.01, `${hung} of ${width}`);
  assert.deepEqual(await texts(page, "cairn-clock .hung text"), ["no progress for 2 s"]);
  assert.deepEqual(await texts(page, "cairn-clock .flag text"), ["⚑ hang"]);
  assert.deepEqual(await texts(page, "cairn-clock li"), ['in flight: submission 11 of queue 0 "Graphics" (graphics), submitted at 6.000 s, 4.5 s before this report',
    'not started: submission 1 of queue 1 "Async compute" (compute), submitted at 6.100 s, 4.4 s before this report']);
  // Without a time, nothing is drawn that would mean one.
  for (const each of report.submissions) each.time = null;
  const bare = await open(pageWith(html, data, "clockless.html") + "#view=timeline");
  await settle(bare.page);
  assert.equal(await bare.page.$(deep("cairn-clock svg")), null);
  assert.equal((await bare.page.$$(deep("cairn-timeline rect.box"))).length, 12);
  await bare.page.close();
  assert.deepEqual(errors, []);
  await page.close();
});

test("what is inside of a row is as wide as the row", async () => {
  const html = htmlOf(join(golden, "snapshot-arguments-v1.cairn"));
  const data = dataOf(html);
  const scope = data.report.scopes.findIndex((each) => each.arguments);
  const { page, errors } = await open(pageWith(html, data, "inside.html"));
  await go(page, `view=tree&scope=${scope}`);
  const widths = await page.$$eval(deep(".inner"), (inner) => inner.map((each) => [each.offsetWidth, each.closest("dl").offsetWidth]));
  assert(widths.length > 0);
  for (const [inside, row] of widths) assert(inside >= row - 1, `${inside} of ${row}`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("an empty view says why it is empty and what to do", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  Object.assign(data.report, { executions: [], scopes: [], submissions: [], empty_submissions: [], syncs: [], threads: [], objects: [], faults: [], crash_addresses: [], freed_in_flight: [], kernel_log: null, verdicts: [], checkpoints: [], reported_event_ids: [], pipelines: [] });
  data.report.waits = { ...data.report.waits, queues: [], waits: [], cycles: [], cycle_words: [] };
  Object.assign(data.report.verdict, { suspects: [], last_completed: [], next: [], send: [] });
  const { page, errors } = await open(pageWith(html, data, "empty.html"));
  for (const [view, title, command] of [["timeline", "Nothing was submitted", "cairn run -- ./program"], ["tree", "No work is known", "cairn run -- ./program"], ["memory", "No object is known", "cairn run -- ./program"]]) {
    await go(page, `view=${view}`);
    assert.equal(await text(page, `cairn-${view} .empty h2`), title);
    assert.equal(await text(page, `cairn-${view} .empty code`), command);
  }
  await go(page, "view=verdict");
  assert.equal(await page.$(deep("cairn-verdict .next")), null);
  assert.deepEqual(errors, []);
  await page.close();
});

test("help names all views, keys and marks; the tour leads through the views in five steps", async () => {
  const html = htmlOf(fault);
  const { page, errors } = await open(pageWith(html, dataOf(html), "tour.html"));
  await page.keyboard.press("?");
  await settle(page);
  const help = await text(page, "cairn-help dialog[open]");
  for (const words of ["Verdict", "Timeline", "Tree", "Memory", "Facts", "Page Down", "[X]", "in flight", "proven", "cairn view FILE"]) assert(help.includes(words), words);
  assert.deepEqual(await seriousFaults(page), []);
  await press(page, "cairn-help dialog .bar button");
  await settle(page);
  assert.equal(await page.$(deep("cairn-help dialog[open]")), null);
  const shown = [];
  for (let step = 0; step < 5; ++step) {
    shown.push([await text(page, "cairn-tour h2"), await text(page, "cairn-tour .bar span"), await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("view"))]);
    if (!step) assert.deepEqual(await seriousFaults(page), []);
    await press(page, "cairn-tour .bar button:last-child");
    await settle(page);
  }
  // A page without a trace has no calls to show.
  assert.deepEqual(shown, [["The answer", "1 of 5", "verdict"], ["The GPU over time", "2 of 5", "timeline"], ["Where in the frame", "3 of 5", "tree"], ["Which call", "4 of 5", "verdict"], ["Whose memory", "5 of 5", "memory"]]);
  assert.equal(await page.$(deep("cairn-tour .tour")), null);
  assert.deepEqual(errors, []);
  await page.close();
});

test("memory: the fault stands between its neighbours", async () => {
  const html = htmlOf(fault);
  const { page, errors } = await open(pageWith(html, dataOf(html), "memory.html") + "#view=memory");
  await settle(page);
  const strip = await text(page, "cairn-memory .fault");
  assert.match(strip, /0x1000020100/);
  assert.match(strip, /buffer "Old lights" \+ 0x100 of 16 KiB, destroyed 30 ms before the fault was noticed, while submitted work was unfinished/);
  assert.match(strip, /buffer "Vertices"\s*ends 64 KiB below/);
  const rows = await texts(page, "cairn-memory .row");
  const at = rows.findIndex((row) => row.includes("0x1000020100"));
  assert.match(rows[at - 1], /"Old lights"/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a link to a call leads to the execution that the verdict names", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  // A list that was submitted three times: scopes of the first two executions are the same ones, the third has its own.
  const [first] = report.executions;
  const scopes = report.scopes.slice(first.first_scope, first.first_scope + first.scope_count);
  const culprit = scopes.length - 1;
  scopes[culprit] = { ...scopes[culprit], call: 124 };
  report.scopes = [...scopes, ...scopes];
  report.executions = [0, 1, 2].map((run) => ({ ...first, run: run + 1, first_scope: run === 2 ? scopes.length : 0, scope_count: scopes.length }));
  const [suspect] = report.verdict.suspects;
  for (const [execution, scope] of [[0, culprit], [2, scopes.length + culprit]]) {
    report.verdict.suspects = [{ ...suspect, execution, scope }];
    const { page } = await open(pageWith(html, data, "call.html") + "#call=124");
    await settle(page);
    const chosen = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
    assert.equal(chosen.get("scope"), String(scope));
    assert.match(await text(page, "cairn-chosen"), new RegExp(`execution ${execution + 1}`));
    await page.close();
  }
});

test("what crashed, what was destroyed in flight, and a submission without lists", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  const [address] = report.faults[0].addresses;
  report.crash_addresses = [{ ...address, incident: 0, words: "memory that was freed, in buffer \"Old lights\" + 0x100" }];
  report.freed_in_flight = [{ object: address.owners[0].object, queue: 0, submission: 1, after_submission_ns: 5, destruction: null, words: "buffer \"Old lights\", destroyed 5 ms after submission 1" }];
  report.empty_submissions = [{ queue: 0, number: 77, time: null }];
  report.waits = { ...report.waits, cycle_words: ["Deadlock: queue 0 waits for itself."] };
  report.threads = [{ id: 7, name: "render", ended: false, crashed: true, calls: [
    { number: 1, function: "vkCmdDispatch", object: "0x0", returned: false, arguments: [{ name: "groupCountX", value: "64" }, { name: "groupCountY", value: "1" }] }] }];
  const { page, errors } = await open(pageWith(html, data, "crash.html") + "#view=memory");
  await settle(page);
  const memory = await allWords(page);
  for (const line of ["the CPU, which does the GPU's work here, at " + address.address + ": memory that was freed, in buffer \"Old lights\" + 0x100",
    `Destroyed while work was ${inFlight}, and reachable by address`, report.freed_in_flight[0].words]) assert(memory.includes(words(line)), line);
  await go(page, "view=timeline");
  await settle(page);
  const timeline = await allWords(page);
  for (const line of ["thread 7 \"render\", crashed", "vkCmdDispatch(groupCountX = 64, groupCountY = 1)", "Deadlock: queue 0 waits for itself."]) {
    assert(timeline.includes(words(line)), line);
  }
  assert.equal((await page.$$(deep("cairn-timeline rect.box"))).length, new Set(report.submissions.map(({ queue, number }) => `${queue}/${number}`)).size + 1);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a redacted page has no name of the program", () => {
  const html = htmlOf(fault, "--redact");
  const data = JSON.stringify(dataOf(html));
  for (const name of ["Shadow", "Old lights", "/games/demo", "snapshot-vulkan"]) assert(!data.includes(name), name);
});

test("a hostile page shows text and runs nothing", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  const evil = ["</script><script>window.owned = 1</script>", "<img src=x onerror='window.owned = 1'>", "javascript:window.owned=1", "${window.owned = 1}", "\u202egnp.exe\u0000\u001b[31m"];
  report.scopes.forEach((scope, index) => { scope.name = evil[index % evil.length]; });
  report.objects.forEach((object, index) => { object.name = evil[index % evil.length]; });
  report.scopes[1].name = "x".repeat(4 << 20);
  report.verdict.answer.headline = evil[0] + "y".repeat(4 << 20);
  report.process.program = evil[1];
  data.file = evil[0];
  // Parents that go round, and indices that lead nowhere.
  report.scopes[0].parent = 2;
  report.scopes[2].parent = 0;
  report.scopes[3].pipeline = 4_000_000_000;
  report.scopes[4].annotation = 7;
  report.verdicts[0].queue = 99;
  report.faults[0].addresses[0].owners[0].object = 1234;
  report.queues[0].name = evil[1];
  report.incidents[0].sentence = evil[1];
  const { page, errors } = await open(pageWith(html, data, "hostile.html"));
  for (const view of views) {
    await go(page, `view=${view}`);
    assert.equal(await page.evaluate(() => window.owned), undefined);
    assert.equal((await page.$$(deep(`cairn-${view}`))).length, 1, view);
    assert.equal((await page.$$(deep("img"))).length, 0);
  }
  await go(page, "view=tree&scope=4");
  await go(page, `view=tree&scope=${"9".repeat(40)}`);
  await go(page, "view=memory&object=-1");
  await go(page, "view=verdict");
  assert.match(await text(page, "#headline"), /^<\/script><script>window\.owned = 1<\/script>y+… \(4,194,346 characters\)$/);
  assert.deepEqual(errors, []);
  await page.close();
});

test("long names are cut off nowhere", async () => {
  const html = htmlOf(fault);
  const data = dataOf(html);
  const { report } = data;
  const name = "Level_03/Cliffs_and_rocks/".repeat(6) + "parallax occlusion, second pass";
  for (const table of [report.scopes, report.objects, report.executions, report.queues, report.pipelines]) for (const each of table) each.name = name;
  for (const { shaders } of report.pipelines) for (const stage of Object.keys(shaders)) shaders[stage] = name.replaceAll(" ", "_");
  report.threads = [{ id: 17, name, ended: false, crashed: false, calls: [{ number: 1, function: name, object: report.objects[0].native_handle, returned: false, arguments: [{ name, value: name }] }] }];
  Object.assign(report.process, { program: name, command_line: name.repeat(3) });
  data.file = name.replaceAll("/", "_") + ".cairn";
  const { page, errors } = await open(pageWith(html, data, "long.html"));
  for (const view of views) {
    await go(page, `view=${view}&scope=4`);
    assert.deepEqual(await stickingOut(page), [], view);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("colours are those of the tokens, readable, and told apart without red or green", async () => {
  for (const name of readdirSync(join(source, "viewer/source"))) {
    assert.doesNotMatch(readFileSync(join(source, "viewer/source", name), "utf8").replaceAll(/"#"|#view/g, ""), /: #[0-9a-f]{3,8}\b|rgba?\(/i, `${name} has a colour of its own`);
  }
  const html = htmlOf(fault);
  for (const scheme of ["light", "dark"]) {
    for (const contrast of ["no-preference", "more"]) {
      const { page } = await open(pageWith(html, dataOf(html), "colours.html"), { scheme });
      const client = await page.createCDPSession();
      await client.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-contrast", value: contrast }, { name: "prefers-color-scheme", value: scheme }] });
      const colours = await page.evaluate(() => {
        const probe = document.body.appendChild(document.createElement("div"));
        return Object.fromEntries(["ground", "raised", "over", "text", "quiet", "link", "done", "busy", "warn"].map((name) => {
          probe.style.color = `var(--${name})`;
          return [name, getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number)];
        }));
      });
      const linear = (colour) => colour.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
      const light = (colour) => linear(colour).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
      for (const surface of ["ground", "raised", "over"]) {
        for (const name of ["text", "quiet", "link", "done", "busy", "warn"]) {
          const [low, high] = [light(colours[surface]), light(colours[name])].sort((a, b) => a - b);
          const ratio = (high + 0.05) / (low + 0.05);
          assert(ratio >= (contrast === "more" && name !== "warn" ? 7 : 4.5), `${name} on ${surface}, ${scheme}, contrast ${contrast}: ${ratio.toFixed(2)}`);
        }
      }
      // Deuteranopia, by Machado, Oliveira and Fernandes (2009): what is left of the colours that mean something.
      const seen = (colour) => { const [r, g, b] = linear(colour); return [0.367322 * r + 0.860646 * g - 0.227968 * b, 0.280085 * r + 0.672501 * g + 0.047413 * b, -0.01182 * r + 0.04294 * g + 0.968881 * b]; };
      // Oklab, in which equal distances look equal.
      const lab = ([r, g, b]) => {
        const [l, m, s] = [0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b, 0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b, 0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b].map(Math.cbrt);
        return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
      };
      const [done, busy] = [lab(seen(colours.done)), lab(seen(colours.busy))];
      assert(Math.hypot(...done.map((value, index) => value - busy[index])) > 0.08, `completed and in flight, ${scheme}, contrast ${contrast}`);
      await page.close();
    }
  }
});

test("narrow, enlarged, forced colours, without motion, printed", async () => {
  const html = htmlOf(fault);
  const address = pageWith(html, dataOf(html), "sizes.html");
  // 300 % of 1366 x 768 are 455 x 256.
  for (const [width, height] of [[900, 768], [455, 256], [320, 640]]) {
    const { page, errors } = await open(address, { width, height });
    for (const view of views) {
      await go(page, `view=${view}&scope=4`);
      assert.deepEqual(await stickingOut(page), [], `${view}, ${width} x ${height}`);
      assert(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} is no wider than ${width}`);
    }
    await go(page, "view=memory&scope=4");
    assert(await page.$eval(deep("cairn-memory"), (memory) => [...memory.shadowRoot.querySelectorAll(".faults")].every((faults) => faults.scrollHeight <= faults.clientHeight)), `no fault is cut at ${width}`);
    await go(page, "view=verdict&scope=4");
    assert(await page.$eval(deep("aside"), (aside) => aside.clientHeight === 0), "the verdict has the whole height");
    await go(page, "view=facts&scope=4");
    // Nothing is hidden for good: what is chosen stands below.
    assert(await page.$eval(deep("aside"), (aside) => aside.clientHeight > 0 && aside.clientWidth > 0));
    assert.deepEqual(errors, []);
    await page.close();
  }
  const { page } = await open(address);
  const client = await page.createCDPSession();
  const colour = (name) => page.evaluate((token) => getComputedStyle(document.documentElement).getPropertyValue(token), name);
  await client.send("Emulation.setEmulatedMedia", { features: [{ name: "forced-colors", value: "active" }] });
  assert.equal((await colour("--busy")).trim(), "CanvasText");
  await client.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-reduced-motion", value: "reduce" }] });
  assert.equal((await colour("--soft")).trim(), "0s");
  await client.send("Emulation.setEmulatedMedia", { media: "print", features: [] });
  await settle(page);
  const printed = await page.evaluate(() => {
    const root = document.querySelector("cairn-page").shadowRoot;
    return { nav: getComputedStyle(root.querySelector("nav")).display, main: getComputedStyle(root.querySelector("main")).overflow, inSight: document.documentElement.scrollHeight, all: root.querySelector("main").scrollHeight };
  });
  assert.equal(printed.nav, "none");
  assert.equal(printed.main, "visible");
  assert(printed.inSight >= printed.all, "all of it is printed");
  await page.close();
});

test("axe-core finds nothing serious", async () => {
  const html = htmlOf(fault);
  for (const scheme of ["light", "dark"]) {
    const { page } = await open(pageWith(html, dataOf(html), "axe.html"), { scheme });
    for (const view of views) {
      await go(page, `view=${view}&scope=4`);
      assert.deepEqual(await seriousFaults(page), [], `${view}, ${scheme}`);
    }
    await page.close();
  }
});

test("pictures", async () => {
  const pictures = join(build, "viewer/pictures");
  mkdirSync(pictures, { recursive: true });
  for (const dump of dumps) {
    const html = htmlOf(dump);
    const data = dataOf(html);
    const scope = data.report.verdict.suspects[0]?.scope;
    for (const [width, height] of [[1366, 768], [3840, 2160]]) {
      for (const scheme of ["light", "dark"]) {
        const { page, errors } = await open(pageWith(html, data, "picture.html"), { width, height, scheme });
        for (const view of views) {
          await go(page, `view=${view}${scope == null ? "" : `&scope=${scope}`}`);
          await page.screenshot({ path: join(pictures, `${basename(dump, ".cairn")}-${view}-${width}-${scheme}.png`), optimizeForSpeed: true });
          assert.deepEqual(await stickingOut(page), [], `${view} fits ${width}`);
        }
        assert.deepEqual(errors, []);
        await page.close();
      }
    }
  }
});
