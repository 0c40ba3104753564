// SPDX-License-Identifier: Apache-2.0
//
// The images around a call, which cairn view plays in a process of its own. The newest question of this page counts:
// one before it that is not answered yet is given up. Answers are kept, the last ones.
import { decodePng } from "./png.js";
import { askJson } from "./server.js";
import { grouped, visible } from "./words.js";

// By docs/formats/images.schema.json, a picture for each file.
export interface Picture { object: number; name: string | null; mip: number; slice: number; plane: number; width: number; height: number; format: string; target: boolean; shown: boolean; problem?: string; file?: string; pixels?: ImageData; }
export type Moment = "before" | "after" | "";   // of work in a command list; "": all that was submitted
export interface Wanted { call: number; moment: Moment; objects?: number[]; all?: boolean; }

// In all, decoded: older answers give way.
const mostAnswers = 8;
const mostPictures = 32;
const mostTextures = 16;
const answers = new Map<string, Picture[]>();
const page = crypto.getRandomValues(new Uint32Array(1))[0]!;

const keyOf = ({ call, moment, objects }: Wanted) => `${call} ${moment} ${(objects ?? []).join()}`;
export const keptPictures = (wanted: Wanted): Picture[] | undefined => answers.get(keyOf(wanted));

// Throws what went wrong, in the server's words. Work that had not ended when the program failed is played only with
// `all`. The pictures have their pixels.
export async function askPictures(wanted: Wanted): Promise<Picture[]> {
  const kept = keptPictures(wanted);
  if (kept) return kept;
  const { call, moment, objects = [], all } = wanted;
  const { images = [], refused } = await askJson<{ images?: (Picture & { files?: string[] })[]; refused?: string }>("images", { call, page, ...(moment ? { moment } : {}), ...(all ? {} : { completed: 1 }),
    ...(objects.length ? { objects: objects.slice(0, mostTextures).join() } : {}) }, true);
  if (refused !== undefined) throw new Error(refused);
  const pictures = images.flatMap((image) => (image.files?.length ? image.files.map((file) => ({ ...image, file })) : [image]));
  for (const picture of pictures.slice(0, mostPictures)) {
    if (!picture.file) continue;
    const answer = await fetch(`image?${new URLSearchParams({ name: picture.file })}`);
    if (!answer.ok) throw new Error((await answer.text()).trim());
    picture.pixels = await decodePng(await answer.arrayBuffer());
  }
  answers.set(keyOf(wanted), pictures);
  if (answers.size > mostAnswers) answers.delete(answers.keys().next().value!);
  return pictures;
}

export const nameOf = (picture: Picture) => `resource ${grouped(picture.object)}${picture.name ? ` "${visible(picture.name, 60)}"` : ""}${picture.slice ? `, slice ${picture.slice}` : ""}${picture.mip ? `, mip ${picture.mip}` : ""}${picture.plane ? `, plane ${picture.plane}` : ""}`;

export interface Look { channels: string; low: number; high: number; }
export const plainLook: Look = { channels: "RGB", low: 0, high: 255 };

// The chosen channels; one alone is grey. Values from `low` to `high` become black to white. Alpha shows only on request:
// most targets do not use it.
export function paint(canvas: HTMLCanvasElement, { width, height, data }: ImageData, { channels, low, high }: Look): void {
  canvas.width = width;
  canvas.height = height;
  const shown = new ImageData(new Uint8ClampedArray(data), width, height);
  const single = "RGBA".indexOf(channels);
  const scale = 255 / Math.max(1, high - low);
  for (let at = 0; at < data.length; at += 4) {
    for (let channel = 0; channel < 3; ++channel) shown.data[at + channel] = (data[at + (channels.length > 1 ? channel : single)]! - low) * scale;
    if (channels !== "RGBA") shown.data[at + 3] = 255;
  }
  canvas.getContext("2d")!.putImageData(shown, 0, 0);
}

// How many pixels have each value in the chosen channels.
export function histogram({ data }: ImageData, channels: string): Uint32Array {
  const counts = new Uint32Array(256);
  const of = [...channels].map((name) => "RGBA".indexOf(name));
  for (let at = 0; at < data.length; at += 4) for (const channel of of) if (channels.length === 1 || channel < 3) ++counts[data[at + channel]!]!;
  return counts;
}
// The least and the largest value that occur.
export function rangeOf(counts: Uint32Array): { low: number; high: number } {
  const low = counts.findIndex((count) => count > 0), high = 255 - [...counts].reverse().findIndex((count) => count > 0);
  return high > low ? { low, high } : { low: 0, high: 255 };
}
