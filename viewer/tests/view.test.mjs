// SPDX-License-Identifier: Apache-2.0
//
// cairn view in a real browser: what the page shows of a trace is what the verbs print.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { appears, build, cairn, deep, end, folder, go, open, press, rowsOf, seriousFaults, settle, source, startBrowser, stopBrowser, text, texts, view, words } from "./browser.mjs";

const golden = (name) => join(source, "tests/golden", name);
const trace = golden("played/passes.cairn");
// Returns the folders that sessions have left.
const left = () => readdirSync(folder).filter((name) => name.startsWith("cairn-view-"));

before(startBrowser);
after(stopBrowser);

test("commands, instances and shader records stand beside what is bound", async () => {
  const server = await view(trace);
  const { page, errors } = await open(server.address);
  await page.evaluate((state) => {
    const real = window.fetch;
    window.fetch = async (place, ...rest) => (String(place).startsWith("state") ? new Response(JSON.stringify(state)) : real(place, ...rest));
  }, { format: "cairn-state", version: 1, call: { number: 9, method: "ID3D12GraphicsCommandList4::DispatchRays", arguments: {} }, list: null, pipeline: null, state_object: { set_by: 5, arguments: {} },
    parts: { kind: "record", count: 2, count_is_limit: false, executed_by: 11, of: 'RAYTRACING_PIPELINE: hit group "Glass"',
      listed: [{ text: 'hit group [0], export "Glass"' }, { text: "miss [0]", unknown: "the GPU may write resource 6: only a playback knows it" }] } });
  await go(page, "view=state&call=9");
  await appears(page, "cairn-state .flow li");
  const [card] = (await texts(page, "cairn-state .flow li")).map((each) => each.replace(/\s+/g, " ").trim());
  assert.equal(card, 'from buffers2 records, executed by 11RAYTRACING_PIPELINE: hit group "Glass"hit group [0], export "Glass"miss [0] unknown, the GPU may write resource 6: only a playback knows it');
  assert.doesNotMatch(await text(page, "cairn-state"), /No pipeline is set/);
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
});

