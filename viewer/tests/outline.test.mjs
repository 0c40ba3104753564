// SPDX-License-Identifier: Apache-2.0
//
// Which lines are rows once groups fold, and whose memory an address was.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { source } from "./browser.mjs";

const script = execFileSync("esbuild", [join(source, "viewer/source/outline.ts"), "--format=esm"], { encoding: "utf8" });
const { Folding, Objects } = await import("data:text/javascript," + encodeURIComponent(script));

const lines = 20;
const groups = [[1, 8], [2, 4], [5, 5], [6, 7], [10, 12], [15, 19]].map(([first, last]) => ({ first, last, thread: 0 }));

test("every way to fold: rows are the lines that no folded group hides, in their order", () => {
  for (let bits = 0; bits < 1 << groups.length; ++bits) {
    const folding = new Folding(lines, groups);
    const folded = groups.map((_, index) => index).filter((index) => bits & (1 << index));
    folding.fold(folded, true);
    const hides = (line) => folded.map((index) => groups[index]).find(({ first, last }) => first < line && line <= last);
    const expected = Array.from({ length: lines }, (_, line) => line).filter((line) => !hides(line));
    assert.equal(folding.rows, expected.length);
    assert.deepEqual(expected.map((_, row) => folding.lineOf(row)), expected, `${folded}`);
    for (let line = 0; line < lines; ++line) {
      let stands = line;
      while (hides(stands)) stands = hides(stands).first;
      assert.equal(folding.rowOf(line), expected.indexOf(stands), `line ${line} of ${folded}`);
    }
    folding.foldAll(false);
    assert.equal(folding.rows, lines);
  }
});

test("the groups around a line, the innermost first", () => {
  const folding = new Folding(lines, groups);
  assert.deepEqual([0, 1, 2, 3, 7, 8, 9, 12].map((line) => folding.around(line)), [[], [], [0], [1, 0], [3, 0], [0], [], [4]]);
  assert.deepEqual([1, 3, 15].map((line) => folding.groupAt(line)), [0, -1, 5]);
});

test("an address is that of who had it at the call", () => {
  const buffer = (object, name, made, destroyed, gpu_address, size_bytes) => ({ object, kind: "ID3D12Resource", name, made, ...(destroyed ? { destroyed } : {}), resource: { gpu_address, size_bytes } });
  const objects = new Objects([buffer(1, "Heap", 1, 0, 0x1000, 0x9000), buffer(2, "Old", 10, 20, 0x2000, 0x1000), buffer(3, "", 30, 0, 0x2000, 0x100), { object: 4, kind: "IDXGISwapChain", name: "", made: 5 }]);
  assert.deepEqual([15, 25, 35].map((call) => objects.owner(0x2040, call)), ["Old + 0x40", "Heap + 0x1040", "Resource #3 + 0x40"]);
  assert.equal(objects.owner(0x2000, 15), "Old");
  assert.equal(objects.owner(0x2100, 35), "Heap + 0x1100");
  assert.equal(objects.owner(0x1000, 0), undefined);
  assert.equal(objects.owner(0xa000, 40), undefined);
  assert.deepEqual(objects.named({ pView: [{ BufferLocation: { address: "0x2040" } }], pObject: { object: 4, text: "#4" }, Size: 3, none: null }, 15),
    { pView: [{ BufferLocation: { address: "0x2040", text: "Old + 0x40" } }], pObject: { object: 4, text: "SwapChain #4" }, Size: 3, none: null });
});
