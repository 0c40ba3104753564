// SPDX-License-Identifier: Apache-2.0
//
// The decoder of pictures: every filter of PNG, colours where alpha is 0, and files that are none.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { source } from "./browser.mjs";

globalThis.ImageData = class { constructor(data, width, height) { Object.assign(this, { data, width, height }); } };
const script = execFileSync("esbuild", [join(source, "viewer/source/png.ts"), "--format=esm"], { encoding: "utf8" });
const { decodePng } = await import("data:text/javascript," + encodeURIComponent(script));

const width = 7, height = 10;
const pixels = Uint8Array.from({ length: width * height * 4 }, (_, at) => (at % 4 === 3 ? 0 : (at * 37 + (at >> 5) * 11) & 255));

// By the specification, "Filter types"; each line with another one.
function filtered() {
  const at = (x, y) => (x < 0 || y < 0 ? 0 : pixels[y * width * 4 + x]);
  const foretold = [
    () => 0, (x, y) => at(x - 4, y), (x, y) => at(x, y - 1), (x, y) => Math.floor((at(x - 4, y) + at(x, y - 1)) / 2),
    (x, y) => {
      const [a, b, c] = [at(x - 4, y), at(x, y - 1), x < 4 ? 0 : at(x - 4, y - 1)];
      const [first] = [[Math.abs(b - c), 0, a], [Math.abs(a - c), 1, b], [Math.abs(a + b - 2 * c), 2, c]].sort((one, other) => one[0] - other[0] || one[1] - other[1]);
      return first[2];
    },
  ];
  return Buffer.concat(Array.from({ length: height }, (_, y) => Buffer.from([y % 5, ...Array.from({ length: width * 4 }, (_, x) => (at(x, y) - foretold[y % 5](x, y)) & 255)])));
}
function chunk(type, data) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4);
  return Buffer.concat([head, data, Buffer.alloc(4)]);
}
function png({ data = deflateSync(filtered()), depth = 8, colour = 6 } = {}) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([depth, colour, 0, 0, 0], 8);
  const half = data.length >> 1;
  const file = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("tEXt", Buffer.from("a")), chunk("IDAT", data.subarray(0, half)), chunk("IDAT", data.subarray(half)), chunk("IEND", Buffer.alloc(0))]);
  return file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
}

test("every pixel is what was written, also where alpha is 0", async () => {
  const image = await decodePng(png());
  assert.deepEqual([image.width, image.height], [width, height]);
  assert.deepEqual(Buffer.from(image.data), Buffer.from(pixels));
});
test("what is none says so", async () => {
  await assert.rejects(decodePng(new ArrayBuffer(40)), /that is no PNG/);
  await assert.rejects(decodePng(png({ depth: 16 })), /not of 8 bits/);
  await assert.rejects(decodePng(png({ data: deflateSync(filtered().subarray(0, 100)) })), /cut off/);
  await assert.rejects(decodePng(png({ data: Buffer.from("garbage") })));
  await assert.rejects(decodePng(png().slice(0, 60)));
});
