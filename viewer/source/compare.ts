// SPDX-License-Identifier: Apache-2.0
//
// The trace against a second one: the calls that only one of them has.
import { LitElement, css, html, nothing } from "lit";
import { empty } from "./empty.js";
import { linkTo } from "./selection.js";
import { askJson } from "./server.js";
import { shared } from "./style.js";
import { count, grouped, visible } from "./words.js";

// By docs/formats/diff.schema.json.
interface Difference { frame: number; thread: number; in: "first" | "second"; call: number; text: string; }
interface Answer {
  frames: [number, number]; calls: [number, number]; different_calls: number; compared_images: number; different_images: number[];
  complete: boolean; differences: Difference[];
}
const shortText = 240;

export class Compare extends LitElement {
  static override properties = { file: {}, other: {}, answer: { state: true }, failure: { state: true } };
  declare file: string;
  declare other: string;
  declare answer: Answer | undefined;
  declare failure: string;
  static override styles = [shared, css`
    .differences { display: grid; grid-template-columns: max-content max-content minmax(0, 1fr); gap: var(--s1) var(--s4); font-family: var(--mono); font-size: 0.93em; }
    .differences h3 { grid-column: 1 / -1; font: inherit; font-weight: 600; margin: var(--s3) 0 var(--s1); }
    .differences > span { overflow-wrap: anywhere; }
    .number { text-align: right; }
    details[open] > summary > span { display: none; }
  `];
  constructor() {
    super();
    this.failure = this.file = this.other = "";
  }
  protected override firstUpdated(): void {
    if (this.other) askJson<Answer>("compare").then((answer) => (this.answer = answer), (error: Error) => (this.failure = error.message));
  }
  private difference(each: Difference, before: Difference | undefined) {
    const first = each.in === "first";
    const head = `${first ? "−" : "+"} ${first ? this.file : this.other}`;
    return html`${each.frame !== before?.frame || each.thread !== before.thread ? html`<h3>frame ${grouped(each.frame)}, thread ${each.thread}</h3>` : nothing}
      <span class="difference ${first ? "wrong" : "completed"}" title=${visible(head)}>${first ? "−" : "+"}</span>
      <span class="number">${first ? html`<a href=${linkTo({ view: "calls", call: String(each.call) })}>${grouped(each.call)}</a>` : grouped(each.call)}</span>
      <span class="isolate">${each.text.length <= shortText ? visible(each.text, shortText) : html`<details><summary><span>${visible(each.text, shortText)}</span></summary>${visible(each.text, 20_000)}</details>`}</span>`;
  }
  private differing({ frames, calls, different_calls: different, compared_images: compared, different_images: images, complete, differences }: Answer) {
    const hashes = `of ${count(compared, "frame")} with a recorded hash in both ${images.length ? grouped(images.length) : "none"} looks different`;
    return html`<p>${different ? `${count(different, "call")} only in one of ${grouped(calls[0])} and ${grouped(calls[1])}` : `All ${grouped(calls[0])} calls are the same`}, in ${grouped(frames[0])} and ${count(frames[1], "frame")}; ${hashes}.</p>
      <div class="differences">${differences.map((each, index) => this.difference(each, differences[index - 1]))}</div>
      ${complete ? nothing : html`<p class="quiet">The first ${grouped(differences.length)}; <code>cairn diff --limit 0</code> shows all.</p>`}`;
  }
  override render() {
    if (!this.other) return empty("No second trace is given", "Compare shows the calls that only one of two traces has, and how many frames look different: a run that works beside one that fails.", `cairn view ${this.file} OTHER.cairn`);
    return html`<h2><span class="wrong">− ${visible(this.file)}</span> &nbsp; <span class="completed">+ ${visible(this.other)}</span></h2>${
      this.failure ? html`<p class="wrong">${visible(this.failure, 2000)}</p>` : this.answer ? this.differing(this.answer) : html`<p>The traces are compared …</p>`}`;
  }
}
customElements.define("cairn-compare", Compare);
