// SPDX-License-Identifier: Apache-2.0
//
// The answer of cairn diff as rows: two calls that belong together beside each other, stretches that both have folded.

// By docs/formats/diff.schema.json.
export interface Difference {
  frame: number; other_frame: number | null; thread: number; other_thread: number | null; in: "first" | "second"; call: number; text: string; changed: number | null;
  equal_before: { count: number; first: number; last: number };
}
export interface Answer {
  first_frame: number; frames: [number, number]; calls: [number, number]; different_calls: number; compared_images: number; different_images: number[];
  complete: boolean; differences: Difference[];
}
export type Frames = [number | null, number | null];
export type Row =
  | { kind: "frame"; frames: Frames }
  | { kind: "frames"; count: number; first: number; second: number }  // that are equal
  | { kind: "equal"; count: number; first: number; last: number; thread: number }  // calls, as the first trace has them
  | { kind: "calls"; left?: Difference; right?: Difference; frames: Frames };

export const signOf = (row: { left?: Difference; right?: Difference }) => (row.left && row.right ? "≠" : row.left ? "−" : "+");
const framesOf = (each: Difference): Frames => (each.in === "first" ? [each.frame, each.other_frame] : [each.other_frame, each.frame]);

export function rowsOf({ first_frame, frames, differences, complete }: Answer): Row[] {
  const rows: Row[] = [];
  let seen: Frames | undefined, behind: [number, number] = [first_frame, first_frame];  // the frames that come next
  const equalFrames = (count: number) => {
    if (count > 0) rows.push({ kind: "frames", count, first: behind[0], second: behind[1] });
  };
  for (let index = 0; index < differences.length; ++index) {
    const each = differences[index]!, next = differences[index + 1];
    const both = framesOf(each), other = each.changed !== null && next?.call === each.changed && next.in !== each.in ? next : undefined;
    if (!seen || seen[0] !== both[0] || seen[1] !== both[1]) {
      const equal = both[0] !== null ? both[0] - behind[0] : both[1]! - behind[1];
      equalFrames(equal);
      rows.push({ kind: "frame", frames: both });
      behind = [behind[0] + equal + (both[0] === null ? 0 : 1), behind[1] + equal + (both[1] === null ? 0 : 1)];
      seen = both;
    }
    const { count, first, last } = each.equal_before;
    if (count) rows.push({ kind: "equal", count, first, last, thread: each.in === "first" ? each.thread : each.other_thread! });
    rows.push({ kind: "calls", frames: both, ...(each.in === "first" ? { left: each } : { right: each }), ...(other ? (other.in === "first" ? { left: other } : { right: other }) : {}) });
    if (other) ++index;
  }
  if (complete) equalFrames(Math.min(first_frame + frames[0] - behind[0], first_frame + frames[1] - behind[1]));
  return rows;
}

// "ID3D12GraphicsCommandList "Main": DrawInstanced(…)" as "Main  DrawInstanced(…)".
export function brief(text: string): string {
  return text.replace(/^I(?:D3D12|DXGI)?(\w+)(?: "(.*?)"|\.(\d+)): (?:\w+::)?/, (_, kind: string, name: string | undefined, place: string) => `${name ?? `${kind}.${place}`}  `);
}
// Where two texts differ: what they begin with alike, the rest of each, what they end with alike.
export function parts(left: string, right: string): { before: string; left: string; right: string; after: string } {
  const least = Math.min(left.length, right.length);
  let begin = 0, end = 0;
  while (begin < least && left[begin] === right[begin]) ++begin;
  while (end < least - begin && left[left.length - 1 - end] === right[right.length - 1 - end]) ++end;
  // Whole words and numbers.
  while (begin && /\w/.test(left[begin - 1]!)) --begin;
  while (end && /\w/.test(left[left.length - end]!)) --end;
  return { before: left.slice(0, begin), left: left.slice(begin, left.length - end), right: right.slice(begin, right.length - end), after: end ? left.slice(-end) : "" };
}