test("calls: by place, by filter, and the state of one", async () => {
  const server = await view(trace);
  const { page, errors } = await open(server.address);
  const lines = cairn("calls", "--json", "--no-names", trace).trim().split("\n").map((line) => JSON.parse(line));
  const rows = await rowsOf(page, "cairn-calls");
  assert.match(await text(page, "cairn-calls form"), new RegExp(`${lines.length.toLocaleString("en-US")} lines`));
  lines.slice(0, 10).forEach((line, index) => assert(rows[index].includes(line.number.toLocaleString("en-US")), rows[index]));

  // The last one.
  await page.$eval(deep("cairn-calls cairn-rows"), (element) => element.moveTo(1e9));
  await settle(page);
  const end = await rowsOf(page, "cairn-calls");
  assert(end.at(-1).includes(lines.at(-1).number.toLocaleString("en-US")), end.at(-1));

  // A link to a call.
  const draw = lines.find((line) => line.method?.endsWith("::DrawInstanced"));
  await go(page, `call=${draw.number}`);
  await appears(page, "cairn-calls .row.chosen");
  while ((await text(page, "cairn-calls .row.chosen")).trim() === "…") await settle(page);  // its line comes from the server
  assert.match(await text(page, "cairn-calls .row.chosen"), /DrawInstanced\s+\(VertexCountPerInstance = 3/);
  assert.match(await text(page, "cairn-calls .one"), /VertexCountPerInstance\s*3/);

  await go(page, `view=state&call=${draw.number}`);
  await appears(page, "cairn-state .tree");
  const state = JSON.parse(cairn("state", "--json", "--call", String(draw.number), trace));
  assert((await text(page, "cairn-state .tree")).includes(state.pipeline.text));
  // From left to right: the same values.
  const flow = (await texts(page, "cairn-state .flow li")).map((each) => each.replace(/\s+/g, " ").trim());
  ["input", "root arguments", "vertex shader", "pixel shader", "rasteriser", "output"].forEach((title, index) => assert(flow[index]?.startsWith(title), `${title} in ${flow}`));
  assert((await text(page, "cairn-state section[aria-label=Pipeline] h2")).includes(state.pipeline.text));
  const { pDesc } = state.pipeline.created_by.arguments;
  assert(flow.some((each) => each.startsWith("pixel shader") && each.includes(pDesc.PS.pShaderBytecode.xxh64)));
  const [viewport] = state.viewports.arguments.pViewports;
  assert(flow.some((each) => each.startsWith("rasteriser") && each.includes(`viewport ${viewport.Width} × ${viewport.Height}`)));
  assert(flow.some((each) => each.startsWith("output") && each.includes(state.targets[0].written_by.arguments.pResource.text)));

  await go(page, "view=calls");
  await appears(page, "cairn-calls form");
  await page.$eval(deep("cairn-calls input[name=function]"), (input) => { input.value = "DrawInstanced"; input.form.requestSubmit(); });
  const filtered = lines.filter((line) => line.method?.endsWith("::DrawInstanced")).length;
  while (!(await text(page, "cairn-calls form")).includes(` ${filtered.toLocaleString("en-US")} of `)) await settle(page);
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
  assert.equal(server.process.exitCode, 0);
  assert.deepEqual(left(), []);
});

// The row of the list that holds this text.
const rowWith = async (page, part) => (await texts(page, "cairn-calls .row")).find((row) => row.includes(part));
test("calls: events fold, objects have their names, and what is worth going to is a press away", async () => {
  const server = await view("--sample");
  const { page, errors } = await open(server.address + "#view=calls");
  await rowsOf(page, "cairn-calls");
  const file = join(source, "viewer/sample.cairn");
  const lines = cairn("calls", "--json", "--no-names", file).trim().split("\n").map((line) => JSON.parse(line));
  const count = () => page.$eval(deep("cairn-calls cairn-rows"), (rows) => rows.count);
  assert.equal(await count(), lines.length);
  const lineOf = (number) => lines.findIndex((line) => line.number === number);
  // The objects by the names that cairn objects has for them.
  const { objects } = JSON.parse(cairn("objects", "--json", file));
  const named = objects.find(({ name }) => name === "Shadow atlas").object;
  assert.match(await rowWith(page, "SetName"), /^\s+9\s+t0\s+Graphics #2\s+SetName\s+\(Name = Graphics\) = S_OK\s*$/);
  assert.match(await rowWith(page, "CreateRenderTargetView"), new RegExp(`pResource = "Shadow atlas" #${named}`));

  // The suspect, by keyboard.
  assert.match(await text(page, "cairn-calls .jumps"), /1 suspect›.*1 call in flight›/s);
  await page.focus(deep("cairn-calls button[aria-label^=next]"));
  await page.keyboard.press("Enter");
  await appears(page, "cairn-calls .row.chosen");
  assert.match(await text(page, "cairn-calls .row.chosen"), /\[>\]\s+1,710\s+t0\s+Main #15\s+DrawInstanced/);
  assert.match(page.url(), /call=1710/);
  // It stands in two events.
  assert.equal(await page.$eval(deep("cairn-calls .row.chosen"), (row) => row.getAttribute("aria-level")), "3");

  // The event around it: to it, folded, and all of its lines are hidden.
  await page.focus(deep("cairn-calls .scroller"));
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  const event = lines.find(({ annotation }) => annotation === "Lighting");
  const last = lineOf(lines.find(({ number, method }) => number > event.number && method.endsWith("::EndEvent")).number);
  assert.match(await text(page, "cairn-calls .row.chosen"), /\[>\]\s+1,685\s+t0\s+▾\s*Lighting\s+Main #15, /);
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.equal(await count(), lines.length - (last - lineOf(event.number)));
  assert.equal(await page.$eval(deep("cairn-calls .row.chosen"), (row) => row.getAttribute("aria-expanded")), "false");
  await page.keyboard.press("ArrowDown");
  await rowsOf(page, "cairn-calls");
  assert(await rowWith(page, lines[last + 1].number.toLocaleString("en-US")));
  assert.match(await text(page, "cairn-calls .row.chosen"), new RegExp(lines[last + 1].number.toLocaleString("en-US")));
  // All of them: the outermost hides the others. A link to a call in it unfolds what it stands in.
  const [fold] = await page.$$(deep("cairn-calls .jumps button:not([aria-label])"));
  await fold.click();
  await settle(page);
  const frame = lines.find(({ annotation }) => annotation === "Frame 1");
  const ends = lines.filter(({ number, method }) => number > frame.number && method?.endsWith("::EndEvent")).map(({ number }) => lineOf(number));
  assert.equal(await count(), lines.length - (ends[2] - lineOf(frame.number)));
  await go(page, "view=calls&call=1710");
  await appears(page, "cairn-calls .row.chosen");
  while (!/DrawInstanced/.test(await text(page, "cairn-calls .row.chosen"))) await settle(page);
  // The other event in it stays folded.
  const shadows = lines.find(({ annotation }) => annotation === "Shadows of 2 lights");
  assert.equal(await count(), lines.length - (ends[0] - lineOf(shadows.number)));

  // The map leads to where it is pressed: the list stands at its end.
  const map = await page.$(deep("cairn-minimap svg"));
  assert.match(await map.evaluate((svg) => svg.getAttribute("aria-label")), /work in flight \(1, wide\)/);
  const { x, y, width, height } = await map.boundingBox();
  await page.mouse.click(x + width / 2, y + height - 1);
  await settle(page);
  await rowsOf(page, "cairn-calls");
  assert(await rowWith(page, lines.at(-1).number.toLocaleString("en-US")));
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
});

test("a sample to try it with begins with the tour", async () => {
  const server = await view("--sample");
  const { page, errors } = await open(server.address + "#tour=1");
  await appears(page, "cairn-tour .tour");
  assert.equal(await text(page, "#headline"), "GPU hang in DRAW_INSTANCED #3 (3 vertices, 1 instance)");
  assert.deepEqual(await texts(page, ".chip"), ['queue 0 "Graphics" (direct), submission 18', 'frame 0: "Main"', "Frame 1", "Lighting", "[>] DRAW_INSTANCED #3 (3 vertices, 1 instance)", "call 1,710", "state"]);
  for (const title of ["The answer", "The GPU over time", "Where in the frame", "Which call"]) {
    assert.equal(await text(page, "cairn-tour h2"), title);
    await settle(page);
    if (title !== "Which call") await press(page, "cairn-tour .bar button:last-child");
    await settle(page);
  }
  await appears(page, "cairn-calls .row.chosen");
  assert.match(await text(page, "cairn-calls .row.chosen"), /DrawInstanced\s+\(VertexCountPerInstance = 3/);
  // Calls with a text, from the search; a state without a call; nothing to compare with.
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("PSSetShader?no such");
  await settle(page);
  assert.deepEqual((await texts(page, ".found li")).map((found) => found.trim()), ['callsall calls with "PSSetShader?no such"']);
  await page.keyboard.press("Escape");
  await go(page, "view=state");
  assert.match(await text(page, "cairn-state .empty"), /No call is chosen.*Begin with.*culprit, call 1,710/s);
  await go(page, "view=compare");
  assert.match(await text(page, "cairn-compare .empty code"), /cairn view sample\.cairn OTHER\.cairn/);
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
  assert.equal(server.process.exitCode, 0);
  assert.deepEqual(left(), []);
  assert.throws(() => cairn("view", "--sample", trace), /--sample shows a file of its own; say cairn view --sample, or cairn view /);
});

// The pixels of a canvas, and those of the file that it shows as the browser's own decoder finds them.
const pixelsOf = (page) => page.$eval(deep("cairn-image .large"), async (canvas) => {
  const pixels = (of) => Array.from(of.getContext("2d").getImageData(0, 0, of.width, of.height).data);
  const file = canvas.dataset.shown.split(" ")[0];
  const picture = await createImageBitmap(await (await fetch(`image?name=${encodeURIComponent(file)}`)).blob());
  const other = new OffscreenCanvas(picture.width, picture.height);
  other.getContext("2d").drawImage(picture, 0, 0);
  return { shown: pixels(canvas), decoded: pixels(other) };
});

test("images at a call, without a click, played in another process", async () => {
  const server = await view(trace);
  const draw = JSON.parse(cairn("calls", "--json", "--no-names", "--function", "ExecuteCommandLists", trace).trim().split("\n").at(-1));
  const { page, errors } = await open(server.address + `#view=state&call=${draw.number}`);
  await appears(page, "cairn-state cairn-thumbnail canvas[data-shown]");
  await press(page, "cairn-state figure button");
  await appears(page, "cairn-image .large[data-shown]");
  const { shown, decoded } = await pixelsOf(page);
  assert.equal(shown.length, 128 * 128 * 4);
  assert.equal(decoded.filter((_, at) => at % 4 === 3).every((alpha) => alpha === 255), true, "so that the browser's decoder is exact");
  assert.deepEqual(shown, decoded);
  assert(new Set(shown.filter((_, at) => at % 4 === 0)).size > 1 && shown.some((value, at) => at % 4 === 0 && value !== shown[at + 1]), "it shows something, in colours");
  assert.match(await text(page, "cairn-state"), /which no command list records/);

  // One channel, stretched: from its least value to its largest.
  const red = decoded.filter((_, at) => at % 4 === 0);
  const [low, high] = [Math.min(...red), Math.max(...red)];
  await page.$eval(deep("cairn-image select"), (select) => { select.value = "R"; select.dispatchEvent(new Event("change")); });
  await settle(page);
  await press(page, "cairn-image .stretch");
  await settle(page);
  assert.deepEqual(await page.$$eval(deep("cairn-image input[type=number]"), (inputs) => inputs.map(({ value }) => Number(value))), [low, high]);
  const stretched = (await pixelsOf(page)).shown;
  for (const at of [0, 1000, 8000, 16000]) assert(Math.abs(stretched[at * 4] - ((red[at] - low) * 255) / (high - low)) <= 1, `pixel ${at}`);
  assert(stretched.every((value, at) => at % 4 === 3 || value === stretched[at - (at % 4)]), "grey");

  // The values of a pixel, at 1 : 1 and enlarged by the keyboard.
  const point = async () => {
    const frame = await page.$eval(deep("cairn-image .frame"), (element) => { element.scrollIntoView(); const { left, top, width, height } = element.getBoundingClientRect(); return { x: left + width / 2, y: top + height / 2 }; });
    await page.mouse.move(frame.x + 1, frame.y + 1);
    await page.mouse.move(frame.x, frame.y);
    await settle(page);
    const [, x, y, r, g, b, a] = (await text(page, "cairn-image .pixel")).match(/\((\d+), (\d+)\): R (\d+) {2}G (\d+) {2}B (\d+) {2}A (\d+)/).map(Number);
    assert.deepEqual([r, g, b, a], decoded.slice((y * 128 + x) * 4, (y * 128 + x) * 4 + 4));
  };
  await point();
  await page.$eval(deep("cairn-image .frame"), (element) => element.focus());
  const scale = () => page.$eval(deep("cairn-image .large"), (canvas) => Number(/scale\(([\d.]+)\)/.exec(canvas.style.transform)[1]));
  const before = await scale();
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert(Math.abs((await scale()) / before - 1.25) < 0.01);
  await point();
  assert.deepEqual(errors.filter((error) => !/400|404|500|willReadFrequently/.test(error)), []);
  await go(page, "view=calls");
  await rowsOf(page, "cairn-calls");
  await page.close();
  await end(server);
});

test("before and after a draw, with the target that it draws into", async () => {
  const server = await view(trace);
  const draws = cairn("calls", "--json", "--no-names", "--function", "DrawInstanced", trace).trim().split("\n").map((line) => JSON.parse(line));
  const { page, errors } = await open(server.address + `#view=state&call=${draws[0].number}`);
  await appears(page, "cairn-state figure cairn-thumbnail canvas[data-shown]");
  const { targets } = JSON.parse(cairn("state", "--json", "--call", String(draws[0].number), trace));
  const target = targets[0].written_by.arguments.pResource;
  assert((await texts(page, "cairn-state .flow li")).at(-1).includes(target.text));
  await appears(page, "cairn-state .flow cairn-thumbnail canvas[data-shown]");
  const index = (await texts(page, "cairn-state figcaption")).findIndex((each) => each.includes(", target 0"));
  assert(index >= 0);
  await page.$$eval(deep("cairn-state figure button"), (buttons, at) => buttons[at].click(), index);
  await appears(page, "cairn-image .large[data-shown]");
  const after = await pixelsOf(page);
  assert.deepEqual(after.shown, after.decoded);
  await press(page, "cairn-state .moments button");
  while ((await page.$eval(deep("cairn-image .large"), (canvas) => canvas.dataset.shown)).startsWith("1-")) await settle(page);
  const before = await pixelsOf(page);
  const changed = before.shown.filter((value, at) => value !== after.shown[at]).length;
  assert(changed > 0 && changed < after.shown.length, `${changed} values differ`);
  assert.deepEqual(errors.filter((error) => !/willReadFrequently/.test(error)), []);  // the test reads the pixels
  await page.close();
  await end(server);
});

test("nothing is played unasked of what had not ended, and the verdict shows what was being drawn", async () => {
  const server = await view(join(source, "viewer/sample.cairn"));
  const { page, errors } = await open(server.address);
  await appears(page, "cairn-drawn canvas[data-shown]");
  assert.match(await text(page, "cairn-drawn"), /"Scene colours.*just before call 1,710/s);
  assert.deepEqual(errors, []);
  // The draw that hung: before it, and not after it.
  await go(page, "view=state&call=1710");
  await appears(page, "cairn-state figure canvas[data-shown]");
  assert.equal(await page.$eval(deep("cairn-state .moments button"), (button) => button.getAttribute("aria-pressed")), "true");
  await press(page, "cairn-state .moments button:last-child");
  await appears(page, "cairn-state .all-the-same");
  assert.match(await text(page, "cairn-state [role=alert]"), /work that had not ended when the program failed, from call 1,710 on: playing it may hang/);
  // The refusal, and an image for Verdict that is not wanted any more.
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

// cairn diff exits with 1 for differences.
function difference(...files) {
  try {
    return cairn("diff", "--json", ...files);
  } catch (error) {
    return error.stdout;
  }
}
test("two files are compared, side by side", async () => {
  const first = golden("played/fault.cairn"), other = golden("played/triangle.cairn");
  const server = await view(first, other);
  const { page, errors } = await open(server.address + "#view=compare");
  await appears(page, "cairn-compare .row");
  const expected = JSON.parse(difference(first, other, "--align", "--limit", "2000"));
  const shown = words(await text(page, "cairn-compare"));
  assert(shown.includes(words(`${expected.different_calls.toLocaleString("en-US")} calls only in one of ${expected.calls[0].toLocaleString("en-US")} and ${expected.calls[1]}`)), shown.slice(0, 300));
  assert(shown.startsWith("fault cairn + triangle cairn"), shown.slice(0, 100));
  // A row a difference; a call with other arguments is one row with the call that it was compared with.
  const rows = await page.$eval(deep("cairn-compare"), (element) => element.rows.filter(({ kind }) => kind === "calls").map(({ left, right }) => [left?.call, right?.call]));
  const wanted = [];
  for (const { in: side, call, changed } of expected.differences) {
    if (side === "first") wanted.push([call, changed ?? undefined]);
    else if (changed === null) wanted.push([undefined, call]);
  }
  const plain = (pairs) => pairs.map(([left, right]) => `${left ?? ""} ${right ?? ""}`);
  assert.deepEqual(plain(rows), plain(wanted));
  assert(rows.some(([left, right]) => left && right) && rows.some(([left]) => !left) && rows.some(([, right]) => !right));
  const signs = await texts(page, "cairn-compare .difference");
  assert.deepEqual(signs, rows.slice(0, signs.length).map(([left, right]) => (left && right ? "≠" : left ? "−" : "+")));
  // By the button to the first difference, and from there to the call.
  await press(page, "cairn-compare button[aria-label^=next]");
  await appears(page, "cairn-compare .one .text a");
  assert((await text(page, "cairn-compare .one .text")).includes(`${expected.differences[0].call}`));
  // A stretch that both have unfolds into its calls.
  const stretch = await page.$eval(deep("cairn-compare"), (element) => element.rows.find(({ kind }) => kind === "equal"));
  assert.equal(stretch.count, expected.differences.find(({ equal_before: { count } }) => count).equal_before.count);
  await press(page, "cairn-compare .twist");
  const lines = cairn("calls", "--json", "--no-names", "--from", String(stretch.first), "--limit", "200", first).trim().split("\n").map((line) => JSON.parse(line)).filter(({ kind, number }) => kind === "call" && number <= stretch.last);
  await page.waitForFunction((count) => document.querySelector("cairn-page").shadowRoot.querySelector("cairn-compare").shown.filter(({ kind }) => kind === "line").length === count, {}, lines.length);
  await press(page, "cairn-compare .one .text a");
  await appears(page, "cairn-calls .row.chosen");
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

test("two files' images, with a slider and as a difference", async () => {
  const server = await view(trace, trace);
  const { page, errors } = await open(server.address + "#view=compare");
  await appears(page, "cairn-compare .row");
  assert.match(await text(page, "cairn-compare .row"), /= 1 frame with the same calls/);
  await press(page, "cairn-compare-images form button");
  await appears(page, "cairn-compare-images canvas[data-shown]");
  assert.equal(await text(page, "cairn-compare-images .told"), "frame 0 and frame 0: no pixel differs");
  const pixels = () => page.$$eval(deep("cairn-compare-images canvas"), (canvases) => canvases.map((canvas) => Array.from(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data)));
  const [first, second] = await pixels();
  assert.deepEqual(first, second);
  assert(new Set(first).size > 2, "it shows something");
  await page.focus(deep("cairn-compare-images input[type=range]"));
  await page.keyboard.press("Home");
  await settle(page);
  assert.match(await page.$eval(deep("cairn-compare-images .second"), (canvas) => canvas.style.clipPath), /0%/);
  await page.$eval(deep("cairn-compare-images label:nth-child(2) select"), (select) => { select.value = "difference"; select.dispatchEvent(new Event("change")); });
  await appears(page, "cairn-compare-images canvas[data-shown^=difference]");
  const [grey] = await pixels();
  assert(grey.every((value, at) => at % 4 === 3 || value === grey[at - (at % 4)]), "grey, where all is the same");
  // The test itself reads the canvas more than once.
  assert.deepEqual(errors.filter((error) => !/willReadFrequently/.test(error)), []);
  await page.close();
  await end(server);
});

test("bisect: its progress, its answer, and links to it", async () => {
  const file = join(folder, "fault.cairn");
  try {
    cairn("run", "--capture", "-o", file, "--", join(build, "bin/sample-fault-d3d12"));
  } catch (error) {
    assert.match(String(error.stderr), /died with signal 11/);
  }
  const answer = JSON.parse(cairn("bisect", "--json", "--no-output", file));
  assert.equal(answer.culprits.length, 1);
  const [culprit] = answer.culprits;
  const server = await view(file);
  const { page, errors } = await open(server.address + "#view=bisect");
  await appears(page, "cairn-bisect button:not([disabled])");
  await press(page, "cairn-bisect button");
  await appears(page, "cairn-bisect progress[value]");
  assert.match(await text(page, "cairn-bisect .progress"), /^\d+ of about \d+ probes.*: [^\\]+$/);
  await appears(page, "cairn-bisect .answer");
  assert.equal((await page.$$(deep("cairn-bisect progress"))).length, 0);
  const told = words(await text(page, "cairn-bisect"));
  for (const said of [`Call ${culprit.call} ${culprit.text}`, culprit.pipeline, culprit.list, "the rest of the trace plays without failing", `failed ${answer.failed} of ${answer.asked} times (death)`]) assert(told.includes(words(said)), said);
  // The answer is still there later, and a culprit leads to its call.
  await go(page, "view=verdict");
  await go(page, "view=bisect");
  await appears(page, "cairn-bisect .answer");
  await press(page, "cairn-bisect .answer a");
  await appears(page, "cairn-calls .row.chosen");
  assert.match(await text(page, "cairn-calls .row.chosen"), /Dispatch\s+\(ThreadGroupCountX = 1/);
  assert.deepEqual(readdirSync(folder).filter((name) => /bisect|minimal/.test(name)), [], "nothing is left beside the trace");
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

test("a search that takes long can be stopped", async () => {
  const file = join(folder, "hang.cairn");
  try {
    cairn("run", "--capture", "--breadcrumbs", "full", "--hang-timeout", "1", "--kill-on-hang", "-o", file, "--", join(build, "bin/sample-annotated-hang-d3d12"), "--seconds", "60");
  } catch (error) {
    assert.match(String(error.stderr), /hangs: GPU work made no progress/);
  }
  const server = await view(file);
  const { page, errors } = await open(server.address + "#view=bisect");
  await appears(page, "cairn-bisect button:not([disabled])");
  await press(page, "cairn-bisect button");
  // Each of its plays hangs for ten seconds.
  await appears(page, "cairn-bisect progress[value]");
  await press(page, "cairn-bisect .stop");
  await appears(page, "cairn-bisect .told");
  assert.match(await text(page, "cairn-bisect .told"), /stopped/);
  assert.equal((await page.$$(deep("cairn-bisect .answer"))).length, 0);
  assert.match(await page.evaluate(() => fetch("bisect").then((response) => response.text())), /"running":\s*false/);
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

test("axe-core finds nothing serious in what needs the trace", async () => {
  const server = await view(trace, golden("played/triangle.cairn"));
  const draw = JSON.parse(cairn("calls", "--json", "--no-names", "--function", "DrawInstanced", trace).trim().split("\n")[0]);
  // One page stays, or the server would end in between.
  const { page: first } = await open(server.address);
  for (const scheme of ["light", "dark"]) {
    const { page } = await open(server.address, { scheme });
    const shown = { calls: "cairn-calls .row.chosen", state: "cairn-state .tree", compare: "cairn-compare .row", bisect: "cairn-bisect button:not([disabled])" };
    for (const [each, selector] of Object.entries(shown)) {
      await go(page, `view=${each}&call=${draw.number}`);
      await appears(page, selector);
      if (each === "state") {
        await appears(page, "cairn-state figure canvas[data-shown]");
        await press(page, "cairn-state figure button");
        await appears(page, "cairn-image .large[data-shown]");
      }
      assert.deepEqual(await seriousFaults(page), [], `${each}, ${scheme}`);
    }
    await page.close();
  }
  await first.close();
  await end(server);
});

test("a browser comes to the page by the file that it is started with, and no command line has an address", async () => {
  // xdg-open, as far as it is of interest.
  const tools = join(folder, "tools");
  mkdirSync(tools);
  writeFileSync(join(tools, "xdg-open"), `#!/bin/sh\nprintf %s "$1" > ${tools}/started.part\nmv ${tools}/started.part ${tools}/started\n`, { mode: 0o755 });
  const server = spawn(join(build, "bin/cairn"), ["view", trace],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, TMPDIR: folder, PATH: `${tools}:${process.env.PATH}` } });
  const ended = once(server, "exit");
  while (!existsSync(join(tools, "started"))) await new Promise((done) => setTimeout(done, 20));
  const file = readFileSync(join(tools, "started"), "utf8");
  const [, ticket] = readFileSync(file, "utf8").match(/url=http:\/\/([^"]*)/);
  const { page, errors } = await open(`file://${file}`);
  const at = new URL(page.url());
  assert.equal(at.host, ticket.split("/")[0]);
  assert.notEqual(at.pathname.split("/")[1], ticket.split("/")[1]);
  const lines = readdirSync("/proc").filter(Number).map((id) => { try { return readFileSync(`/proc/${id}/cmdline`, "utf8"); } catch { return ""; } });
  assert(lines.some((line) => line.includes(trace)));
  for (const secret of [ticket.split("/")[1], at.pathname.split("/")[1]]) assert.deepEqual(lines.filter((line) => line.includes(secret)), []);
  // The page's own address works again, while the server runs.
  await page.reload();
  await appears(page, "nav a");
  assert.deepEqual(errors, []);
  await page.close();
  await ended;
  assert.equal(server.exitCode, 0);
  assert.deepEqual(left(), []);
});

test("pages of other origins get nothing", async () => {
  const server = await view(trace);
  const { page } = await open(server.address);
  // A page of another origin of the same machine.
  const stranger = await page.browser().newPage();
  await stranger.goto("data:text/html,<p>stranger");
  const answer = await stranger.evaluate((address) => fetch(address + "count").then((response) => response.text(), () => "refused"), server.address);
  assert.equal(answer, "refused");
  const opaque = await stranger.evaluate((address) => fetch(address + "bisect", { method: "POST", mode: "no-cors" }).then((response) => response.type, () => "refused"), server.address);
  assert(["opaque", "refused"].includes(opaque));
  assert.match(await page.evaluate(() => fetch("bisect").then((response) => response.text())), /"running":\s*false/);
  await stranger.close();
  await page.close();
  await end(server);
});

test("^C ends it, and nothing is left", async () => {
  const server = await view(golden("snapshot-vulkan-v1.cairn"));
  const { page } = await open(server.address);
  await end(server);
  await appears(page, "main .wrong");
  assert.deepEqual(left(), []);
  await page.close();
});
