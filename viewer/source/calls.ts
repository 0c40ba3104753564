// SPDX-License-Identifier: Apache-2.0
//
// The calls of a trace: all of them by their place in the list, with events as groups that fold, or those that a filter
// leaves, as far as one looks.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { empty } from "./empty.js";
import { iconOf } from "./icons.js";
import "./minimap.js";
import { Folding, Objects, type Outline, type TracedObject } from "./outline.js";
import "./rows.js";
import type { Rows } from "./rows.js";
import { FollowsSelection, linkTo, selection } from "./selection.js";
import { ask, askJson } from "./server.js";
import { classes, inFlight, marks, type State } from "./states.js";
import { shared } from "./style.js";
import { inLine, tree, treeStyle } from "./value.js";
import { count, grouped, visible } from "./words.js";

// By docs/formats/calls.schema.json.
interface Line {
  kind: string; number: number; frame: number; thread?: number; object?: number; object_text?: string; method?: string; arguments?: unknown; annotation?: string; result?: unknown;
  returned?: boolean; problem?: string; state?: State; [key: string]: unknown;
}
const blockLines = 256;
const mostBlocks = 64;
const mostAsked = 2;
const linesOfSearch = 500;
const deepest = 12;  // groups further in are not indented more
// Matches functions that record into a list, or submit it to the GPU.
const shows = /CommandList\d*::|::ExecuteCommandLists$|::Present1?$/;
const filters = ["function", "object", "thread", "frame", "text"] as const;

export class Calls extends LitElement {
  static override properties = { total: { state: true }, outline: { state: true }, failure: { state: true }, chosen: { state: true }, filtered: { state: true } };
  declare total: number | undefined;   // lines; undefined while they are counted
  declare outline: Outline | undefined;
  declare failure: string;
  declare chosen: number;              // a line of the list, or of those in `filtered`; -1: none
  declare filtered: Line[] | undefined;
  private folding = new Folding(0, []);
  private objects = new Objects([]);
  private blocks = new Map<number, Line[]>();  // the last one used stands last
  private asked = new Set<number>();
  private filter: Record<string, string> = {};
  private ended = false;               // there are no more lines than those in `filtered`
  private loading = false;
  private revision = 0;
  private wanted = -1;                 // the number of a call that is to be brought into sight
  private seen = "";                   // the selection that was obeyed

