// SPDX-License-Identifier: Apache-2.0
//
// The shape of a list of calls, as the server tells it in one answer of bounded size: events as groups of lines, which
// fold, a map of what stands where, and calls to go to. And whose memory an address was at a call.

export interface Group { first: number; last: number; call: number; thread: number; name: string; colour?: string; work: number; in_flight: boolean; }
export interface Jumps { count: number; numbers: number[]; }
export interface Bucket { work: number; completed: number; in_flight: number; not_started: number; failed: number; frames: number; }
export interface Outline {
  suspects: number[]; in_flight: Jumps; failed: Jumps; unreturned: Jumps; frames: Jumps;
  lines_per_bucket: number; buckets: Bucket[]; groups_left_out: number; groups: Group[];
}

// The index of the last element that is not above `value`; -1 if there is none.
function lastNotAbove(count: number, at: (index: number) => number, value: number): number {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// Which lines of the list are rows: those that no folded group hides. Costs what the groups cost, not the lines.
export class Folding {
  private readonly folded = new Set<number>();
  private readonly parents: number[] = [];
  // Folded groups that stand in no other one: their lines, and how many lines are hidden before and in them.
  private hidden: { first: number; last: number; upTo: number }[] = [];
  constructor(readonly lines: number, readonly groups: Group[]) {
    const open: number[] = [];
    groups.forEach((group, index) => {
      while (open.length && groups[open.at(-1)!]!.last < group.first) open.pop();
      this.parents.push(open.at(-1) ?? -1);
      open.push(index);
    });
  }
  get rows(): number {
    return this.lines - (this.hidden.at(-1)?.upTo ?? 0);
  }
  lineOf(row: number): number {
    const last = lastNotAbove(this.hidden.length, (index) => this.hidden[index]!.last - this.hidden[index]!.upTo + 1, row);
    return row + (last < 0 ? 0 : this.hidden[last]!.upTo);
  }
  // Of a line that is hidden: the row that stands for it.
  rowOf(line: number): number {
    const last = lastNotAbove(this.hidden.length, (index) => this.hidden[index]!.first, line);
    if (last < 0) return line;
    const { first, last: end, upTo } = this.hidden[last]!;
    return line <= end ? first - (upTo - (end - first)) : line - upTo;
  }
  groupAt(line: number): number {
    const index = lastNotAbove(this.groups.length, (each) => this.groups[each]!.first, line);
    return index >= 0 && this.groups[index]!.first === line ? index : -1;
  }
  // The groups that a line stands in, the innermost first; the one that it begins is not among them.
  around(line: number): number[] {
    const found: number[] = [];
    for (let index = lastNotAbove(this.groups.length, (each) => this.groups[each]!.first, line - 1); index >= 0; index = this.parents[index]!) {
      if (this.groups[index]!.last >= line) found.push(index);
    }
    return found;
  }
  isFolded(group: number): boolean {
    return this.folded.has(group);
  }
  fold(groups: Iterable<number>, folded: boolean): void {
    for (const group of groups) folded ? this.folded.add(group) : this.folded.delete(group);
    this.hidden = [];
    for (const index of [...this.folded].sort((a, b) => a - b)) {
      const { first, last } = this.groups[index]!;
      const before = this.hidden.at(-1);
      if (before && first <= before.last) continue;
      this.hidden.push({ first, last, upTo: (before?.upTo ?? 0) + last - first });
    }
  }
  foldAll(folded: boolean): void {
    this.fold(this.groups.keys(), folded);
  }
}

// By docs/formats/objects.schema.json, as far as it is needed here.
export interface TracedObject { object: number; kind: string; name: string; made: number; destroyed?: number; resource?: { gpu_address: number; size_bytes: number }; }
const mostOverlaps = 64;

// The objects of a trace: how they are called, and whose memory an address is.
export class Objects {
  private readonly byNumber = new Map<number, TracedObject>();
  private readonly byAddress: TracedObject[];
  constructor(objects: TracedObject[]) {
    for (const each of objects) this.byNumber.set(each.object, each);
    this.byAddress = objects.filter(({ resource }) => resource?.gpu_address && resource.size_bytes).sort((a, b) => a.resource!.gpu_address - b.resource!.gpu_address || a.made - b.made);
  }
  // The name, or else the kind.
  title(object: number): string | undefined {
    const known = this.byNumber.get(object);
    return known && (known.name || known.kind.replace(/^I(D3D12|DXGI)/, ""));
  }
  text(object: number): string {
    const known = this.byNumber.get(object);
    return known?.name ? `"${known.name}" #${object}` : `${known ? this.title(object) + " " : ""}#${object}`;
  }
  // At the call of this number: another owner may have had the address before, or after.
  owner(address: number, call: number): string | undefined {
    const nearest = lastNotAbove(this.byAddress.length, (index) => this.byAddress[index]!.resource!.gpu_address, address);
    for (let index = nearest; index >= 0 && index > nearest - mostOverlaps; --index) {
      const { object, name, made, destroyed, resource } = this.byAddress[index]!;
      const offset = address - resource!.gpu_address;
      if (offset >= resource!.size_bytes || made > call || (destroyed !== undefined && destroyed < call)) continue;
      return `${name || this.text(object)}${offset ? ` + 0x${offset.toString(16)}` : ""}`;
    }
    return undefined;
  }
  // A value of the JSON with the names of its objects, and the owners of its addresses.
  named(value: unknown, call: number): unknown {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((each) => this.named(each, call));
    const { object, text, address } = value as { object?: unknown; text?: unknown; address?: unknown };
    if (typeof object === "number" && typeof text === "string") return { ...value, text: this.text(object) };
    const owner = typeof address === "string" && text === undefined ? this.owner(Number(address), call) : undefined;
    if (owner !== undefined) return { ...value, text: owner };
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.named(each, call)]));
  }
}
