// SPDX-License-Identifier: Apache-2.0
//
// One box for all that has a name, a number or an address: what it finds, with a link to where it is drawn.
import { LitElement, css, html, nothing } from "lit";
import type { Report } from "./report.js";
import { linkTo, type Place } from "./selection.js";
import { shared } from "./style.js";
import { bytes, grouped, visible } from "./words.js";

// In, where one name stands in many places: the path to it.
export interface Found { kind: string; text: string; place: Place; in?: string; }
const mostOfKind = 8;

// Everything with a name, in small letters once.
class Names {
  private all: { found: Found; words: string }[] = [];
  constructor(private report: Report) {
    const { data } = report;
    const put = (kind: string, text: string, place: Place, more = "") => this.all.push({ found: { kind, text, place }, words: `${text} ${more}`.toLowerCase() });
    data.queues.forEach((_, index) => put("queue", report.queue(index), { view: "timeline", queue: String(index) }));
    data.executions.forEach((_, index) => put("command list", report.list(index), { view: "tree", execution: String(index) }));
    data.scopes.forEach((_, index) => put("work", report.scope(index), { view: "tree", scope: String(index) }, report.eventId(index)));
    data.pipelines.forEach((_, index) => {
      const scope = data.scopes.findIndex(({ pipeline }) => pipeline === index);
      put("pipeline", report.pipeline(index), scope < 0 ? { view: "facts" } : { view: "tree", scope: String(scope) });
    });
    data.objects.forEach((object, index) => object.state !== "free" && put("object", report.object(index), { view: "memory", object: String(index) }));
    for (const thread of data.threads) {
      for (const call of thread.calls) put("last call of a thread", `${call.function || "unknown function"}, thread ${thread.id}${thread.name ? ` "${visible(thread.name, 60)}"` : ""}`, { view: "timeline" });
    }
  }
  // At most some of each kind, those that begin with the text first.
  find(text: string): Found[] {
    const kinds = new Map<string, Found[]>();
    const rank = ({ words }: { words: string }) => (words.startsWith(text) || words.startsWith(`"${text}`) ? 0 : 1);
    for (const wanted of [0, 1]) {
      for (const each of this.all) {
        if (!each.words.includes(text) || rank(each) !== wanted) continue;
        const found = kinds.get(each.found.kind) ?? [];
        if (found.length < mostOfKind && !found.some((other) => other.text === each.found.text && each.found.kind === "last call of a thread")) found.push(each.found);
        kinds.set(each.found.kind, found);
      }
    }
    return [...kinds.values()].flat().map((found) => ({ ...found, ...this.around(found.place) }));
  }
  private around({ scope }: Place): { in?: string } {
    const execution = scope === undefined ? -1 : this.report.executionOf(Number(scope));
    return execution < 0 ? {} : { in: this.report.path(execution, this.report.data.scopes[Number(scope)]!.parent) };
  }
}

// Whose memory an address is, or what has it as its handle.
function atAddress(report: Report, address: bigint): Found[] {
  const { objects, executions, queues } = report.data as unknown as { objects: (Report["data"]["objects"][number])[]; executions: { native_handle?: string }[]; queues: { native_handle?: string }[] };
  const is = (handle: string | undefined) => handle !== undefined && BigInt(handle) === address;
  const found: Found[] = [];
  objects.forEach((object, index) => {
    if (object.state === "free") return;
    const first = BigInt(object.gpu_address), ended = object.state === "destroyed" ? ", destroyed" : "";
    const place: Place = { view: "memory", object: String(index) };
    if (object.kind !== "descriptor heap" && first && address >= first && address < first + BigInt(object.size || 1)) {
      found.unshift({ kind: "address", text: `${report.object(index)} + 0x${(address - first).toString(16)} of ${bytes(object.size)}${ended}`, place });
    } else if (is(object.native_handle)) {
      found.push({ kind: "handle", text: `${report.object(index)}${ended}`, place });
    }
  });
  executions.forEach(({ native_handle: handle }, index) => is(handle) && found.push({ kind: "handle", text: report.list(index), place: { view: "tree", execution: String(index) } }));
  queues.forEach(({ native_handle: handle }, index) => is(handle) && found.push({ kind: "handle", text: report.queue(index), place: { view: "timeline", queue: String(index) } }));
  const faults = report.data.faults.flatMap((fault) => fault.addresses).filter(({ state, first, last }) => state !== "no address" && BigInt(first) <= address && address <= BigInt(last));
  found.push(...faults.map((fault) => ({ kind: "fault", text: `${fault.type} at ${fault.address}`, place: { view: "memory", address: fault.address } as Place })));
  return found.length ? found : [{ kind: "address", text: "in no object that is known", place: { view: "memory" } }];
}

