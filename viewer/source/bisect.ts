// SPDX-License-Identifier: Apache-2.0
//
// The search for the call without which the trace does not fail: its progress, and its answer.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { linkTo } from "./selection.js";
import { ask, askJson } from "./server.js";
import { shared } from "./style.js";
import { tree, treeStyle } from "./value.js";
import { count, grouped, visible } from "./words.js";

// By docs/formats/bisect.schema.json.
interface Culprit {
  kind: "call" | "list" | "submission"; call?: number; text?: string; submission: number; list_index: number; frame: number;
  queue: string; list: string; pipeline?: string; path: string[];
}
interface Answer {
  found: boolean; reason: string; failure: string; submission: number; failed: number; asked: number; device: string; driver: string;
  library: string; left_out: string; refused: string; culprits: Culprit[]; without: string; probes: number; seconds: number;
}
const lookAgainMs = 500;
const without: Record<string, string> = { clean: "the rest of the trace plays without failing", fails: "the rest of the trace fails all the same: there is another cause", unknown: "whether the rest of the trace fails was not found out" };

export class Bisect extends LitElement {
  static override properties = { told: { state: true }, failure: { state: true } };
  declare told: { running: boolean; progress: string; answer: Answer | null } | undefined;
  declare failure: string;
  static override styles = [shared, treeStyle, css`
    .answer { border-left: 5px solid var(--busy); background: var(--raised); padding: var(--s3) var(--s4); border-radius: 0 var(--round) var(--round) 0; margin: var(--s3) 0; max-width: 140ch; overflow-wrap: anywhere; }
    .answer p { font-size: var(--large); max-width: none; }
    progress { width: min(40rem, 100%); height: 0.6rem; accent-color: var(--link); display: block; margin-top: var(--s3); }
    details { margin-top: var(--s4); }
  `];
  private timer = 0;
  constructor() {
    super();
    this.failure = "";
  }
  override connectedCallback(): void {
    super.connectedCallback();
    void this.look();
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }
  private async look(start = false): Promise<void> {
    try {
      if (start) await ask("bisect", {}, true);
      this.told = await askJson("bisect");
      if (this.told!.running) this.timer = window.setTimeout(() => void this.look(), lookAgainMs);
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }
  private async stop(): Promise<void> {
    try {
      await ask("stop-bisect", {}, true);
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }
  private progress(): TemplateResult {
    const progress = this.told!.progress.trim();
    const [, done, expected] = /(\d+) of about (\d+) probes/.exec(progress) ?? [];
    return html`<progress max=${expected ?? nothing} value=${done ?? nothing} aria-label="Probes made"></progress>
      <p class="progress" aria-live="polite">${visible(progress.replace(/^\[[#.]*\] /, ""), 2000) || "reading the trace …"}</p>
      <button class="stop" @click=${this.stop}>Stop</button>`;
  }
  private culprit(culprit: Culprit): TemplateResult {
    const { call, path } = culprit;
    const submission = html`<a href=${linkTo({ view: "calls", call: String(culprit.submission) })}>call ${grouped(culprit.submission)}</a>`;
    return html`<div class="answer"><p>${call !== undefined ? html`<a href=${linkTo({ view: "calls", call: String(call) })}>Call ${grouped(call)}</a> <span class="isolate">${visible(culprit.text ?? "", 1000)}</span>`
        : culprit.kind === "list" ? html`Command list <span class="isolate">${visible(culprit.list)}</span>` : html`All lists of ${submission}`}</p>
      <div class="isolate">frame ${grouped(culprit.frame)}: ${[culprit.list, ...path].map((each) => visible(each)).join(" > ")}</div>
      ${culprit.pipeline ? html`<div class="isolate">${visible(culprit.pipeline)}</div>` : nothing}
      <div>list ${culprit.list_index + 1} of ${submission}, on <span class="isolate">${visible(culprit.queue)}</span></div>
      ${call !== undefined ? html`<div><a href=${linkTo({ view: "state", call: String(call) })}>state and images there</a></div>` : nothing}</div>`;
  }
  private answer(answer: Answer): TemplateResult {
    return html`${answer.found ? html`<h2>It fails with ${answer.culprits.length === 1 ? "this" : `these ${answer.culprits.length}`}; ${without[answer.without] ?? visible(answer.without)}</h2>${answer.culprits.map((each) => this.culprit(each))}`
        : html`<h2>Nothing was found</h2><p class="wrong">${visible(answer.reason, 2000)}</p>`}
      <p>${answer.asked ? `The whole trace failed ${answer.failed} of ${count(answer.asked, "time")}${answer.failure ? ` (${answer.failure})` : ""}. ` : ""}${count(answer.probes, "probe")} in ${grouped(Math.ceil(answer.seconds))} s, on ${visible(answer.device || "a device that is not named")}, ${visible(answer.driver)}, with ${visible(answer.library)}.</p>
      ${[answer.refused, answer.left_out].filter(Boolean).map((each) => html`<p class="wrong">! ${visible(each, 2000)}</p>`)}
      <details><summary>all of the answer</summary>${tree(answer)}</details>`;
  }
  override render() {
    const running = this.told?.running ?? true;
    return html`<p class="quiet">Plays the trace many times, each time without some of its calls, and finds the call without which it does not fail. Writes no file.</p>
      <button ?disabled=${running} @click=${() => this.look(true)}>${this.told?.running ? "searching …" : this.told?.answer ? "Search again" : "Search"}</button>
      ${this.told?.running ? this.progress() : nothing}
      ${this.failure ? html`<p class="wrong" role="alert">${visible(this.failure, 2000)}</p>` : nothing}
      ${this.told && !running ? (this.told.answer ? this.answer(this.told.answer) : this.told.progress ? html`<p class="told" role="status">${visible(this.told.progress.trim(), 2000)}</p>` : nothing) : nothing}`;
  }
}
customElements.define("cairn-bisect", Bisect);
