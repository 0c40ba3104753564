// SPDX-License-Identifier: Apache-2.0
//
// The calls of a trace: all of them by their place in the list, or those that a filter leaves, as far as one looks.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { empty } from "./empty.js";
import "./rows.js";
import type { Rows } from "./rows.js";
import { FollowsSelection, linkTo, selection } from "./selection.js";
import { ask, askJson } from "./server.js";
import { classes, marks, type State } from "./states.js";
import { shared } from "./style.js";
import { inLine, tree, treeStyle } from "./value.js";
import { grouped, visible } from "./words.js";

// By docs/formats/calls.schema.json.
interface Line {
  kind: string; number: number; frame: number; thread?: number; object?: number; object_text?: string; method?: string; arguments?: unknown; result?: unknown;
  returned?: boolean; problem?: string; state?: State; [key: string]: unknown;
}
const blockLines = 256;
const mostBlocks = 64;
const mostAsked = 2;
const linesOfSearch = 500;
// Matches functions that record into a list, or submit it to the GPU.
const shows = /CommandList\d*::|::ExecuteCommandLists$|::Present1?$/;
const filters = ["function", "object", "thread", "frame", "text"] as const;

export class Calls extends LitElement {
  static override properties = { total: { state: true }, failure: { state: true }, chosen: { state: true }, filtered: { state: true } };
  declare total: number | undefined;   // lines; undefined while they are counted
  declare failure: string;
  declare chosen: number;              // a row
  declare filtered: Line[] | undefined;
  private names = new Map<number, string>();
  private blocks = new Map<number, Line[]>();  // the last one used stands last
  private asked = new Set<number>();
  private filter: Record<string, string> = {};
  private ended = false;               // there are no more lines than those in `filtered`
  private loading = false;
  private revision = 0;
  private wanted = -1;                 // the number of a call that is to be brought into sight
  private seen = "";                   // the selection that was obeyed

