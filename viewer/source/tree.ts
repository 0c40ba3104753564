// SPDX-License-Identifier: Apache-2.0
//
// Frames, lists and scopes, each with its state: 100,000 of them and more.
import { LitElement, css, html, nothing } from "lit";
import type { Report } from "./report.js";
import "./rows.js";
import type { Rows } from "./rows.js";
import { FollowsSelection, selection } from "./selection.js";
import { classes, completed, inFlight, marks, notStarted, unknown, type State } from "./states.js";
import { shared } from "./style.js";
import { count, grouped } from "./words.js";

type Level = "frame" | "execution" | "scope";
interface Node {
  level: Level;
  index: number;  // the number of the frame, or into the table
  depth: number;
  end: number;    // behind the last node below it
  open: boolean;
}

// Depth first. Lists stand by frames, in the order in which they are told.
export function nodesOf(report: Report): Node[] {
  const { executions, scopes } = report.data;
  const order = executions.map((_, index) => index).sort((a, b) => executions[a]!.frame - executions[b]!.frame || a - b);
  const nodes: Node[] = [];
  const put = (level: Level, index: number, depth: number, open: boolean) => nodes.push({ level, index, depth, end: 0, open });
  let frame = NaN;
  for (const index of order) {
    const execution = executions[index]!;
    if (execution.frame !== frame) put("frame", (frame = execution.frame), 0, true);
    put("execution", index, 1, execution.state !== completed);
    for (let scope = execution.first_scope; scope < execution.first_scope + execution.scope_count; ++scope) {
      put("scope", scope, 2 + scopes[scope]!.depth, scopes[scope]!.state !== completed);
    }
  }
  const open: number[] = [];
  nodes.forEach((node, place) => {
    while (open.length && nodes[open.at(-1)!]!.depth >= node.depth) nodes[open.pop()!]!.end = place;
    open.push(place);
  });
  for (const place of open) nodes[place]!.end = nodes.length;
  return nodes;
}

export class Tree extends LitElement {
  static override properties = { report: { attribute: false }, query: {}, unfinished: { state: true } };
  declare report: Report;
  declare query: string;
  declare unfinished: boolean;
  private nodes: Node[] = [];
  private shown: number[] = [];  // of nodes
  private revision = 0;
  private wanted = true;         // what is chosen is to be brought into sight

  static override styles = [shared, css`
    :host { display: flex; flex-direction: column; height: 100%; gap: 0.4rem; }
    .bar { display: flex; gap: 0.4rem 0.8rem; align-items: center; flex-wrap: wrap; }
    .key { margin-left: auto; font-size: 0.85em; }
    cairn-rows { flex: 1; border: 1px solid var(--line); border-radius: 4px; }
  `];

