// SPDX-License-Identifier: Apache-2.0
//
// The view of a cause in a real browser: answers of cairn why, which why_text_test.cc holds to be what it prints.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { allWords, cairn, dataOf, deep, end, folder, go, htmlOf, open, pageWith, press, seriousFaults, settle, source, startBrowser, stickingOut, stopBrowser, text, texts, view, words } from "./browser.mjs";

const golden = join(source, "tests/golden");
const dump = join(golden, "snapshot-vulkan-v1.cairn");
const [ofSource, ofDxbc, ofAccess, ofBinding] = ["source", "dxbc", "access", "binding"].map((name) => join(golden, `why-${name}.json`));

before(startBrowser);
after(stopBrowser);

const trimmed = async (page, selector) => (await texts(page, selector)).map((each) => each.replace(/\s+/g, " ").trim());
const factsOf = async (page) => {
  const names = await trimmed(page, "cairn-why .place dt"), values = await trimmed(page, "cairn-why .place dd");
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
};

test("the page of a report shows the cause, what is none, and the failing line of the source", async () => {
  const html = htmlOf(dump, "--why", ofSource);
  assert.equal(dataOf(html).why, readFileSync(ofSource, "utf8"));
  const { page, errors } = await open(pageWith(html, dataOf(html), "why.html"));
  assert.deepEqual(await texts(page, "nav.views a"), ["Verdict", "Why", "Timeline", "Tree", "Memory", "Facts"]);
  // The verdict says it in two lines, which lead to the view.
  assert.equal((await trimmed(page, "cairn-verdict .why"))[0], "Whyproven A loop does not end, or runs far too long. fog.frag:41 loop 2 of the shader, in march()");
  await press(page, "cairn-verdict .why a");
  await settle(page);
  assert.equal(await text(page, "cairn-why #headline"), "./fog hangs, in 3 of 3 runs.");
  assert.deepEqual(await trimmed(page, "cairn-why .cause"), ["proven A loop does not end, or runs far too long."]);
  assert.deepEqual(await texts(page, "cairn-why .counts"), ["With loops cut after 65,536 trips the program failed in 0 of 4 runs, without in 4 of 4."]);
  assert.deepEqual(await trimmed(page, "cairn-why .place header"), ["fog.frag:41 loop 2 of the shader, in march()"]);
  assert.deepEqual(await texts(page, "cairn-why .record"),
    ["19,200 of 20,000 executions reached the cut, the first in pixel (12, 40); its condition i < 3.0 compared 0.5 and 3"]);
  assert.deepEqual(await texts(page, "cairn-why .behind"), ["Cut after 1,048,576 trips, the program does not fail either."]);
  assert.deepEqual(await texts(page, "cairn-why .line"), ["38", "39", "40", "41", "42", "43", "44"]);
  assert.deepEqual(await texts(page, "cairn-why .text"),
    ["vec4 march(vec3 at) {", "  float sum = 0.0;", "", "  for (float i = 0.5; i < 3.0; i += step)", "    sum += fog(at * i);", "  return vec4(sum);", "}"]);
  assert.deepEqual(await texts(page, "cairn-why .failing"), [">41  for (float i = 0.5; i < 3.0; i += step)"]);
  assert.equal(await page.$eval(deep("cairn-why .failing"), (line) => line.getAttribute("aria-current")), "location");
  assert.deepEqual(await factsOf(page), { shader: "SPIR-V 00000000000000a1", function: "march", executions: "20,000", "reached the cut": "19,200", "most trips": "65,536",
    "the first": "pixel (12, 40)", condition: "i < 3.0", "its values": "i = 0.5, 3", "enough alone": "yes" });
  assert.deepEqual(await texts(page, "cairn-why .others li"), ["barrier in front (1 of 1 fails)", "objects kept alive (loses the device in 1 of 1)"]);
  assert.deepEqual(await trimmed(page, "cairn-why .tried tbody tr:nth-of-type(1) td"), ["loops cut", "proven", "0 of 4", "1 of 1", ""]);
  assert.deepEqual(await trimmed(page, "cairn-why .tried tbody tr:nth-of-type(3) td"), ["objects kept alive", "fails otherwise", "0 of 1, 1 in another way", "–", ""]);
  assert.deepEqual(await texts(page, "cairn-why cairn-command code"), ["cairn why -- ./fog"]);
  // All that the Markdown says stands there, but for what is its own.
  const found = await allWords(page);
  const markdown = JSON.parse(readFileSync(ofSource, "utf8")).answer.markdown.split("\n").filter((line) => line.trim() && !/^(#|\*\*|The place|Repeated by)/.test(line));
  assert(markdown.length >= 5);
  for (const line of markdown.flatMap((each) => each.split(/[:,;.] /))) assert(found.includes(words(line)), line);
  // The text that is copied.
  await page.evaluate(() => { window.copied = []; Object.defineProperty(navigator, "clipboard", { value: { writeText: async (words) => void window.copied.push(words) } }); });
  await press(page, "cairn-why .bar button");
  await settle(page);
  assert.deepEqual(await page.evaluate(() => window.copied), [JSON.parse(readFileSync(ofSource, "utf8")).answer.markdown]);
  assert.deepEqual(errors, []);
  await page.close();
});

test("cairn view shows an answer alone: the shader of Direct3D, its pipeline, and disassembled lines", async () => {
  const server = await view(ofDxbc);
  const { page, errors } = await open(server.address);
  assert.deepEqual(await texts(page, "nav.views a"), ["Why"]);
  assert.equal(await page.title(), "./fog: why");
  assert.deepEqual(await trimmed(page, "cairn-why .place header"), ['pixel shader DXBC 00000000000000d1 of pipeline "Fog" loop 2 of 3 of the shader, in main()']);
  assert.deepEqual(await texts(page, "cairn-why .text"), ["%41 = OpLabel", "OpLoopMerge %42 %43 None", "OpBranch %44"]);
  assert.deepEqual(await texts(page, "cairn-why .line"), ["", "", ""]);
  assert.deepEqual(await texts(page, "cairn-why .failing"), [">OpLoopMerge %42 %43 None"]);
  assert.equal((await factsOf(page)).shader, "pixel shader, DXBC 00000000000000d1, SPIR-V 00000000000000a1");
  assert.equal((await factsOf(page)).pipeline, "Fog");
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

test("an access that missed, beside a file that cairn view shows", async () => {
  const server = await view("--why", ofAccess, dump);
  const { page, errors } = await open(server.address);
  await go(page, "view=why");
  assert.deepEqual(await factsOf(page), { shader: "SPIR-V 00000000000000a1", function: "main", access: "store of 4 bytes", pointer: "data", missed: "1", "the first": "invocation (63, 0, 0)",
    address: "0x7f0000001140", "buffer before it": "0x7f0000001000, 256 bytes" });
  assert.match(await text(page, "cairn-why .place"), /The module carries no source/);
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

// Of the answer in `file`, with what `change` does to it, in the page of a report.
const changed = async (file, name, change) => {
  const answer = JSON.parse(readFileSync(file, "utf8"));
  change(answer);
  const html = htmlOf(dump, "--why", file);
  const { page, errors } = await open(pageWith(html, { ...dataOf(html), why: JSON.stringify(answer) }, name));
  await go(page, "view=why");
  return { page, errors };
};

test("an access by descriptor has a binding and indices, and neither bytes nor an address", async () => {
  const byDescriptor = { bytes: 0, pointer: "bins", misses: 3, first: "invocation (7, 0, 0)", address: "", buffer: "", buffer_bytes: 0, set: 0, binding: 2 };
  const shown = { shader: "SPIR-V 00000000000000a1", function: "main", access: "store", binding: "set 0, binding 2", pointer: "bins", missed: "3", "the first": "invocation (7, 0, 0)" };
  for (const [indices, said] of [
    [[{ kind: "descriptor", index: 9, bound: 4 }, { kind: "element", index: -1, bound: 64 }], { "its indices": "descriptor 9 of 4, element -1 of 64" }],
    [[{ kind: "element", index: 64, bound: 64 }], { "its indices": "element 64 of 64" }],
    [[], {}],
  ]) {
    const { page, errors } = await changed(ofAccess, "descriptor.html", ({ experiments: [bounds] }) => Object.assign(bounds.accesses[0], byDescriptor, { indices }));
    assert.deepEqual(await factsOf(page), { ...shown, ...said });
    assert.match(await text(page, "cairn-why .place"), /The module carries no source/);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("a binding has its shader, kind, name and number, and the lines of its variable; features that were not enabled stand among what is not known", async () => {
  const server = await view(ofBinding);
  const { page, errors } = await open(server.address);
  assert.deepEqual(await trimmed(page, "cairn-why .cause"), ["likely The failure depends on what the shaders below read from set 0, binding 3, or write to it."]);
  assert.deepEqual(await trimmed(page, "cairn-why .place header"), [
    'fragment shader 00000000000000a1 of pipeline "Fog" fogVolume (set 0, binding 3, storage buffer)', "fog.comp:7 fogVolume (set 0, binding 3, storage buffer)",
    'fragment shader 00000000000000a1 of pipeline "Fog" the vertex input position (location 2)', 'fragment shader 00000000000000a1 of pipeline "Fog" the push constants']);
  const names = await trimmed(page, "cairn-why .place dt"), values = await trimmed(page, "cairn-why .place dd");
  assert.deepEqual(names.map((name, index) => `${name}: ${values[index]}`), [
    "shader: fragment shader, SPIR-V 00000000000000a1", "pipeline: Fog", "kind: storage buffer", "name: fogVolume", "binding: set 0, binding 3",
    "shader: fragment shader, SPIR-V 00000000000000a2", "kind: storage buffer", "name: fogVolume", "binding: set 0, binding 3",
    "shader: fragment shader, SPIR-V 00000000000000a1", "pipeline: Fog", "kind: vertex input", "name: position", "location: 2",
    "shader: fragment shader, SPIR-V 00000000000000a1", "pipeline: Fog", "kind: push constants"]);
  assert.deepEqual(await texts(page, "cairn-why .line"), ["6", "7"]);
  assert.deepEqual(await texts(page, "cairn-why .failing"), [">7  buffer Fog { vec4 cells[]; } fogVolume;"]);
  const others = await trimmed(page, "cairn-why .others li");
  assert(others.includes("robust accesses (1 of 1 fails)"), others.join("\n"));
  assert(others.includes("Not enabled: nullDescriptor (the device does not have it)"), others.join("\n"));
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

test("robust accesses have no place, and the features that were enabled behind them", async () => {
  const behind = ["Enabled: robustBufferAccess2, nullDescriptor.", "The program itself enables robustBufferAccess."];
  const { page, errors } = await changed(ofBinding, "robust.html", (answer) => {
    const robust = answer.experiments.find(({ name }) => name === "robust");
    robust.verdict = "likely";
    answer.causes = ["robust"];
    Object.assign(answer.answer.causes[0], { name: "robust", verdict: "likely", sentence: "A shader or a draw accesses memory beyond the range of a buffer.", places: [], behind });
  });
  assert.deepEqual(await trimmed(page, "cairn-why .behind"), behind);
  assert.equal((await page.$$(deep("cairn-why .place"))).length, 0);
  assert.deepEqual(errors, []);
  await page.close();
});

test("calls whose counts were limited have no shader, and their facts by their place", async () => {
  const calls = [
    { command: "vkCmdDraw", label: "Frame > Terrain", indirect: false, counts: [4294967295, 3], limited_to: [16777216, 1], limited: 2000 },
    { command: "vkCmdDispatchIndirect", label: "", indirect: true, counts: [65535, 65535, 1], limited_to: [65535, 256, 1], limited: 1 },
  ];
  const places = [
    { place: "vkCmdDraw(4294967295, 3)", number: "in Frame > Terrain", record: "limited 2,000 times, each to vkCmdDraw(16777216, 1)" },
    { place: "vkCmdDispatchIndirect(65535, 65535, 1)", number: "outside of labels",
      record: "the GPU read these counts, which were limited 1 time, the last time to vkCmdDispatchIndirect(65535, 256, 1)" },
  ];
  const change = (answer) => {
    const [{ loops, ...experiment }, ...others] = answer.experiments;
    answer.experiments = [{ ...experiment, name: "counts", words: "counts limited", not_limited: 0, calls }, ...others];
    answer.causes = ["counts"];
    Object.assign(answer.answer.causes[0], { name: "counts", sentence: "A draw or dispatch has far too many vertices, instances or groups.", places, behind: [] });
  };
  {
    const { page, errors } = await changed(ofSource, "counts.html", change);
    assert.deepEqual(await trimmed(page, "cairn-why .place header"), places.map(({ place, number }) => `${place} ${number}`));
    assert.deepEqual(await texts(page, "cairn-why .record"), places.map(({ record }) => record));
    const names = ["command", "label", "indirect", "first counts", "last limited to", "limited"];
    assert.deepEqual(await trimmed(page, "cairn-why .place dt"), [...names, ...names.filter((name) => name !== "label")]);
    assert.deepEqual(await trimmed(page, "cairn-why .place dd"), ["vkCmdDraw", "Frame > Terrain", "no", "4294967295, 3", "16777216, 1", "2,000 times",
      "vkCmdDispatchIndirect", "yes, the GPU read the counts from a buffer", "65535, 65535, 1", "65535, 256, 1", "1 time"]);
    assert(!(await allWords(page)).includes("the module carries no source"));
    assert.equal((await page.$$(deep("cairn-why .code"))).length, 0);
    assert.deepEqual(await seriousFaults(page), []);
    assert.deepEqual(await stickingOut(page), []);
    // Verdict names the first one.
    await go(page, "view=verdict");
    assert.match((await trimmed(page, "cairn-verdict .why"))[0], /vkCmdDraw\(4294967295, 3\) in Frame > Terrain$/);
    assert.deepEqual(errors, []);
    await page.close();
  }
  // What is said of no call, and of no shader, are words alone.
  for (const missing of [(answer) => { change(answer); answer.experiments[0].calls.length = 0; }, ({ experiments: [loops] }) => { loops.loops.length = 0; }]) {
    const { page, errors } = await changed(ofSource, "missing.html", missing);
    assert.notEqual((await page.$$(deep("cairn-why .record"))).length, 0);
    assert.equal((await page.$$(deep("cairn-why .place dl"))).length, 0);
    assert(!(await allWords(page)).includes("the module carries no source"));
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("the view fits into narrow windows, in dark and light, and anybody can read it", async () => {
  const html = htmlOf(dump, "--why", ofSource);
  for (const [width, height, scheme] of [[1366, 768, "light"], [900, 700, "dark"], [600, 800, "light"]]) {
    const { page, errors } = await open(pageWith(html, dataOf(html), `why-${width}.html`), { width, height, scheme });
    await go(page, "view=why");
    assert.deepEqual(await seriousFaults(page), [], `${width} ${scheme}`);
    assert.deepEqual(await stickingOut(page), [], `${width}`);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("an answer from anybody shows text and runs nothing", async () => {
  const answer = JSON.parse(readFileSync(ofSource, "utf8"));
  const evil = "<img src=x onerror=alert(1)>\u202e</script>";
  const fill = (value) => (typeof value === "string" ? evil : Array.isArray(value) ? value.map(fill) : value && typeof value === "object" ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)])) : value);
  const html = htmlOf(dump, "--why", ofSource);
  const shown = async (why, name) => {
    const { page, errors } = await open(pageWith(html, { ...dataOf(html), why }, name));
    await go(page, "view=why");
    return { page, errors };
  };
  {
    const { page, errors } = await shown(JSON.stringify({ ...fill(answer), format: "cairn-why" }), "evil.html");
    assert.match(await text(page, "cairn-why #headline"), /^<img src=x onerror=alert\(1\)>\\u\{202e\}<\/script>$/);
    assert.equal((await page.$$(deep("cairn-why img"))).length, 0);
    assert.deepEqual(errors, []);
    await page.close();
  }
  // Values of other types read as empty.
  for (const broken of [{}, { answer: 3, experiments: "x", devices: {} }, { answer: { causes: [{ places: [null, 3] }, 7], doubts: [{}] }, experiments: [null, { loops: 5 }] },
    { answer: { causes: [{ name: "bindings", places: [{ shader: "b", index: 1 }] }, { name: "constructor", places: [{ shader: "b", index: 1 }] }] }, experiments: [{ name: "bindings", bindings: [null, { shader: "b", index: 1, set: "x", location: {} }] }, { name: "constructor" }] },
    { answer: { causes: [{ name: "bounds", places: [{ shader: "b", index: 1 }, {}, 4, {}] }] }, experiments: [{ name: "bounds", accesses: [{ shader: "b", index: 1, indices: [null, { index: "1" }, 5], set: {} }], calls: [3, null, { counts: ["x", {}], limited: [] }] }] }]) {
    const { page, errors } = await shown(JSON.stringify({ format: "cairn-why", version: 1, ...broken }), "broken.html");
    assert.equal((await page.$$(deep("cairn-why #headline"))).length, 1);
    assert.deepEqual(errors, []);
    await page.close();
  }
  for (const damaged of ["{", JSON.stringify({ ...answer, version: 2 })]) {
    const { page, errors } = await shown(damaged, "damaged.html");
    assert.match(await allWords(page), /this answer is damaged/);
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test("what is no answer is refused in one line", () => {
  const refused = (...args) => { try { cairn(...args); } catch (error) { return [error.status, error.stderr]; } return assert.fail("it was taken"); };
  const other = join(folder, "other.json");
  writeFileSync(other, "{}");
  const said = `'${other}' is no answer of cairn why; cairn why --json prints such an answer\n`;
  assert.deepEqual(refused("view", other), [1, `cairn view: ${said}`]);
  assert.deepEqual(refused("view", "--why", other, dump), [1, `cairn view: --why: ${said}`]);
  assert.deepEqual(refused("report", "--html", join(folder, "x.html"), "--why", other, dump), [1, `cairn report: --why: ${said}`]);
  assert.equal(refused("view", ofSource, dump)[0], 2);
});