  static override styles = [shared, treeStyle, css`
    :host { display: grid; grid-template: auto minmax(0, 3fr) minmax(0, 2fr) / minmax(0, 1fr); height: 100%; gap: var(--s2); }
    form { display: flex; gap: var(--s2) var(--s2); flex-wrap: wrap; align-items: center; }
    input { width: clamp(5.5rem, 9vw, 14rem); }
    input[name=thread], input[name=frame] { width: 4rem; }
    cairn-rows { border: 1px solid var(--line); border-radius: var(--round); }
    .one { overflow: auto; border: 1px solid var(--line); border-radius: var(--round); padding: var(--s1) var(--s3); }
  `];
  constructor() {
    super();
    this.failure = "";
    this.chosen = -1;
    new FollowsSelection(this, () => this.obey());
  }
  override connectedCallback(): void {
    super.connectedCallback();
    void this.guard(async () => {
      const { lines } = await askJson<{ lines: number }>("count");
      this.total = lines;
      this.obey();
      const { objects } = await askJson<{ objects: { object: number; name: string }[] }>("objects");
      for (const { object, name } of objects) if (name) this.names.set(object, name);
      this.redraw();
    });
  }
  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }
  private redraw(): void {
    ++this.revision;
    this.requestUpdate();
  }
  // A call or an object that was chosen elsewhere.
  private obey(): void {
    const call = selection.number("call");
    const object = selection.number("object");
    const what = selection.place.call !== undefined ? `call ${call}` : selection.place.object !== undefined && selection.view === "calls" ? `object ${object}` : selection.place.text ? `text ${selection.place.text}` : "";
    if (!what || what === this.seen || this.total === undefined) return;
    this.seen = what;
    if (selection.place.call === undefined) {
      this.filter = selection.place.object === undefined ? { text: selection.place.text! } : { object: String(object) };
      void this.guard(() => this.search());
    } else if (call !== undefined && this.line(this.chosen)?.number !== call) {
      void this.guard(() => this.find(call));
    }
  }
  private async find(number: number): Promise<void> {
    this.filtered = undefined;
    const { line } = await askJson<{ line: number }>("line", { number });
    if (this.total === undefined || line >= this.total) return;
    this.chosen = line;
    this.wanted = line;
    this.requestUpdate();
  }
  protected override updated(): void {
    if (this.wanted < 0) return;
    const row = this.wanted;
    this.wanted = -1;
    const rows = this.renderRoot.querySelector<Rows>("cairn-rows");
    void rows?.updateComplete.then(() => rows.show(row));
  }

  private line(row: number): Line | undefined {
    if (row < 0) return undefined;
    if (this.filtered) return this.filtered[row];
    const block = Math.floor(row / blockLines);
    const lines = this.blocks.get(block);
    if (!lines) {
      this.load();
      return undefined;
    }
    return lines[row % blockLines];
  }
  // The blocks in sight, nearest first; what has been scrolled past is not asked for any more.
  private load(): void {
    const rows = this.renderRoot.querySelector<Rows>("cairn-rows");
    if (!rows || this.total === undefined) return;
    const first = Math.floor(rows.firstInSight / blockLines), last = Math.floor((rows.firstInSight + rows.inSight) / blockLines);
    const wanted = [first, last, ...(this.chosen >= 0 ? [Math.floor(this.chosen / blockLines)] : [])];
    for (const block of wanted) {
      if (this.asked.size >= mostAsked) return;
      if (this.blocks.has(block) || this.asked.has(block) || block * blockLines >= this.total) continue;
      this.asked.add(block);
      void this.guard(async () => {
        try {
          const text = await ask("calls", { first: block * blockLines, count: blockLines });
          this.blocks.set(block, parse(text));
          if (this.blocks.size > mostBlocks) this.blocks.delete(this.blocks.keys().next().value!);
        } finally {
          this.asked.delete(block);
        }
        this.redraw();
        this.load();
      });
    }
  }
  private async search(): Promise<void> {
    this.chosen = -1;
    this.ended = false;
    this.failure = "";
    if (Object.values(this.filter).every((value) => value === "")) {
      this.filtered = undefined;
      this.redraw();
      return;
    }
    this.filtered = [];
    await this.more();
  }
  private async more(): Promise<void> {
    if (this.loading || this.ended || !this.filtered) return;
    this.loading = true;
    const filter = this.filter;
    let found: Line[] = [];
    try {
      const from = this.filtered.length ? this.filtered.at(-1)!.number + 1 : 1;
      const values = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
      found = parse(await ask("calls", { ...values, from, count: linesOfSearch }));
      if (filter !== this.filter || !this.filtered) return;
      this.ended = found.length === 0;
      this.filtered = [...this.filtered, ...found];
      this.redraw();
    } finally {
      this.loading = false;
    }
    // Few are nearly always the last; the answer to the next question knows.
    if (filter !== this.filter || (found.length < linesOfSearch && !this.ended)) await this.more();
  }
  private submit(event: Event): void {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    this.filter = Object.fromEntries(filters.map((name) => [name, String(data.get(name) ?? "").trim()]));
    void this.guard(() => this.search());
  }
  private moved(): void {
    const rows = this.renderRoot.querySelector<Rows>("cairn-rows")!;
    if (this.filtered && rows.firstInSight + 2 * rows.inSight > this.filtered.length) void this.guard(() => this.more());
    this.load();
  }
  private choose(event: CustomEvent<number>): void {
    this.chosen = event.detail;
    const line = this.line(event.detail);
    if (line?.kind !== "call") return;
    this.seen = `call ${line.number}`;
    selection.choose({ view: "calls", call: String(line.number) });
  }

  private objectOf(line: Line): string {
    const name = line.object !== undefined ? this.names.get(line.object) : undefined;
    return `${line.object_text ?? ""}${name && !line.object_text?.includes('"') ? ` "${visible(name, 60)}"` : ""}`;
  }
  private draw(row: number): TemplateResult {
    const line = this.line(row);
    if (!line) return html`<span class="quiet">…</span>`;
    const number = grouped(line.number).padStart(11);
    const state = line.state;
    const mark = html`<span class="mark ${state ? classes[state] : ""}">${state ? marks[state] : "   "}</span>`;
    if (line.kind !== "call") {
      const { kind, number: _, frame: __, ...rest } = line;
      return html`${mark} <span class="quiet">${number}  ---- ${kind}  ${inLine(rest)}</span>`;
    }
    const name = line.method?.split("::").at(-1);
    return html`${mark} ${number}  <span class="quiet">t${line.thread}</span>  <span class="isolate">${this.objectOf(line)}</span>  <b>${name}</b>(${inLine(line.arguments, 240).slice(1, -1)})${
      line.returned === false ? html`<span class="in-flight">  -- never returned</span>` : line.result ? html` <span class="quiet">= ${inLine(line.result, 80)}</span>` : nothing}`;
  }
  override render() {
    if (this.total === undefined) return html`<p>${this.failure ? visible(this.failure) : "The calls are counted …"}</p>`;
    if (!this.total) return empty("The trace has no calls", "The program ended, or was ended, before it called Direct3D 12. Capture it for longer:", "cairn run --capture -- ./program");
    const line = this.line(this.chosen);
    return html`<form @submit=${this.submit} role="search">${filters.map((name) => html`<label>${name} <input name=${name} .value=${this.filter[name] ?? ""}></label>`)}
        <button>Filter</button><button type="button" @click=${() => { this.filter = {}; void this.guard(() => this.search()); }}>All</button>
        <span class="quiet" aria-live="polite">${this.filtered ? `${grouped(this.filtered.length)}${this.ended ? "" : " or more"} of ` : ""}${grouped(this.total)} lines</span>
        ${this.failure ? html`<span class="wrong" role="alert">${visible(this.failure)}</span>` : nothing}</form>
      <cairn-rows code label="Calls" .count=${this.filtered?.length ?? this.total} .chosen=${this.chosen} .revision=${this.revision} .draw=${(row: number) => this.draw(row)}
        @choose=${this.choose} @moved=${this.moved}></cairn-rows>
      <div class="one" tabindex="0" role="region" aria-label="The chosen call">${!line ? html`<span class="quiet">Nothing chosen</span>` : html`
        <b>${line.method ?? line.kind}</b> <span class="isolate">${line.object_text ? `of ${this.objectOf(line)}` : ""}</span> <span class="quiet">call ${grouped(line.number)}, frame ${grouped(line.frame)}${line.thread === undefined ? "" : `, thread ${line.thread}`}</span>
        ${shows.test(line.method ?? "") ? html`<a href=${linkTo({ view: "state", call: String(line.number) })}>state and images here</a>` : nothing}
        ${line.problem ? html`<p class="wrong">${visible(line.problem)}</p>` : nothing}
        ${line.kind === "call" ? html`${tree(line.arguments)}${line.result ? html`<h2>Result</h2>${tree(line.result)}` : nothing}` : tree(line)}`}</div>`;
  }
}
function parse(text: string): Line[] {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Line);
}
customElements.define("cairn-calls", Calls);
