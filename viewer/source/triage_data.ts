// SPDX-License-Identifier: Apache-2.0
//
// The data of the triage page (docs/reference/cairn-triage.md), and which of it passes a filter.

export interface Signature { id: string; kind: string; cause: string; path: string[]; shaders: string[]; device: string; driver: string; }
export interface DumpFile { file: string; seen: string | null; number: number; }
// The day since 1970 (-1: not known), places of program and version, how sure, and how many dumps.
type Cell = [day: number, program: number, version: number, sure: string, count: number];
export interface TriageData {
  place: string; made: string; served: boolean; group_count: number; left_out: number;
  triage: {
    dumps: number; unreadable_count: number; unreadable: { file: string; reason: string }[];
    groups: { count: number; first_seen: string | null; last_seen: string | null; signature: Signature; example: { file: string; sentence: string } }[];
  };
  programs: string[]; library_versions: string[];
  details: { counts: Cell[]; files: DumpFile[] }[];
}

export const facets = ["kind", "program", "version", "device", "driver", "sure"] as const;
export type Facet = (typeof facets)[number];
export const sorts = ["count", "last", "first", "kind"] as const;
export type Sort = (typeof sorts)[number];
export type Filter = { [facet in Facet]?: string } & { from?: number; to?: number; text: string; sort: Sort };

export const dayOf = (date: string) => Math.floor(Date.parse(date + "T00:00:00Z") / 86_400_000);
// "2026-11-20"; "" for a day that is not known.
export const dateOf = (day: number) => (day < 0 ? "" : new Date(day * 86_400_000).toISOString().slice(0, 10));

// A group as far as it passes a filter.
export interface Shown { group: Group; count: number; days: Map<number, number>; sure: Map<string, number>; programs: Map<string, number>; versions: Map<string, number>; }

const add = <Key>(counts: Map<Key, number>, key: Key, count: number) => counts.set(key, (counts.get(key) ?? 0) + count);
export const largestFirst = (counts: Map<string, number>) => [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));

export class Group {
  readonly cells: { day: number; program: string; version: string; sure: string; count: number }[];
  readonly text: string;
  constructor(readonly data: TriageData["triage"]["groups"][number], readonly files: DumpFile[], cells: Cell[], page: TriageData) {
    this.cells = cells.map(([day, program, version, sure, count]) => ({ day, program: page.programs[program] ?? "", version: page.library_versions[version] ?? "", sure, count }));
    const { signature, example } = data;
    this.text = [signature.kind, signature.cause, ...signature.path, ...signature.shaders, signature.device, signature.driver, signature.id, example.sentence,
      ...files.map(({ file }) => file), ...new Set(this.cells.map(({ program }) => program))].join("\n").toLowerCase();
  }
  get signature(): Signature {
    return this.data.signature;
  }
  shown(filter: Filter): Shown | undefined {
    const { signature } = this;
    for (const facet of ["kind", "device", "driver"] as const) {
      if (filter[facet] !== undefined && filter[facet] !== signature[facet]) return undefined;
    }
    if (filter.text && !filter.text.toLowerCase().split(/\s+/).every((word) => this.text.includes(word))) return undefined;
    const shown: Shown = { group: this, count: 0, days: new Map(), sure: new Map(), programs: new Map(), versions: new Map() };
    for (const cell of this.cells) {
      if ((["program", "version", "sure"] as const).some((facet) => filter[facet] !== undefined && filter[facet] !== cell[facet])) continue;
      if ((filter.from !== undefined && cell.day < filter.from) || (filter.to !== undefined && (cell.day > filter.to || cell.day < 0))) continue;
      shown.count += cell.count;
      add(shown.days, cell.day, cell.count);
      add(shown.sure, cell.sure, cell.count);
      add(shown.programs, cell.program, cell.count);
      add(shown.versions, cell.version, cell.count);
    }
    return shown.count ? shown : undefined;
  }
}

