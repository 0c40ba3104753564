// SPDX-License-Identifier: Apache-2.0
//
// The trace against a second one: frames and calls that belong together beside each other, and what only one has.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import "./compare_images.js";
import { brief, parts, rowsOf, signOf, type Answer, type Difference, type Frames, type Row } from "./compare_rows.js";
import { empty } from "./empty.js";
import { Objects, type TracedObject } from "./outline.js";
import "./rows.js";
import type { Rows } from "./rows.js";
import { linkTo } from "./selection.js";
import { ask, askJson } from "./server.js";
import { shared } from "./style.js";
import { inLine } from "./value.js";
import { count, grouped, visible } from "./words.js";

const mostCalls = 500;  // of an equal stretch that unfolds
const shownBefore = 40;
const marked = { "−": "wrong", "+": "completed", "≠": "changed" };

// A row, or a call of a stretch that was unfolded.
type Shown = Row | { kind: "line"; number: number; text: string } | { kind: "more"; count: number; first: number };

export class Compare extends LitElement {
  static override properties = { file: {}, other: {}, answer: { state: true }, failure: { state: true }, chosen: { state: true } };
  declare file: string;
  declare other: string;
  declare answer: Answer | undefined;
  declare failure: string;
  declare chosen: Shown | undefined;
  private rows: Row[] = [];
  private shown: Shown[] = [];
  private unfolded = new Map<Row, Shown[]>();
  private objects: Objects | undefined;
  private revision = 0;
  static override styles = [shared, css`
    :host { display: grid; grid-template: auto minmax(0, 3fr) minmax(0, 2fr) / minmax(0, 1fr); height: 100%; gap: var(--s2); }
    cairn-rows { border: 1px solid var(--line); border-radius: var(--round); }
    .one { overflow: auto; border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2) var(--s3); }
    .bar { display: flex; gap: var(--s1) var(--s4); flex-wrap: wrap; align-items: center; }
    .text { font-family: var(--mono); font-size: 0.93em; overflow-wrap: anywhere; margin: var(--s2) 0; max-width: none; }
    .text mark { background: var(--found); color: inherit; font-weight: 600; }
    .changed { color: var(--warn); }
  `];
  constructor() {
    super();
    this.failure = this.file = this.other = "";
  }
  protected override firstUpdated(): void {
    if (this.other) void this.guard(async () => {
      const answer = await askJson<Answer>("compare");
      this.rows = rowsOf(answer);
      this.answer = answer;
      this.spread();
    });
  }
  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }
  private spread(): void {
    this.shown = this.rows.flatMap((row) => [row, ...(this.unfolded.get(row) ?? [])]);
    ++this.revision;
    this.requestUpdate();
  }
  // The calls of a stretch that both have, as the first has them.
  private async unfold(row: Shown): Promise<void> {
    if (row.kind !== "equal") return;
    if (this.unfolded.delete(row)) return this.spread();
    this.objects ??= new Objects((await askJson<{ objects: TracedObject[] }>("objects")).objects);
    const text = await ask("calls", { from: row.first, thread: row.thread, count: mostCalls });
    const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter(({ kind, number }) => kind === "call" && number <= row.last);
    const calls: Shown[] = lines.map(({ number, object, method, arguments: given }) => ({ kind: "line", number, text: `${this.objects!.title(object) ?? `#${object}`}  ${method.split("::").at(-1)}(${inLine(this.objects!.named(given, number), 400).slice(1, -1)})` }));
    if (lines.length && lines.at(-1).number < row.last && row.count > lines.length) calls.push({ kind: "more", count: row.count - lines.length, first: lines.at(-1).number });
    this.unfolded.set(row, calls);
    this.spread();
  }
  private act({ detail: { index, key } }: CustomEvent<{ index: number; key: string }>): void {
    const row = this.shown[index];
    if (row?.kind === "equal" && (key === "Enter" || key === " " || (key === "ArrowRight") !== this.unfolded.has(row))) void this.guard(() => this.unfold(row));
  }
  // To the next row that is a difference.
  private jump(step: 1 | -1): void {
    const from = this.chosen ? this.shown.indexOf(this.chosen) : step > 0 ? -1 : this.shown.length;
    for (let index = from + step; index >= 0 && index < this.shown.length; index += step) {
      if (this.shown[index]!.kind !== "calls") continue;
      this.chosen = this.shown[index];
      const rows = this.renderRoot.querySelector<Rows>("cairn-rows");
      void rows?.updateComplete.then(() => rows.show(index));
      return;
    }
  }

  private frameWords([first, second]: Frames): string {
    if (first === null) return `frame ${grouped(second!)}, only in ${visible(this.other, 60)}`;
    if (second === null) return `frame ${grouped(first)}, only in ${visible(this.file, 60)}`;
    return first === second ? `frame ${grouped(first)}` : `frame ${grouped(first)} beside frame ${grouped(second)}`;
  }
  // A text with what differs marked; as much of the beginning as leaves that in sight.
  private cell(own: Difference | undefined, other: Difference | undefined, whole = false): TemplateResult | typeof nothing {
    if (!own) return nothing;
    const text = whole ? own.text : brief(own.text), most = whole ? 20_000 : 240;
    if (!other) return html`<span class="isolate">${visible(text, most)}</span>`;
    const { before, left, after } = parts(text, whole ? other.text : brief(other.text));
    const name = before.slice(0, before.indexOf("(") + 1);
    const begins = whole || before.length - name.length <= shownBefore ? before : `${name}… ${before.slice(-shownBefore)}`;
    return html`<span class="isolate">${visible(begins, most)}<mark>${visible(left, most)}</mark>${visible(after, most)}</span>`;
  }
  private draw(index: number): TemplateResult {
    const row = this.shown[index];
    if (!row) return html``;
    const stretch = (words: string) => html`<span class="quiet">   ${words}</span>`;
    switch (row.kind) {
      case "frame": return html`<span class="heading">${this.frameWords(row.frames)}</span>`;
      case "frames": return stretch(`= ${count(row.count, "frame")} with the same calls, from frame ${grouped(row.first)}${row.second === row.first ? "" : ` beside ${grouped(row.second)}`} on`);
      case "equal": return html`<span class="quiet"><span class="twist" @click=${(event: Event) => { event.stopPropagation(); void this.guard(() => this.unfold(row)); }}>${this.unfolded.has(row) ? "▾" : "▸"}</span> = ${count(row.count, "call")} that both make</span>`;
      case "line": return html`<span class="pair quiet"><span>=</span><span class="right">${grouped(row.number)}</span><span class="isolate">${visible(row.text, 400)}</span><span></span><span></span></span>`;
      case "more": return stretch(`… ${count(row.count, "more call")}, in Calls behind ${grouped(row.first)}`);
      case "calls": {
        const { left, right } = row, sign = signOf(row);
        return html`<span class="pair"><b class=${`difference ${marked[sign]}`}>${sign}</b><span class="right quiet">${left ? grouped(left.call) : ""}</span><span>${this.cell(left, right)}</span><span class="right quiet">${right ? grouped(right.call) : ""}</span><span>${this.cell(right, left)}</span></span>`;
      }
    }
  }
  private describe(index: number): { level: number; expanded?: boolean } {
    const row = this.shown[index]!;
    return { level: row.kind === "frame" || row.kind === "frames" ? 1 : row.kind === "line" || row.kind === "more" ? 3 : 2, ...(row.kind === "equal" ? { expanded: this.unfolded.has(row) } : {}) };
  }
  private one(): TemplateResult {
    const row = this.chosen;
    const frames = row && "frames" in row ? row.frames : undefined;
    const both: [number, number] = [frames?.[0] ?? this.answer!.first_frame, frames?.[1] ?? this.answer!.first_frame];
    const link = (call: number) => html`<a href=${linkTo({ view: "calls", call: String(call) })}>call ${grouped(call)}</a>`;
    return html`${row?.kind === "calls" ? html`<h3>${row.left && row.right ? "The same call with other arguments" : `Only in ${visible(row.left ? this.file : this.other, 120)}`}, ${this.frameWords(row.frames)}</h3>
        ${row.left ? html`<p class="text"><span class="wrong">−</span> ${link(row.left.call)}, thread ${row.left.thread}: ${this.cell(row.left, row.right, true)}</p>` : nothing}
        ${row.right ? html`<p class="text"><span class="completed">+</span> call ${grouped(row.right.call)}, thread ${row.right.thread}: ${this.cell(row.right, row.left, true)}</p>` : nothing}`
      : row?.kind === "line" ? html`<p class="text">= ${link(row.number)}: ${visible(row.text, 400)}</p>` : html`<p class="quiet">Nothing chosen</p>`}
      <cairn-compare-images .frames=${both}></cairn-compare-images>`;
  }
  private differing({ frames, calls, different_calls: different, compared_images: compared, different_images: images, complete, differences }: Answer) {
    const hashes = `of ${count(compared, "frame")} with a recorded hash in both ${images.length ? grouped(images.length) : "none"} looks different`;
    return html`<span>${different ? `${count(different, "call")} only in one of ${grouped(calls[0])} and ${grouped(calls[1])}` : `All ${grouped(calls[0])} calls are the same`}, in ${grouped(frames[0])} and ${count(frames[1], "frame")}; ${hashes}.</span>
      ${different ? html`<span><button class="plain" aria-label="previous difference" title="previous difference" @click=${() => this.jump(-1)}>‹</button>differences<button class="plain" aria-label="next difference" title="next difference" @click=${() => this.jump(1)}>›</button></span>` : nothing}
      ${complete ? nothing : html`<span class="quiet">The first ${grouped(differences.length)}; <code>cairn diff --align --limit 0</code> shows all.</span>`}`;
  }
  override render() {
    if (!this.other) return empty("No second trace is given", "Compare shows the calls that only one of two traces has, and how many frames look different: a run that works beside one that fails.", `cairn view ${this.file} OTHER.cairn`);
    return html`<div><h2><span class="wrong">− ${visible(this.file)}</span> &nbsp; <span class="completed">+ ${visible(this.other)}</span> &nbsp; <span class="changed">≠ other arguments</span></h2><div class="bar">${
      this.failure ? html`<p class="wrong">${visible(this.failure, 2000)}</p>` : this.answer ? this.differing(this.answer) : html`<p>Comparing the traces …</p>`}</div></div>
      ${this.answer ? html`<cairn-rows code tree label="Differences" .count=${this.shown.length} .chosen=${this.chosen ? this.shown.indexOf(this.chosen) : -1} .revision=${this.revision} .draw=${(index: number) => this.draw(index)}
          .describe=${(index: number) => this.describe(index)} @choose=${({ detail }: CustomEvent<number>) => (this.chosen = this.shown[detail])} @act=${this.act}></cairn-rows>
        <div class="one" tabindex="0" role="region" aria-label="The chosen difference">${this.one()}</div>` : nothing}`;
  }
}
customElements.define("cairn-compare", Compare);
