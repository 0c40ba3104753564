// SPDX-License-Identifier: Apache-2.0
//
// The help overlay: views, keys, marks, and how sure an answer can be.
import { LitElement, css, html, nothing } from "lit";
import type { View } from "./selection.js";
import { classes, completed, inFlight, marks, notStarted, unknown } from "./states.js";
import { shared } from "./style.js";

export const about: Record<View, string> = {
  verdict: "what failed, where, how sure that is, and what to do next",
  why: "the cause that cairn why found: the change that helps, and the place in the shader",
  timeline: "when queues got their work, how far they came, and who waits for whom",
  tree: "frames, command lists, scopes and work with their states; it opens at the culprit",
  calls: "all calls of the trace, with their arguments",
  state: "what was bound at a call, and what textures held then",
  memory: "whose memory an address is or was, and what lies around it",
  compare: "the calls in which two traces differ",
  bisect: "searches for the call without which the trace does not fail",
  facts: "every table of the report, row by row",
};
const keys: [string[], string][] = [
  [["1", "…", "9"], "the views, from left to right"],
  [["/"], "search names, calls, addresses and objects; ↑ ↓ and Enter choose, Escape leaves"],
  [["↑", "↓", "Page Up", "Page Down", "Home", "End"], "rows, once a list has the focus"],
  [["←", "→", "Enter"], "fold and unfold"],
  [["W", "S"], "Timeline: zoom in and out; also Ctrl and the wheel"],
  [["A", "D"], "Timeline: move left and right; also drag, or Shift and the wheel"],
  [["←", "→", "↑", "↓"], "Timeline: the next submission, the next queue"],
  [["F", "0"], "Timeline: zoom to what is chosen; show all of it"],
  [["?"], "this help; Escape closes it"],
];
const certainties: [string, string, string][] = [
  ["proven", "proven", "the file rules out all other work"],
  ["likely", "likely", "one suspect stands out from others"],
  ["guess", "one of 3", "these suspects cannot be told apart"],
  ["guess", "unknown", "the file does not tell what was running"],
];

export class Help extends LitElement {
  static override properties = { views: { attribute: false }, titles: { attribute: false } };
  declare views: readonly View[];
  declare titles: Record<View, string>;
  static override styles = [shared, css`
    dialog { color: var(--text); background: var(--ground); border: 1px solid var(--edge); border-radius: var(--round); width: min(64rem, 94vw); padding: var(--s6); }
    dialog::backdrop { background: color-mix(in srgb, var(--text) 40%, transparent); }
    .columns { columns: 26rem; column-gap: var(--s8); }
    section { break-inside: avoid; margin-bottom: var(--s4); }
    dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: var(--s1) var(--s4); margin: 0; }
    dt { max-width: 12rem; } dd { margin: 0; }
    .bar { display: flex; gap: var(--s2); justify-content: flex-end; }
  `];
  constructor() {
    super();
    this.views = [];
  }
  open(): void {
    this.renderRoot.querySelector("dialog")?.showModal();
  }
  private close(): void {
    this.renderRoot.querySelector("dialog")?.close();
  }
  override render() {
    const trace = this.views.includes("calls");
    return html`<dialog aria-label="Help"><div class="columns">
      <section><h2>Views</h2><dl>${this.views.map((view) => html`<dt>${this.titles[view]}</dt><dd>${about[view]}</dd>`)}</dl>
        ${trace ? nothing : html`<p class="quiet">Calls, State, Compare and Bisect need a capture and the file behind the page: <code>cairn run --capture -- ./program</code>, then <code>cairn view FILE</code>.</p>`}</section>
      <section><h2>Keys</h2><dl>${keys.map(([names, what]) => html`<dt>${names.map((name) => html`<kbd>${name}</kbd> `)}</dt><dd>${what}</dd>`)}</dl></section>
      <section><h2>States of work</h2><dl>${[completed, inFlight, notStarted, unknown].map((state) => html`<dt class="mark ${classes[state]}">${marks[state]}</dt><dd>${state}</dd>`)}</dl></section>
      <section><h2>How sure an answer is</h2><dl>${certainties.map(([kind, word, what]) => html`<dt><span class="badge ${kind}">${word}</span></dt><dd>${what}</dd>`)}</dl></section>
      <section><h2>Links</h2><p>The address of the page holds what is chosen: a link to it leads a colleague to the same place. ◐ turns dark and light.</p></section></div>
      <div class="bar"><button @click=${() => { this.close(); this.dispatchEvent(new CustomEvent("tour")); }}>Take the tour</button><button @click=${this.close}>Close</button></div></dialog>`;
  }
}
customElements.define("cairn-help", Help);