const newest = (a: string | null, b: string | null) => (a === b ? 0 : (a ?? "") > (b ?? "") ? -1 : 1);
const orders: Record<Sort, (a: Shown, b: Shown) => number> = {
  count: (a, b) => b.count - a.count || newest(a.group.data.last_seen, b.group.data.last_seen),
  last: (a, b) => newest(a.group.data.last_seen, b.group.data.last_seen) || b.count - a.count,
  first: (a, b) => newest(a.group.data.first_seen, b.group.data.first_seen) || b.count - a.count,
  kind: (a, b) => (a.group.signature.kind < b.group.signature.kind ? -1 : a.group.signature.kind > b.group.signature.kind ? 1 : orders.count(a, b)),
};

export class Triage {
  readonly groups: Group[];
  readonly firstDay: number;
  readonly lastDay: number;  // -1: no time is known
  readonly values: Record<Facet, Map<string, number>>;
  constructor(readonly data: TriageData) {
    this.groups = data.triage.groups.map((group, index) => new Group(group, data.details[index]?.files ?? [], data.details[index]?.counts ?? [], data));
    this.values = { kind: new Map(), program: new Map(), version: new Map(), device: new Map(), driver: new Map(), sure: new Map() };
    let first = Infinity, last = -1;
    for (const { signature, cells } of this.groups) {
      for (const { day, program, version, sure, count } of cells) {
        if (day >= 0) first = Math.min(first, day);
        last = Math.max(last, day);
        for (const [facet, value] of Object.entries({ kind: signature.kind, program, version, device: signature.device, driver: signature.driver, sure })) add(this.values[facet as Facet], value, count);
      }
    }
    this.firstDay = last < 0 ? -1 : first;
    this.lastDay = last;
  }
  // In the order of the filter.
  shown(filter: Filter): Shown[] {
    return this.groups.flatMap((group) => group.shown(filter) ?? []).sort(orders[filter.sort]);
  }
  // Seen first in the last seven days of more than fourteen.
  isNew(group: Group): boolean {
    const { first_seen } = group.data;
    return first_seen !== null && this.lastDay - this.firstDay > 14 && dayOf(first_seen.slice(0, 10)) > this.lastDay - 7;
  }
}

// Days in bars of equal width, no more than fit.
export class Bars {
  readonly days: number;  // of a bar
  readonly count: number;
  constructor(readonly first: number, readonly last: number, most: number) {
    this.days = Math.max(1, Math.ceil((last - first + 1) / most));
    this.count = first < 0 ? 0 : Math.ceil((last - first + 1) / this.days);
  }
  heights(days: Map<number, number>): number[] {
    const heights = new Array<number>(this.count).fill(0);
    for (const [day, count] of days) {
      const bar = Math.floor((day - this.first) / this.days);
      if (day >= 0 && bar >= 0 && bar < this.count) heights[bar]! += count;
    }
    return heights;
  }
  firstDayOf = (bar: number) => this.first + bar * this.days;
  lastDayOf = (bar: number) => Math.min(this.last, this.firstDayOf(bar) + this.days - 1);
  words(bar: number): string {
    const first = dateOf(this.firstDayOf(bar)), last = dateOf(this.lastDayOf(bar));
    return first === last ? first : `${first} to ${last}`;
  }
}

// One path of all bars: a path costs less than an element each. A bar is at least 1.5 units high.
export function barPath(heights: number[], most: number, width: number, height: number): string {
  const step = width / Math.max(1, heights.length), gap = step > 3 ? 1 : 0;
  return heights.map((value, bar) => {
    if (!value) return "";
    const tall = Math.max(1.5, (value / Math.max(1, most)) * height);
    return `M${(bar * step).toFixed(2)} ${height}v${(-tall).toFixed(2)}h${(step - gap).toFixed(2)}v${tall.toFixed(2)}z`;
  }).join("");
}