  static override styles = [shared, treeStyle, css`
    :host { display: grid; grid-template: auto minmax(0, 3fr) minmax(0, 2fr) / minmax(0, 1fr) auto; height: 100%; gap: var(--s2); }
    .head, .one { grid-column: 1 / -1; }
    .alone { grid-column: 1 / -1; }
    .jumps { display: flex; gap: var(--s1) var(--s4); flex-wrap: wrap; align-items: center; margin-top: var(--s2); }
    .jumps > span { white-space: nowrap; }
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
      this.outline = await askJson<Outline>("outline");
      this.folding = new Folding(lines, this.outline.groups);
      this.obey();
      this.objects = new Objects((await askJson<{ objects: TracedObject[] }>("objects")).objects);
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
    if (!what || what === this.seen || this.outline === undefined) return;
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
    this.folding.fold(this.folding.around(line), false);
    this.chosen = line;
    this.wanted = line;
    this.redraw();
  }
  // The next one of these calls, or the one before; from the last one on to the first.
  private jump(numbers: number[], step: 1 | -1, isCall = true): void {
    const now = this.line(this.chosen)?.number ?? this.line(this.lineOf(this.rowsIn?.firstInSight ?? 0))?.number ?? 0;
    const at = numbers.indexOf(now);
    // Suspects stand by likeliness, the others by number.
    const beyond = numbers === this.outline?.suspects ? -1 : step > 0 ? numbers.findIndex((number) => number > now) : numbers.filter((number) => number < now).length - 1;
    const next = at >= 0 ? numbers.at((at + step) % numbers.length)! : numbers.at(beyond >= 0 ? beyond : step > 0 ? 0 : -1)!;
    if (isCall) {
      this.seen = `call ${next}`;
      selection.choose({ view: "calls", call: String(next) });
    }
    void this.guard(() => this.find(next));
  }
  private foldAll(folded: boolean): void {
    this.folding.foldAll(folded);
    if (this.chosen >= 0) this.chosen = this.folding.lineOf(this.folding.rowOf(this.chosen));
    this.redraw();
  }
  private act({ detail: { index, key } }: CustomEvent<{ index: number; key: string }>): void {
    if (this.filtered) return;
    const line = this.folding.lineOf(index), group = this.folding.groupAt(line), outer = this.folding.around(line)[0];
    if (group >= 0 && (key === "Enter" || key === " " || (key === "ArrowLeft") !== this.folding.isFolded(group))) this.twist(group);
    else if (key === "ArrowLeft" && outer !== undefined) this.chooseLine((this.wanted = this.folding.groups[outer]!.first));
  }
  private twist(group: number): void {
    this.folding.fold([group], !this.folding.isFolded(group));
    const { first, last } = this.folding.groups[group]!;
    if (this.chosen > first && this.chosen <= last) this.chosen = first;
    this.redraw();
  }

  private get rowsIn(): Rows | null {
    return this.renderRoot.querySelector<Rows>("cairn-rows");
  }
  private lineOf(row: number): number {
    return this.filtered ? row : this.folding.lineOf(row);
  }
  private rowOf(line: number): number {
    return this.filtered || line < 0 ? line : this.folding.rowOf(line);
  }
  protected override updated(): void {
    if (this.wanted < 0) return;
    const row = this.rowOf(this.wanted), rows = this.rowsIn;
    this.wanted = -1;
    void rows?.updateComplete.then(() => rows.show(row));
  }

  private line(line: number): Line | undefined {
    if (line < 0) return undefined;
    if (this.filtered) return this.filtered[line];
    const lines = this.blocks.get(Math.floor(line / blockLines));
    if (!lines) {
      this.load();
      return undefined;
    }
    return lines[line % blockLines];
  }
  // The blocks in sight; what has been scrolled past is not asked for any more. A folded group is drawn without its lines.
  private load(): void {
    const rows = this.rowsIn;
    if (!rows || this.total === undefined || this.filtered) return;
    const wanted = new Set<number>();
    if (this.chosen >= 0) wanted.add(Math.floor(this.chosen / blockLines));
    for (let row = rows.firstInSight; row < Math.min(rows.count, rows.firstInSight + rows.inSight); ++row) {
      const line = this.folding.lineOf(row);
      if (this.folding.groupAt(line) < 0) wanted.add(Math.floor(line / blockLines));
    }
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
    const rows = this.rowsIn!;
    if (this.filtered && rows.firstInSight + 2 * rows.inSight > this.filtered.length) void this.guard(() => this.more());
    this.load();
    this.requestUpdate();
  }
  private chooseLine(place: number): void {
    this.chosen = place;
    const line = this.line(place), group = this.filtered ? -1 : this.folding.groupAt(place);
    const call = line ? (line.kind === "call" ? line.number : undefined) : this.folding.groups[group]?.call;
    if (call === undefined) return;
    this.seen = `call ${call}`;
    selection.choose({ view: "calls", call: String(call) });
  }

  // By its name first; the number tells those of one name apart.
  private objectOf(line: Line): TemplateResult {
    const title = line.object === undefined ? undefined : this.objects.title(line.object);
    return html`<span class="isolate">${title === undefined ? line.object_text ?? "" : html`${visible(title, 60)} <span class="id">#${line.object}</span>`}</span>`;
  }
  private group(index: number, line: Line | undefined): TemplateResult {
    const { name, colour, work, first, last, in_flight: begun, thread, call } = this.folding.groups[index]!;
    const folded = this.folding.isFolded(index);
    return html`<span class="call"><span><span class="mark in-flight">${begun ? marks[inFlight] : "   "}</span> ${grouped(call).padStart(11)}  <span class="quiet">t${thread}</span></span>
      <span .style=${this.indent(first, thread)}><span class="twist" title=${folded ? "unfold" : "fold"} @click=${(event: Event) => { event.stopPropagation(); this.twist(index); }}>${folded ? "▸" : "▾"}</span>${colour ? html`<span class="swatch" .style=${`background: ${colour}`} title="the colour that the program gave this event"></span>` : nothing}<b class="isolate">${visible(name, 120) || "(event without a name)"}</b></span>
      <span class="quiet">${line ? html`${this.objectOf(line)}, ` : nothing}${count(last - first - 1, "line")}${work ? `, ${grouped(work)} of them work` : ""}${begun ? html`, <span class="in-flight">some ${inFlight}</span>` : nothing}</span></span>`;
  }
  private indent(line: number, thread: number | undefined): string {
    const levels = this.filtered ? 0 : this.folding.around(line).filter((each) => thread === undefined || this.folding.groups[each]!.thread === thread).length;
    return `padding-left: ${Math.min(levels, deepest)}rem`;
  }
  private draw(row: number): TemplateResult {
    const place = this.lineOf(row), group = this.filtered ? -1 : this.folding.groupAt(place);
    const line = group >= 0 ? this.blocks.get(Math.floor(place / blockLines))?.[place % blockLines] : this.line(place);
    if (group >= 0) return this.group(group, line);
    if (!line) return html`<span class="quiet">…</span>`;
    const number = grouped(line.number).padStart(11);
    const state = line.state;
    const mark = html`<span class="mark ${state ? classes[state] : ""}">${state ? marks[state] : "   "}</span>`;
    if (line.kind !== "call") {
      const { kind, number: _, frame: __, ...rest } = line;
      return html`${mark} <span class="quiet">${number}  ---- ${kind}  ${inLine(this.objects.named(rest, line.number))}</span>`;
    }
    const name = line.method?.split("::").at(-1), failed = isFailure(line.result);
    return html`<span class="call"><span>${mark} ${number}  <span class="quiet">t${line.thread}</span></span>
      <span .style=${this.indent(place, line.thread)} class=${name === "EndEvent" ? "quiet" : ""}><span class="kind">${iconOf(line.method?.split("::")[0] ?? "")}</span> ${this.objectOf(line)}  <b>${name}</b>${line.annotation ? html` <span class="isolate">${visible(line.annotation, 120)}</span>` : nothing}</span>
      <span>(${inLine(this.objects.named(line.arguments, line.number), 240).slice(1, -1)})${
      line.returned === false ? html`<span class="in-flight">  -- never returned</span>` : line.result ? html` <span class=${failed ? "wrong" : "quiet"}>= ${failed ? "! " : ""}${this.returned(line)}</span>` : nothing}</span></span>`;
  }
  // The value that the call returned, and what it gave out by parameters.
  private returned({ result, number }: Line): string {
    const { result: value, ...given } = this.objects.named(result, number) as Record<string, unknown>;
    return [...(value === undefined ? [] : [inLine(value, 80)]), ...(Object.keys(given).length ? [inLine(given, 80).slice(1, -1)] : [])].join(", ");
  }
  private jumps({ suspects, in_flight: begun, failed, unreturned, frames }: Outline) {
    const kinds: [string, number, number[], string, boolean][] = [
      ["suspect", suspects.length, suspects, "suspects", true], ["call in flight", begun.count, begun.numbers, "calls in flight", true],
      ["failed call", failed.count, failed.numbers, "failed calls", true], ["call that never returned", unreturned.count, unreturned.numbers, "calls that never returned", true],
      ["end of a frame", frames.count, frames.numbers, "ends of frames", false]];
    return html`<div class="jumps" role="group" aria-label="Jump to">${kinds.filter(([, many]) => many).map(([one, many, numbers, words, isCall]) => html`<span>
        <button class="plain" aria-label=${`previous ${one}`} title=${`previous ${one}`} @click=${() => this.jump(numbers, -1, isCall)}>‹</button>${count(many, one, words)}<button class="plain" aria-label=${`next ${one}`}
          title=${`next ${one}${many > numbers.length ? `; of the first ${grouped(numbers.length)}` : ""}`} @click=${() => this.jump(numbers, 1, isCall)}>›</button></span>`)}
      ${this.folding.groups.length && !this.filtered ? html`<span><button @click=${() => this.foldAll(true)}>Fold events</button> <button @click=${() => this.foldAll(false)}>Unfold</button></span>` : nothing}
      ${this.outline!.groups_left_out ? html`<span class="quiet">${count(this.outline!.groups_left_out, "event")} without a group: they cross others, or are too many</span>` : nothing}</div>`;
  }
  private one(line: Line | undefined) {
    if (!line) return html`<span class="quiet">Nothing chosen</span>`;
    return html`<b>${line.method ?? line.kind}</b> ${line.object === undefined ? nothing : html`of ${this.objectOf(line)}`} <span class="quiet">call ${grouped(line.number)}, frame ${grouped(line.frame)}${line.thread === undefined ? "" : `, thread ${line.thread}`}</span>
      ${shows.test(line.method ?? "") ? html`<a href=${linkTo({ view: "state", call: String(line.number) })}>state and images here</a>` : nothing}
      ${line.annotation ? html`<p class="isolate">${visible(line.annotation, 4096)}</p>` : nothing}
      ${line.problem ? html`<p class="wrong">${visible(line.problem)}</p>` : nothing}
      ${line.kind === "call" ? html`${tree(this.objects.named(line.arguments, line.number))}${line.result ? html`<h2>Result</h2>${tree(this.objects.named(line.result, line.number))}` : nothing}` : tree(line)}`;
  }
  override render() {
    if (this.total === undefined || !this.outline) return html`<p>${this.failure ? visible(this.failure) : "Counting the calls …"}</p>`;
    if (!this.total) return empty("The trace has no calls", "The program ended, or was ended, before it called Direct3D 12. Capture it for longer:", "cairn run --capture -- ./program");
    const rows = this.filtered?.length ?? this.folding.rows, inSight = this.rowsIn;
    return html`<div class="head"><form @submit=${this.submit} role="search">${filters.map((name) => html`<label>${name} <input name=${name} .value=${this.filter[name] ?? ""}></label>`)}
        <button>Filter</button><button type="button" @click=${() => { this.filter = {}; void this.guard(() => this.search()); }}>All</button>
        <span class="quiet" aria-live="polite">${this.filtered ? `${grouped(this.filtered.length)}${this.ended ? "" : " or more"} of ` : ""}${grouped(this.total)} lines</span>
        ${this.failure ? html`<span class="wrong" role="alert">${visible(this.failure)}</span>` : nothing}</form>
        ${this.jumps(this.outline)}</div>
      <cairn-rows code tree class=${this.filtered ? "alone" : ""} label="Calls" .count=${rows} .chosen=${this.rowOf(this.chosen)} .revision=${this.revision} .draw=${(row: number) => this.draw(row)} .describe=${(row: number) => this.describe(row)}
        @choose=${({ detail }: CustomEvent<number>) => this.chooseLine(this.lineOf(detail))} @act=${this.act} @moved=${this.moved}></cairn-rows>
      ${this.filtered ? nothing : html`<cairn-minimap .outline=${this.outline} .lines=${this.total} .first=${this.folding.lineOf(inSight?.firstInSight ?? 0)}
        .last=${this.folding.lineOf(Math.max(0, Math.min(rows, (inSight?.firstInSight ?? 0) + (inSight?.inSight ?? 1)) - 1))}
        @go=${({ detail }: CustomEvent<number>) => this.rowsIn?.moveTo(this.folding.rowOf(detail) - Math.floor(this.rowsIn.inSight / 2))}></cairn-minimap>`}
      <div class="one" tabindex="0" role="region" aria-label="The chosen call">${this.one(this.line(this.chosen))}</div>`;
  }
  private describe(row: number): { level: number; expanded?: boolean } {
    if (this.filtered) return { level: 1 };
    const line = this.folding.lineOf(row), group = this.folding.groupAt(line);
    return { level: this.folding.around(line).length + 1, ...(group >= 0 ? { expanded: !this.folding.isFolded(group) } : {}) };
  }
}
// By the JSON an HRESULT is its name, or a negative number.
function isFailure(result: unknown): boolean {
  const value = (result as { result?: unknown } | null)?.result;
  return typeof value === "number" ? value < 0 : typeof value === "string" && /^(E|DXGI_ERROR|D3D12_ERROR)_|^0x[89a-f][0-9a-f]{7}$/i.test(value);
}
function parse(text: string): Line[] {
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line) as Line);
}
customElements.define("cairn-calls", Calls);
