// SPDX-License-Identifier: Apache-2.0
//
// The answer of cairn diff as rows, and which images of two frames belong together.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { source } from "./browser.mjs";

const compiled = (name) => import("data:text/javascript," + encodeURIComponent(execFileSync("esbuild", [join(source, "viewer/source", name), "--format=esm"], { encoding: "utf8" })));
const { brief, parts, rowsOf, signOf } = await compiled("compare_rows.ts");
const { differenceOf, pairsOf } = await compiled("image_pairs.ts");

const none = { count: 0, first: 0, last: 0 };
const only = (from, call, frame, other_frame, more = {}) => ({ frame, other_frame, thread: 0, other_thread: 1, in: from, call, text: `${from} ${call}`, changed: null, equal_before: none, ...more });
const answer = (differences, more = {}) => ({ first_frame: 10, frames: [20, 21], calls: [0, 0], different_calls: 0, compared_images: 0, different_images: [], complete: true, differences, ...more });
const words = (rows) => rows.map((row) => (row.kind === "calls" ? `${signOf(row)} ${row.left?.call ?? ""} ${row.right?.call ?? ""}` : row.kind === "frame" ? `frame ${row.frames.join(" ")}` : `${row.kind} ${row.count} ${row.first} ${row.kind === "equal" ? row.last : row.second}`));

test("frames that are lined up, equal stretches, and pairs of changed calls", () => {
  const rows = rowsOf(answer([
    only("first", 100, 12, 12, { equal_before: { count: 5, first: 90, last: 99 } }),
    only("second", 205, 13, null),                           // a frame of the second alone
    only("first", 300, 15, 16, { changed: 310 }), only("second", 310, 16, 15, { changed: 300 }),
    only("second", 320, 16, 15, { equal_before: { count: 2, first: 301, last: 303 } }),
  ]));
  assert.deepEqual(words(rows), [
    "frames 2 10 10", "frame 12 12", "equal 5 90 99", "− 100 ",
    "frame  13", "+  205",
    "frames 2 13 14", "frame 15 16", "≠ 300 310", "equal 2 301 303", "+  320",
    "frames 14 16 17",
  ]);
  assert.deepEqual(rows.filter(({ kind }) => kind === "equal").map(({ thread }) => thread), [0, 1]);
});

test("an answer that is cut says nothing of frames behind it; equal traces are one row", () => {
  assert.deepEqual(words(rowsOf(answer([only("first", 1, 10, 10)], { complete: false }))), ["frame 10 10", "− 1 "]);
  assert.deepEqual(words(rowsOf(answer([], { frames: [3, 3] }))), ["frames 3 10 10"]);
  // The other call of a pair is beyond the end: a row of its own.
  assert.deepEqual(words(rowsOf(answer([only("first", 1, 10, 10, { changed: 2 })], { complete: false }))), ["frame 10 10", "− 1 "]);
});

test("what differs in two texts, in whole words", () => {
  assert.deepEqual(parts("Draw(Count = 36, First = 0)", "Draw(Count = 306, First = 0)"), { before: "Draw(Count = ", left: "36", right: "306", after: ", First = 0)" });
  assert.deepEqual(parts("same", "same"), { before: "", left: "same", right: "same", after: "" });
  assert.deepEqual(parts("a(1)", "a(1, 2)"), { before: "a(", left: "1", right: "1, 2", after: ")" });
  assert.equal(brief('ID3D12GraphicsCommandList "Main": DrawInstanced(1)'), "Main  DrawInstanced(1)");
  assert.equal(brief("ID3D12Device.1: ID3D12Device::CreateFence(0)"), "Device.1  CreateFence(0)");
});

test("images of one name belong together, and those without one by their place", () => {
  const picture = (object, name, more = {}) => ({ object, name, mip: 0, slice: 0, width: 1, height: 1, shown: false, files: [`${object}.png`], ...more });
  const pairs = pairsOf([picture(7, "Colour"), picture(8, null), picture(9, null, { files: [] }), picture(10, null), picture(11, "Gone")],
    [picture(3, null), picture(4, null, { slice: 1 }), picture(5, "Colour"), picture(6, null)]);
  assert.deepEqual(pairs.map(({ title, first, second }) => `${title}: ${first.object} ${second.object}`), ['"Colour": 7 5', "image without a name 1: 8 3"]);
});

test("pixels that differ are counted, with the largest difference of a channel, and red in the picture", () => {
  const image = (width, ...pixels) => ({ width, height: pixels.length / width, data: Uint8ClampedArray.from(pixels.flat()) });
  const first = image(2, [30, 60, 90, 255], [0, 0, 0, 0]);
  assert.deepEqual(differenceOf(first, first), { pixels: 0, most: 0, picture: Uint8ClampedArray.from([30, 30, 30, 255, 0, 0, 0, 255]) });
  assert.deepEqual(differenceOf(first, image(2, [30, 60, 90, 255], [0, 200, 3, 0])), { pixels: 1, most: 200, picture: Uint8ClampedArray.from([30, 30, 30, 255, 200, 0, 0, 255]) });
  assert.equal(differenceOf(first, image(1, [30, 60, 90, 255], [0, 0, 0, 0])), undefined);
});
