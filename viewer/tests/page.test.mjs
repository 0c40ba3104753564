// SPDX-License-Identifier: Apache-2.0
//
// The page in a real browser: docs/reference/viewer.md, "Tested".
import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
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
  : scope.type + (scope.ordinal ? ` ${scope.ordinal}` : "") + (scope.arguments ? ` ${scope.arguments.words}` : "") + (scope.name ? `: "${scope.name}"` : ""));

assert(dumps.length >= 4, "the golden files are there");
for (const dump of dumps) {
  test(`${basename(dump)}: the page shows what the JSON says`, async () => {
    const report = JSON.parse(cairn("report", "--json", dump));
    const html = htmlOf(dump);
    assert.deepEqual(dataOf(html).report, report);
    const { page, errors } = await open(pageWith(html, dataOf(html), "golden.html"));
    assert.equal(await text(page, "#sentence"), report.verdict.sentence);
    const suspects = await texts(page, "cairn-verdict .path");
    const shown = report.verdict.suspects.slice(0, 4);
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
const drawn = /^(Progress|<Frame|… \d+ more frames|Submissions|Suspects|What was running)/;
function linesOf(report) {
  let heading = "";
  return report.split("\n").slice(1).flatMap((line) => {
    if (!line.trim()) return [];
    if (/^\S/.test(line)) return void (heading = line) ?? [];
    if (drawn.test(heading) || /^ {4}- .* (waits for|signals) |told:$|└─ submission \d+ of queue|^ {3}Data sources/.test(line)) return [];
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
    const lines = linesOf(cairn("report", "--all", dump));
    assert(lines.length > 10);
    assert.deepEqual(lines.filter((line) => !found.includes(words(line.replace(/^[ \d.]*(\[.\]|!|-|└[─!])/, "")))), []);
    await page.close();
  });
}

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
    "a ring was full (2 times)", "No incident was noticed; this is the state when the status was asked for.", "1.5 of this process a time-out", "known of this device it forgets",
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
  assert.equal(scopeName(report.scopes[4]), "DRAW_INDEXED 2");
  assert.match(await text(page, "cairn-tree .row.chosen"), /DRAW_INDEXED 2/);
  assert.match(await text(page, "cairn-chosen"), /Shadow pipeline/);
  await page.keyboard.press("2");
  await settle(page);
  assert.match(await page.$eval(deep("cairn-timeline rect.chosen title"), (title) => title.textContent), new RegExp(`queue 0 "Graphics" \\(direct\\), submission 1: ${inFlight}`));
  assert.equal(await page.evaluate(() => location.hash), "#view=timeline&scope=4");
  // The next submission is that of the other queue.
  await page.$eval(deep("cairn-timeline svg"), (svg) => svg.focus());
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
  await page.keyboard.press("End");
  await settle(page);
  assert.match(await text(page, "cairn-tree .row.chosen"), /DISPATCH 1/);
  await page.keyboard.press("ArrowUp");
  await settle(page);
  assert.match(await text(page, "cairn-tree .row.chosen"), /"Culling"/);
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

test("memory: the fault stands between its neighbours", async () => {
  const html = htmlOf(fault);
  const { page, errors } = await open(pageWith(html, dataOf(html), "memory.html") + "#view=memory");
  await settle(page);
  const strip = await text(page, "cairn-memory .fault");
  assert.match(strip, /0x1000020100/);
  assert.match(strip, /buffer "Old lights" \+ 0x100 of 16 KiB, destroyed 30 ms before the fault was noticed/);
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
  report.verdict.sentence = evil[0] + "y".repeat(4 << 20);
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
  assert.match(await text(page, "#sentence"), /^<\/script><script>window\.owned = 1<\/script>y+… \(4,194,346 characters\)$/);
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