  constructor() {
    super();
    this.unfinished = false;
    this.query = "";
    new FollowsSelection(this, () => (this.wanted = true));
  }
  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("report")) this.nodes = nodesOf(this.report);
    const place = this.wanted ? this.placeOfChosen() : -1;
    if (place >= 0) this.openAround(place);
    if (changed.has("report") || changed.has("query") || changed.has("unfinished") || place >= 0) this.lay();
  }
  protected override updated(): void {
    if (!this.wanted) return;
    this.wanted = false;
    const row = this.shown.indexOf(this.placeOfChosen());
    const rows = this.renderRoot.querySelector<Rows>("cairn-rows");
    if (row >= 0) rows?.updateComplete.then(() => rows.show(row));
  }

  private stateOf(node: Node): State | undefined {
    if (node.level === "execution") return this.report.data.executions[node.index]!.state;
    return node.level === "scope" ? this.report.data.scopes[node.index]!.state : undefined;
  }
  private textOf(node: Node): string {
    if (node.level === "frame") return `frame ${grouped(node.index)}`;
    return node.level === "execution" ? this.report.list(node.index) : this.report.scope(node.index);
  }
  private placeOfChosen(): number {
    const scope = selection.number("scope");
    const execution = selection.number("execution");
    if (scope !== undefined) return this.nodes.findIndex((node) => node.level === "scope" && node.index === scope);
    if (execution !== undefined) return this.nodes.findIndex((node) => node.level === "execution" && node.index === execution);
    return -1;
  }
  private openAround(place: number): void {
    for (let at = 0; at < place; ) {
      const node = this.nodes[at]!;
      if (node.end <= place) at = node.end;
      else (node.open = true), ++at;
    }
  }
  // Selects the nodes that are rows. A search shows all matches, with the nodes around them.
  private lay(): void {
    ++this.revision;
    this.shown = [];
    const words = this.query.toLowerCase();
    const search = words !== "" || this.unfinished;
    const wanted = search ? new Uint8Array(this.nodes.length) : undefined;
    if (wanted) {
      const around: number[] = [];
      this.nodes.forEach((node, place) => {
        while (around.length && this.nodes[around.at(-1)!]!.end <= place) around.pop();
        const matches = (!this.unfinished || (node.level !== "frame" && this.stateOf(node) !== completed)) &&
          (words === "" || this.fits(node, words));
        if (matches) {
          wanted[place] = 1;
          for (const outer of around) wanted[outer] = 1;
        }
        around.push(place);
      });
    }
    for (let place = 0; place < this.nodes.length; ) {
      const node = this.nodes[place]!;
      if (!wanted || wanted[place]) this.shown.push(place);
      place = wanted || node.open ? place + 1 : node.end;
    }
  }
  private fits(node: Node, words: string): boolean {
    if (this.textOf(node).toLowerCase().includes(words)) return true;
    if (node.level !== "scope") return false;
    const scope = this.report.data.scopes[node.index]!;
    return (scope.call !== undefined && String(scope.call) === words.replaceAll(",", "")) ||
      (scope.pipeline !== null && this.report.pipeline(scope.pipeline).toLowerCase().includes(words));
  }

  private choose(event: CustomEvent<number>): void {
    const node = this.nodes[this.shown[event.detail]!]!;
    if (node.level === "scope") selection.choose({ scope: String(node.index) });
    if (node.level === "execution") selection.choose({ execution: String(node.index) });
    if (node.level === "frame") this.turn(event.detail);
  }
  private turn(row: number, open?: boolean): void {
    const node = this.nodes[this.shown[row]!]!;
    node.open = open ?? !node.open;
    this.lay();
    this.requestUpdate();
  }
  private act(event: CustomEvent<{ index: number; key: string }>): void {
    const { index, key } = event.detail;
    this.turn(index, key === "ArrowLeft" ? false : key === "ArrowRight" ? true : undefined);
  }
  private openAll(open: boolean): void {
    for (const node of this.nodes) node.open = open || node.level === "frame";
    this.lay();
    this.requestUpdate();
  }

  private draw(row: number) {
    const place = this.shown[row]!;
    const node = this.nodes[place]!;
    const state = this.stateOf(node);
    const has = node.end > place + 1;
    const twist = html`<span class="twist" @click=${(event: Event) => { event.stopPropagation(); if (has) this.turn(row); }}>${has ? (node.open || this.query || this.unfinished ? "▾" : "▸") : ""}</span>`;
    const around = "  ".repeat(Math.min(node.depth, 40));
    if (node.level === "frame") return html`${around}${twist}${this.textOf(node)}`;
    const scope = node.level === "scope" ? this.report.data.scopes[node.index]! : undefined;
    const execution = node.level === "execution" ? this.report.data.executions[node.index]! : undefined;
    const annotation = scope?.annotation == null ? undefined : this.report.data.annotations[scope.annotation];
    const eventId = annotation && Number(annotation.event_id) ? annotation.event_id : undefined;
    return html`${around}${twist}<span class="mark ${classes[state!]}" title=${state!}>${marks[state!]}</span> <span class="isolate">${this.textOf(node)}</span><span class="quiet">${
      scope?.call !== undefined ? `  call ${grouped(scope.call)}` : nothing}${eventId ? `  EventID ${eventId}` : nothing}${
      scope && scope.end === null ? "  left open" : nothing}${
      scope && scope.pipeline !== null && scope.type !== "PASS" ? html`  <span class="isolate">${this.report.pipeline(scope.pipeline)}</span>` : nothing}${
      execution ? `  ${this.report.queue(execution.queue)}, submission ${execution.submission_number ?? "none"}, ${count(execution.scope_count, "scope")}` : nothing}</span>`;
  }
  override render() {
    const chosen = this.placeOfChosen();
    return html`<div class="bar">
        <label><input type="checkbox" .checked=${this.unfinished} @change=${(event: Event) => (this.unfinished = (event.target as HTMLInputElement).checked)}> only what is not ${completed}</label>
        <button @click=${() => this.openAll(true)}>Unfold all</button><button @click=${() => this.openAll(false)}>Fold all</button>
        <span class="quiet" aria-live="polite">${count(this.shown.length, "row")} of ${grouped(this.nodes.length)}</span>
        <span class="quiet mark key">${[completed, inFlight, notStarted, unknown].map((word) => `${marks[word]} ${word}`).join(" ")}</span>
      </div>
      <cairn-rows tree label="Frames, command lists and scopes" .count=${this.shown.length} .chosen=${chosen < 0 ? -1 : this.shown.indexOf(chosen)}
        .revision=${this.revision} .draw=${(row: number) => this.draw(row)}
        .describe=${(row: number) => { const place = this.shown[row]!, node = this.nodes[place]!;
          return { level: node.depth + 1, ...(node.end > place + 1 ? { expanded: node.open } : {}) }; }}
        @choose=${this.choose} @act=${this.act}></cairn-rows>`;
  }
}
customElements.define("cairn-tree", Tree);
