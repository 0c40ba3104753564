// SPDX-License-Identifier: Apache-2.0
//
// The pictures that cairn images writes: PNG of 8 bits, RGBA. A canvas multiplies colours by alpha when a browser decodes
// for it, and so has none where alpha is 0: what a render target holds there could not be seen.

// Throws what is wrong.
export async function decodePng(file: ArrayBuffer): Promise<ImageData> {
  const bytes = new Uint8Array(file), view = new DataView(file);
  if (bytes.length < 33 || view.getUint32(0) !== 0x89504e47) throw new Error("that is no PNG");
  const width = view.getUint32(16), height = view.getUint32(20);
  if (view.getUint32(24) !== 0x08060000 || bytes[28] !== 0) throw new Error("that PNG is not of 8 bits, RGBA");
  const packed: Uint8Array[] = [];
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === 0x49444154) packed.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));  // IDAT
  }
  const stream = new Blob(packed as BlobPart[]).stream().pipeThrough(new DecompressionStream("deflate"));
  const lines = new Uint8Array(await new Response(stream).arrayBuffer());
  const stride = width * 4;
  if (lines.length !== (stride + 1) * height) throw new Error("that PNG is cut off");
  const pixels = new Uint8ClampedArray(stride * height);
  for (let y = 0; y < height; ++y) unfilter(lines.subarray(y * (stride + 1), (y + 1) * (stride + 1)), pixels, y * stride, y ? -stride : 0);
  return new ImageData(pixels, width, height);
}

// One line: each byte is the difference to what its left, upper and upper left neighbours foretell.
function unfilter(line: Uint8Array, pixels: Uint8ClampedArray, to: number, above: number): void {
  const filter = line[0];
  for (let x = 0; x < line.length - 1; ++x) {
    const left = x < 4 ? 0 : pixels[to + x - 4]!;
    const up = above ? pixels[to + x + above]! : 0;
    const corner = above && x >= 4 ? pixels[to + x - 4 + above]! : 0;
    const foretold = filter === 1 ? left : filter === 2 ? up : filter === 3 ? (left + up) >> 1 : filter === 4 ? paeth(left, up, corner) : 0;
    pixels[to + x] = (line[x + 1]! + foretold) & 255;
  }
}
function paeth(left: number, up: number, corner: number): number {
  const sum = left + up - corner;
  const a = Math.abs(sum - left), b = Math.abs(sum - up), c = Math.abs(sum - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
