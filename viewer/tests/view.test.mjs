// SPDX-License-Identifier: Apache-2.0
//
// cairn view in a real browser: what the page shows of a trace is what the verbs print.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { appears, build, cairn, deep, folder, go, open, press, settle, source, startBrowser, stopBrowser, text, texts } from "./browser.mjs";

const golden = (name) => join(source, "tests/golden", name);
const trace = golden("played/passes.cairn");
// What sessions have left.
const left = () => readdirSync(folder).filter((name) => name.startsWith("cairn-view-"));

before(startBrowser);
after(stopBrowser);

async function view(...words) {
  const process = spawn(join(build, "bin/cairn"), ["view", "--no-browser", ...words],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...globalThis.process.env, TMPDIR: folder } });
  const [line] = await once(process.stdout, "data");
  return { process, address: String(line).trim(), ended: once(process, "exit") };
}
const rowsOf = async (page, element) => {
  await page.waitForFunction((name) => {
    const find = (root) => root.querySelector(name) ?? [...root.querySelectorAll("*")].map((each) => each.shadowRoot && find(each.shadowRoot)).find(Boolean);
    const rows = find(document)?.shadowRoot?.querySelector("cairn-rows")?.shadowRoot?.querySelectorAll(".row");
    return rows?.length && ![...rows].some((row) => row.textContent.trim() === "…");
  }, {}, element);
  return texts(page, `${element} .row`);
};

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
  assert.match(await text(page, "cairn-calls .row.chosen"), /DrawInstanced\(VertexCountPerInstance = 3/);
  assert.match(await text(page, "cairn-calls .one"), /VertexCountPerInstance\s*3/);

  await go(page, `view=state&call=${draw.number}`);
  await appears(page, "cairn-state .tree");
  const state = JSON.parse(cairn("state", "--json", "--call", String(draw.number), trace));
  assert((await text(page, "cairn-state .tree")).includes(state.pipeline.text));

  await go(page, "view=calls");
  await page.$eval(deep("cairn-calls input[name=function]"), (input) => { input.value = "DrawInstanced"; input.form.requestSubmit(); });
  const filtered = lines.filter((line) => line.method?.endsWith("::DrawInstanced")).length;
  while (!(await text(page, "cairn-calls form")).includes(` ${filtered.toLocaleString("en-US")} of `)) await settle(page);
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
  assert.equal(server.process.exitCode, 0);
  assert.deepEqual(left(), []);
});

test("images at a call, played in another process", async () => {
  const server = await view(trace);
  const draw = JSON.parse(cairn("calls", "--json", "--no-names", "--function", "DrawInstanced", trace).trim().split("\n")[0]);
  const { page } = await open(server.address + `#view=state&call=${draw.number}`);
  await appears(page, "cairn-state button");
  await press(page, "cairn-state button");
  await appears(page, "cairn-state img");
  await press(page, "cairn-state figure button");
  await appears(page, "cairn-state canvas");
  while ((await page.$eval(deep("cairn-state canvas"), (canvas) => canvas.width)) !== 128) await settle(page);
  await go(page, "view=calls");
  await rowsOf(page, "cairn-calls");
  await page.close();
  await server.ended;
});

test("two files are compared", async () => {
  const other = golden("played/triangle.cairn");
  const server = await view(trace, other);
  const { page, errors } = await open(server.address + "#view=compare");
  await appears(page, "cairn-compare .tree");
  assert.match(await text(page, "cairn-compare"), /triangle\.cairn/);
  assert.equal((await page.$$(deep("cairn-compare .wrong"))).length, 0);
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
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
  await server.ended;
});

test("^C ends it, and nothing is left", async () => {
  const server = await view(golden("snapshot-vulkan-v1.cairn"));
  const { page } = await open(server.address);
  server.process.kill("SIGINT");
  await server.ended;
  assert.equal(server.process.exitCode, 0);
  await appears(page, "main .wrong");
  assert.deepEqual(left(), []);
  await page.close();
});
