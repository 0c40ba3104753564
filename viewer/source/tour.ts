// SPDX-License-Identifier: Apache-2.0
//
// Five steps through the views, for who opens a page for the first time: cairn view --sample begins with it.
import { LitElement, css, html } from "lit";
import type { Report } from "./report.js";
import { selection, type Place, type View } from "./selection.js";
import { shared } from "./style.js";

interface Step { view: View; title: string; text: string; }
const steps: Step[] = [
  { view: "verdict", title: "The answer", text: "The first lines say what failed, in which work, and how sure that is. The links below them lead along its path; Next has the commands that find out more." },
  { view: "timeline", title: "The GPU over time", text: "Each lane is a queue, each box a submission with its state. Arrows lead from a signal to its wait. W, A, S and D move." },
  { view: "tree", title: "Where in the frame", text: "The tree opens at the culprit. Work in flight comes first; completed work is folded." },
  { view: "calls", title: "Which call", text: "In a capture, each call has its arguments, and State shows what was bound there. Images plays the trace up to it." },
  { view: "memory", title: "Whose memory", text: "A faulting address stands between its neighbours, with when they lived. The search above finds names, calls and addresses from every view; ? shows all keys." },
];

export class Tour extends LitElement {
  static override properties = { report: { attribute: false }, views: { attribute: false }, at: { state: true } };
  declare report: Report | undefined;
  declare views: readonly View[];
  declare at: number;   // a step; -1: closed
  static override styles = [shared, css`
    :host { position: fixed; z-index: 3; right: var(--s6); bottom: var(--s6); }
    .tour { width: min(26rem, calc(100vw - 2 * var(--s6))); background: var(--ground); border: 2px solid var(--link); border-radius: var(--round); padding: var(--s4); box-shadow: 0 var(--s1) var(--s6) color-mix(in srgb, var(--text) 25%, transparent); }
    .bar { display: flex; gap: var(--s2); align-items: center; margin-top: var(--s3); }
    .bar span { margin-right: auto; }
    @media print { :host { display: none; } }
  `];
  constructor() {
    super();
    this.views = [];
    this.at = -1;
  }
  private get steps(): Step[] {
    return steps.map((step) => (this.views.includes(step.view) ? step : { ...step, view: this.views[0] ?? "verdict" }));
  }
  begin(): void {
    this.go(0);
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(".tour")?.focus());
  }
  private go(at: number): void {
    const step = this.steps[at];
    this.at = step ? at : -1;
    if (!step) return;
    const [first] = this.report?.data.verdict.suspects ?? [];
    const call = first?.scope == null ? undefined : this.report!.data.scopes[first.scope]?.call;
    const place: Place = first?.scope == null ? {} : { scope: String(first.scope), ...(step.view === "calls" && call !== undefined ? { call: String(call) } : {}) };
    selection.choose({ view: step.view, ...(step.view === "verdict" ? {} : place) });
  }
  private key(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    this.at = -1;
    event.stopPropagation();
  }
  override render() {
    const step = this.steps[this.at];
    if (!step) return html``;
    const last = this.at === steps.length - 1;
    return html`<div class="tour" role="dialog" aria-label="Tour" tabindex="-1" @keydown=${this.key}><h2>${step.title}</h2><p aria-live="polite">${step.text}</p>
      <div class="bar"><span class="quiet">${this.at + 1} of ${steps.length}</span>
        <button class="plain" @click=${() => (this.at = -1)}>Close</button>
        <button ?disabled=${this.at === 0} @click=${() => this.go(this.at - 1)}>Back</button><button @click=${() => this.go(last ? -1 : this.at + 1)}>${last ? "Done" : "Next"}</button></div></div>`;
  }
}
customElements.define("cairn-tour", Tour);
