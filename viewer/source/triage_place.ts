// SPDX-License-Identifier: Apache-2.0
//
// The selection on the triage page: a group, a filter, an order. It stands in the address behind "#", so that a link
// leads there and a page that is loaded again shows the same: #group=5f3c0a4e1b7d9826&kind=GPU+hang.
import { dateOf, dayOf, facets, sorts, type Facet, type Filter, type Sort } from "./triage_data.js";

export type Key = Facet | "group" | "text" | "from" | "to" | "sort";
const keys: Key[] = [...facets, "group", "text", "from", "to", "sort"];
const date = (text: string | undefined) => (text && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(dayOf(text)) ? dayOf(text) : undefined);

class Place extends EventTarget {
  private values = new Map<Key, string>();
  private writing = 0;  // a timer
  constructor() {
    super();
    window.addEventListener("hashchange", () => this.read());
    this.read();
  }
  get(key: Key): string | undefined {
    return this.values.get(key);
  }
  // Undefined takes a value away.
  set(values: { [key in Key]?: string | undefined }): void {
    this.values = this.with(values);
    // Browsers refuse hundreds of addresses in a few seconds, as a key that is held down would make.
    clearTimeout(this.writing);
    this.writing = setTimeout(() => this.write(), 100);
    this.dispatchEvent(new Event("change"));
  }
  // Puts what is chosen into the address: before a link is followed.
  write(): void {
    clearTimeout(this.writing);
    history.replaceState(null, "", this.link({}));
  }
  link(values: { [key in Key]?: string | undefined }): string {
    return "#" + new URLSearchParams([...this.with(values)]).toString();
  }
  private with(values: { [key in Key]?: string | undefined }): Map<Key, string> {
    const next = new Map(this.values);
    for (const [key, value] of Object.entries(values)) value === undefined ? next.delete(key as Key) : next.set(key as Key, value);
    return next;
  }
  get filter(): Filter {
    const filter: Filter = { text: this.get("text") ?? "", sort: sorts.find((sort) => sort === this.get("sort")) ?? ("count" satisfies Sort) };
    for (const facet of facets) {
      const value = this.get(facet);
      if (value !== undefined) filter[facet] = value;
    }
    const from = date(this.get("from")), to = date(this.get("to"));
    if (from !== undefined) filter.from = from;
    if (to !== undefined) filter.to = to;
    return filter;
  }
  get isFiltered(): boolean {
    return [...facets, "text", "from", "to"].some((key) => this.values.has(key as Key));
  }
  clear(): void {
    this.set({ text: undefined, from: undefined, to: undefined, ...Object.fromEntries(facets.map((facet) => [facet, undefined])) });
  }
  choose(from: number, to: number): void {
    this.set({ from: dateOf(from), to: dateOf(to) });
  }
  private read(): void {
    clearTimeout(this.writing);
    const words = new URLSearchParams(location.hash.slice(1));
    this.values = new Map(keys.flatMap((key) => {
      const value = words.get(key);
      return value === null ? [] : [[key, value.slice(0, 5000)] as [Key, string]];
    }));
    this.dispatchEvent(new Event("change"));
  }
}
export const place = new Place();
