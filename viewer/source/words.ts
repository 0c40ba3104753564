// SPDX-License-Identifier: Apache-2.0
//
// How values read. What a program named may hold anything: it is shown as text, cut, and with what would
// not be seen, or would reorder what stands around it, written out.

const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function visible(text: string, most = 300): string {
  const cut = text.length > most;
  const shown = (cut ? text.slice(0, most) : text).replace(unseen, (character) =>
    character === "\n" ? "\\n" : character === "\t" ? "\\t" : `\\u{${character.charCodeAt(0).toString(16)}}`);
  return cut ? `${shown}… (${grouped(text.length)} characters)` : shown;
}

export const quoted = (name: string) => `"${visible(name)}"`;

export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

export function count(number: number, one: string, many = one + "s"): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

export function bytes(size: bigint | number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = Number(size);
  let unit = 0;
  for (; value >= 1024; value /= 1024) ++unit;
  return `${Number(value.toPrecision(4))} ${units[unit]}`;
}

export function duration(nanoseconds: number): string {
  const size = Math.abs(nanoseconds);
  if (size >= 1e9) return `${Number((size / 1e9).toPrecision(4))} s`;
  if (size >= 1e6) return `${Number((size / 1e6).toPrecision(3))} ms`;
  return `${Number((size / 1e3).toPrecision(3))} µs`;
}

// "0.012 s" as the JSON has it; NaN where a time is not known.
export const seconds = (time: string | null) => (time === null ? NaN : parseFloat(time));
