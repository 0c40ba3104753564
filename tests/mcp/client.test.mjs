// SPDX-License-Identifier: Apache-2.0
//
// The real `cairn mcp`, asked by the protocol's official client: each tool, on golden files.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const golden = join(process.env.CAIRN_SOURCE_DIR, "tests/golden");
const fault = join(golden, "played/fault.cairn");
const hang = join(golden, "played/hang.cairn");
const dump = join(golden, "snapshot-d3d12-v1.cairn");
const folder = mkdtempSync(join(tmpdir(), "cairn-mcp-"));

// A server and its client.
async function connect(...options) {
  const client = new Client({ name: "cairn-mcp-test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: join(process.env.CAIRN_BINARY_DIR, "bin/cairn"),
      args: ["mcp", ...options],
      cwd: golden,
      env: { ...process.env, TMPDIR: folder },
    }),
  );
  return client;
}

let reads, plays;
before(async () => {
  reads = await connect();
  plays = await connect("--allow-run");
});
after(async () => {
  await Promise.all([reads?.close(), plays?.close()]);
  // Nothing is left of both.
  assert.deepEqual(readdirSync(folder), []);
  rmSync(folder, { recursive: true });
});

// The answer of a tool, whose text is the same JSON.
async function ask(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.ok(!result.isError, result.content[0].text);
  assert.equal(result.content[0].type, "text");
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

test("says who it is and what it has", async () => {
  assert.equal(reads.getServerVersion().name, "cairn");
  assert.match(reads.getInstructions(), /'open' says what a file holds/);
  await reads.ping();
  const names = (await reads.listTools()).tools.map((tool) => tool.name);
  const reading = ["open", "verdict", "suspects", "work", "calls", "state", "memory", "diff", "triage"];
  assert.deepEqual(names, reading);
  assert.deepEqual(
    (await plays.listTools()).tools.map((tool) => tool.name),
    [...reading, "image", "bisect"],
  );
});

test("open says what a file holds", async () => {
  const answer = await ask(reads, "open", { file: fault });
  assert.equal(answer.trace.calls, 76);
  assert.deepEqual(answer.snapshot.incidents, ["died with signal 11 (SIGSEGV)"]);
  assert.deepEqual(answer.tools, ["verdict", "suspects", "work", "memory", "calls", "state", "diff"]);
  // A path begins where the server was started.
  const report = await ask(reads, "open", { file: "snapshot-d3d12-v1.cairn" });
  assert.equal(report.snapshot.program, "/games/demo");
  assert.deepEqual(report.tools, ["verdict", "suspects", "work", "memory"]);
});

test("verdict and suspects say what was at fault", async () => {
  const answer = await ask(reads, "verdict", { file: fault });
  assert.equal(answer.verdict.how_sure, "likely");
  assert.ok(answer.verdict.sentence.length > 0);
  assert.equal(answer.suspect_count, 1);
  const { suspects } = await ask(reads, "suspects", { file: fault });
  assert.equal(suspects.length, 1);
  assert.equal(suspects[0].path, "Frame > Particles > Scatter to nowhere > DISPATCH #1");
  assert.equal(suspects[0].state, "in flight");
  assert.equal(suspects[0].call, 86);
  assert.equal(suspects[0].pipeline.name, "Scatter");
  assert.equal(suspects[0].list.name, "Main");
  const bound = (await ask(reads, "suspects", { file: dump })).suspects[0].bindings;
  assert.deepEqual(
    bound.map((binding) => [binding.point, binding.state]),
    [["render target", "alive"], ["vertex buffer", "destroyed"], ["root CBV", "unknown"]],
  );
});

test("a fault that shows late leads to what had finished last", async () => {
  const answer = await ask(reads, "suspects", { file: join(golden, "late-fault-h100-v1.cairn") });
  assert.deepEqual(answer.suspects, []);
  assert.deepEqual(answer.last_completed.map((work) => [work.path, work.list.name]), [
    ["Frame 2 > Transparent > Particles > DRAW_INDIRECT #1", "Main"],
    ["Frame 2 > Skinning > Vertices > DISPATCH_INDIRECT #1", "Async"],
  ]);
});

test("work has pages and filters", async () => {
  const running = await ask(reads, "work", { file: fault, state: "in flight", limit: 3 });
  assert.equal(running.matching, 4);
  assert.equal(running.next_offset, 3);
  assert.deepEqual(running.scopes.map((scope) => scope.name), ["Frame", "Particles", "Scatter to nowhere"]);
  const rest = await ask(reads, "work", { file: fault, state: "in flight", offset: 3 });
  assert.equal(rest.scopes[0].type, "DISPATCH");
  assert.equal(rest.next_offset, null);
  const { lists } = await ask(reads, "work", { file: fault, of: "lists" });
  assert.deepEqual(lists.map((list) => [list.name, list.state]), [["Main", "in flight"]]);
});

test("calls and state show what the suspect's call used", async () => {
  const { calls } = await ask(reads, "calls", { file: fault, around: 86, context: 1 });
  assert.deepEqual(calls.map((call) => call.number), [85, 86, 87]);
  assert.equal(calls[1].method, "ID3D12GraphicsCommandList::Dispatch");
  assert.deepEqual(calls[1].arguments, { ThreadGroupCountX: 1, ThreadGroupCountY: 1, ThreadGroupCountZ: 1 });
  // All neighbours that there is room for, with the call.
  const many = await ask(reads, "calls", { file: fault, around: 86, context: 500 });
  assert.ok(many.calls.some((call) => call.number === 86));
  assert.ok(many.calls.length > 60);
  const numbers = [];
  for (let from = 0; from !== null; ) {
    const page = await ask(reads, "calls", { file: fault, function: "Create", from, limit: 4 });
    numbers.push(...page.calls.map((call) => call.number));
    from = page.next_from;
  }
  assert.ok(numbers.length > 8);
  assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
  const state = await ask(reads, "state", { file: fault, call: 86 });
  assert.equal(state.pipeline.text, 'pipeline state 8 "Scatter"');
  assert.deepEqual(state.compute.root_arguments[0].values, [134217727, 7]);
});

test("memory finds the resource at an address", async () => {
  const { objects } = await ask(reads, "memory", { file: dump, address: "0x70000040" });
  assert.deepEqual(objects.map((object) => [object.name, object.state]), [["Particles", "destroyed"]]);
  const whole = await ask(reads, "memory", { file: fault });
  assert.equal(whole.crash_addresses[0].words, "in no object that is known");
  assert.equal(whole.matching, 11);
});

test("diff and triage compare files", async () => {
  const first = await ask(reads, "diff", { first: hang, second: fault, limit: 2 });
  assert.deepEqual(first.differences.map((difference) => difference.in), ["first", "second"]);
  assert.equal(first.next_offset, 2);
  const next = await ask(reads, "diff", { first: hang, second: fault, offset: 2, limit: 1 });
  assert.notEqual(next.differences[0].text, first.differences[0].text);
  const same = await ask(reads, "diff", { first: fault, second: fault });
  assert.deepEqual([same.differences, same.next_offset, same.complete], [[], null, true]);
  const groups = await ask(reads, "triage", { paths: [hang, fault, fault, dump] });
  assert.equal(groups.dumps, 3);
  assert.equal(groups.matching, 3);
  assert.deepEqual(new Set(groups.groups.map((group) => group.signature.kind)),
    new Set(["GPU hang", "CPU fault", "nothing wrong"]));
});

test("what cannot be answered says why", async () => {
  await assert.rejects(reads.callTool({ name: "work", arguments: { file: fault, of: "queues", state: "in flight" } }),
    { code: -32602, message: /'state' is only for scopes and lists/ });
  const nowhere = await reads.callTool({ name: "verdict", arguments: { file: "/nowhere.cairn" } });
  assert.equal(nowhere.isError, true);
  assert.match(nowhere.content[0].text, /^cairn report: cannot open .*nowhere\.cairn: No such file/);
  const trace = await reads.callTool({ name: "verdict", arguments: { file: "trace-v1.cairn" } });
  assert.match(trace.content[0].text, /is a trace without a report/);
  await assert.rejects(reads.callTool({ name: "state", arguments: { file: fault } }),
    { code: -32602, message: /state: 'call' is missing/ });
  await assert.rejects(reads.callTool({ name: "image", arguments: { file: fault } }),
    { code: -32602, message: /cairn mcp --allow-run/ });
  await assert.rejects(reads.listResources(), /does not support resources|-32601/);
});

test("image shows what was drawn", async () => {
  const result = await plays.callTool({
    name: "image",
    arguments: { file: join(golden, "played/triangle.cairn"), frame: 0 },
  });
  assert.ok(!result.isError, result.content[0].text);
  const images = result.content.filter((part) => part.type === "image");
  assert.ok(images.length > 0);
  const png = Buffer.from(images[0].data, "base64");
  assert.equal(png.toString("latin1", 1, 4), "PNG");
  assert.equal(png.readUInt32BE(16), result.structuredContent.images[0].width);
});

test("a bisect that was cancelled resumes when it is asked again", async () => {
  // Plays until it tells of that many probes, and cancels; returns the first and the last number.
  const playUntil = async (count) => {
    const cancel = new AbortController();
    const told = [];
    const search = plays.callTool({ name: "bisect", arguments: { file: hang, runs: 1000, hang_timeout: 1 } }, undefined, {
      signal: cancel.signal,
      timeout: 240_000,
      onprogress: ({ message }) => {
        const probes = message.match(/([\d,]+) of about/);
        if (probes === null) return;
        told.push(Number(probes[1].replaceAll(",", "")));
        if (told.at(-1) >= count) cancel.abort("enough");
      },
    });
    await assert.rejects(search, /enough/);
    return [told[0], told.at(-1)];
  };
  const [, last] = await playUntil(3);
  const [first] = await playUntil(0);
  assert.ok(first >= last, `${first} of ${last}`);
});

test("bisect finds the culprit, tells its progress, and can be cancelled", async () => {
  const cancel = new AbortController();
  const told = [];
  const cancelled = plays.callTool(
    { name: "bisect", arguments: { file: fault, runs: 1000 } }, undefined,
    {
      signal: cancel.signal,
      onprogress: ({ message }) => {
        told.push(message);
        // Before the first probe is played, it says only for how long it has run.
        if (message.includes("probes")) cancel.abort("enough");
      },
    },
  );
  await assert.rejects(cancelled, /enough/);
  assert.match(told.at(-1), / of about 1,?00\d probes/);
  let last = -1;
  const answer = await ask(plays, "bisect", { file: fault, runs: 1 }, {
    timeout: 240_000,
    onprogress: ({ progress }) => {
      assert.ok(progress > last);
      last = progress;
    },
  });
  assert.equal(answer.found, true);
  assert.match(JSON.stringify(answer.culprits ?? answer.culprit), /Scatter to nowhere/);
});