const names = new WeakMap<Report, Names>();
export function find(report: Report | undefined, query: string, trace: boolean): Found[] {
  const text = query.trim().toLowerCase();
  if (!text) return [];
  const found: Found[] = [];
  const number = /^[\d,]{1,15}$/.test(text) ? Number(text.replaceAll(",", "")) : undefined;
  if (number !== undefined) {
    const scope = report?.scopeAt(number);
    if (scope !== undefined) found.push({ kind: "call", text: `call ${grouped(number)}: ${report!.scope(scope)}`, place: { view: "tree", scope: String(scope), call: String(number) } });
    if (trace) found.push({ kind: "call", text: `call ${grouped(number)} in Calls`, place: { view: "calls", call: String(number) } });
  }
  if (report && /^0x[0-9a-f]{1,16}$/.test(text)) found.push(...atAddress(report, BigInt(text)));
  if (report) {
    if (!names.has(report)) names.set(report, new Names(report));
    found.push(...names.get(report)!.find(text));
  }
  if (trace) found.push({ kind: "calls", text: `all calls with "${visible(query.trim(), 60)}"`, place: { view: "calls", text: query.trim().slice(0, 40) } });
  return found;
}

export class Search extends LitElement {
  static override properties = { report: { attribute: false }, trace: { type: Boolean }, query: { state: true }, open: { state: true }, at: { state: true } };
  declare report: Report | undefined;
  declare trace: boolean;
  declare query: string;
  declare open: boolean;
  declare at: number;
  private found: Found[] = [];
  static override styles = [shared, css`
    :host { position: relative; }
    input { width: 100%; }
    .found { position: absolute; z-index: 2; right: 0; top: calc(100% + var(--s1)); width: max(100%, min(34rem, 90vw)); max-height: 60vh; overflow: auto; background: var(--ground); color: var(--text); border: 1px solid var(--edge); border-radius: var(--round); padding: var(--s1); margin: 0; list-style: none; box-shadow: 0 var(--s1) var(--s4) color-mix(in srgb, var(--text) 20%, transparent); }
    .found li { margin: 0; padding: var(--s1) var(--s2); border-radius: var(--round); display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); gap: var(--s2); cursor: pointer; }
    .found li.chosen { background: var(--chosen); }
    .found li:hover { background: var(--over); }
    .found p { padding: var(--s1) var(--s2); }
  `];
  constructor() {
    super();
    this.query = "";
    this.open = this.trace = false;
    this.at = 0;
  }
  focusField(): void {
    this.renderRoot.querySelector("input")?.select();
  }
  private typed(event: Event): void {
    this.open = true;
    this.ask((event.target as HTMLInputElement).value);
  }
  // Lists that are searched show what fits alone.
  private ask(query: string): void {
    this.query = query;
    this.at = 0;
    this.dispatchEvent(new CustomEvent("query", { detail: query }));
  }
  private go(index: number): void {
    const found = this.found[index];
    if (!found) return;
    this.open = false;
    this.ask("");  // a list shows what was found among what is around it
    location.hash = linkTo(found.place);
    this.renderRoot.querySelector("input")?.blur();
  }
  private key(event: KeyboardEvent): void {
    if (event.key === "ArrowDown") this.at = Math.min(this.found.length - 1, this.at + 1);
    else if (event.key === "ArrowUp") this.at = Math.max(0, this.at - 1);
    else if (event.key === "Enter") this.go(this.at);
    else if (event.key === "Escape") this.open = false;
    else return;
    if (event.key !== "Escape") event.preventDefault();
  }
  protected override updated(): void {
    this.renderRoot.querySelector("li.chosen")?.scrollIntoView({ block: "nearest" });
  }
  override render() {
    const shown = this.open && this.query.trim() !== "";
    this.found = shown ? find(this.report, this.query, this.trace) : [];
    return html`<input type="search" placeholder="Search names, calls, addresses  /" aria-label="Search" role="combobox" aria-expanded=${shown} aria-controls="found" aria-autocomplete="list"
        aria-activedescendant=${this.found.length ? `found-${this.at}` : nothing} .value=${this.query} @input=${this.typed} @keydown=${this.key} @focus=${() => (this.open = true)}
        @blur=${() => (this.open = false)}>
      ${!shown ? nothing : this.found.length ? html`<ul id="found" class="found" role="listbox" aria-label="Found">${this.found.map((found, index) => html`<li id="found-${index}" role="option" aria-selected=${index === this.at} class=${index === this.at ? "chosen" : ""}
          @pointerdown=${(event: Event) => event.preventDefault()} @click=${() => this.go(index)}><span class="quiet">${found.kind}</span><span><span class="isolate">${found.text}</span>${found.in ? html`<div class="quiet small isolate">${found.in}</div>` : nothing}</span></li>`)}</ul>`
        : html`<div id="found" class="found" role="status"><p>Nothing has "${visible(this.query.trim(), 60)}" in its name. Calls are searched by number, addresses as 0x….</p></div>`}`;
  }
}
customElements.define("cairn-search", Search);
