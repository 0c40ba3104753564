// SPDX-License-Identifier: Apache-2.0
//
// Frames, lists and scopes, each with its state: 100,000 of them and more.
import { LitElement, css, html, nothing } from "lit";
import { empty } from "./empty.js";
import { icon } from "./icons.js";
import { withoutCulprit, type Report } from "./report.js";
import "./rows.js";
import type { Rows } from "./rows.js";
import { FollowsSelection, selection } from "./selection.js";
import { classes, completed, inFlight, marks, notStarted, unknown, type State } from "./states.js";
import { shared } from "./style.js";
import { count, grouped, visible } from "./words.js";

type Level = "frame" | "execution" | "scope";
interface Node {
  level: Level;
  index: number;  // the number of the frame, or into the table
  depth: number;
  end: number;    // behind the last node below it
  open: boolean;
}

// Depth first: frames and lists with unfinished work first, otherwise in the order in which they are told. What is
// completed or has not started is folded.
export function nodesOf(report: Report): Node[] {
  const { executions, scopes } = report.data;
  const ended = executions.map(({ state }) => (state === completed ? 1 : 0));
  const frames = new Map<number, number>();
  executions.forEach(({ frame }, index) => frames.set(frame, Math.min(frames.get(frame) ?? 1, ended[index]!)));
  const order = executions.map((_, index) => index).sort((a, b) => {
    const [first, second] = [executions[a]!.frame, executions[b]!.frame];
    return frames.get(first)! - frames.get(second)! || first - second || ended[a]! - ended[b]! || a - b;
  });
  const at = (state: State) => state !== completed && state !== notStarted;
  const nodes: Node[] = [];
  const put = (level: Level, index: number, depth: number, open: boolean) => nodes.push({ level, index, depth, end: 0, open });
  let frame = NaN;
  for (const index of order) {
    const execution = executions[index]!;
    if (execution.frame !== frame) put("frame", (frame = execution.frame), 0, !frames.get(execution.frame));
    put("execution", index, 1, at(execution.state));
    for (let scope = execution.first_scope; scope < execution.first_scope + execution.scope_count; ++scope) {
      put("scope", scope, 2 + scopes[scope]!.depth, at(scopes[scope]!.state));
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

// The columns of a node, at their places; a narrow window leaves wide ones out, wider ones first.
interface Column { title: string; width: string; right?: boolean; room?: "wide" | "wider"; of: (node: Node, place: number) => string; }

export class Tree extends LitElement {
  static override properties = { report: { attribute: false }, query: {}, unfinished: { state: true } };
  declare report: Report;
  declare query: string;
  declare unfinished: boolean;
  private nodes: Node[] = [];
  private shown: number[] = [];  // of nodes
  private columns: Column[] = [];
  private culprits = new Set<number>();  // places
  private revision = 0;
  private wanted = true;         // what is chosen is to be brought into sight

  static override styles = [shared, css`
    :host { display: flex; flex-direction: column; height: 100%; gap: var(--s2); }
    .bar { display: flex; gap: var(--s2) var(--s3); align-items: center; flex-wrap: wrap; }
    .legend { margin-left: auto; display: flex; flex-wrap: wrap; gap: 0 var(--s3); font-size: var(--small); }
    .head { display: flex; gap: var(--s4); padding: 0 var(--s2); font-size: var(--small); color: var(--quiet); overflow: hidden; scrollbar-gutter: stable; white-space: nowrap; }
    .head > * { flex: none; overflow: hidden; text-overflow: ellipsis; }
    .head > :first-child { flex: 1; min-width: 0; }
    @media (max-width: 1100px) { .head .wider { display: none; } }
    @media (max-width: 640px) { .head .wide { display: none; } }
    cairn-rows { flex: 1; border: 1px solid var(--line); border-radius: var(--round); }
  `];

  constructor() {
    super();
    this.unfinished = false;
    this.query = "";
    new FollowsSelection(this, () => (this.wanted = true));
  }
  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("report")) {
      this.nodes = nodesOf(this.report);
      this.columns = this.layColumns();
      const { verdict } = this.report.data;
      const suspects = withoutCulprit.includes(verdict.kind) ? [] : verdict.suspects.slice(0, 64);
      this.culprits = new Set(suspects.map(({ scope, execution }) => this.placeOf(scope ?? undefined, execution)));
    }
    const place = this.wanted ? this.placeInSight() : -1;
    if (place >= 0) this.openAround(place);
    if (changed.has("report") || changed.has("query") || changed.has("unfinished") || place >= 0) this.lay();
  }
  protected override updated(): void {
    if (!this.wanted) return;
    this.wanted = false;
    const row = this.shown.indexOf(this.placeInSight());
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
    return this.placeOf(selection.number("scope"), selection.number("execution"));
  }
  // The work that the verdict names stands in sight until something else is chosen.
  private placeOfCulprit(): number {
    const { suspects, last_completed: last } = this.report.data.verdict;
    const named = suspects[0] ?? last[0];
    return named ? this.placeOf(named.scope ?? undefined, named.execution) : -1;
  }
  private placeOf(scope: number | undefined, execution: number | undefined): number {
    if (scope !== undefined) return this.nodes.findIndex((node) => node.level === "scope" && node.index === scope);
    if (execution !== undefined) return this.nodes.findIndex((node) => node.level === "execution" && node.index === execution);
    return -1;
  }
  private placeInSight(): number {
    const chosen = this.placeOfChosen();
    return chosen < 0 ? this.placeOfCulprit() : chosen;
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

  // The columns of which this report has something.
  private layColumns(): Column[] {
    const { executions, scopes, annotations, submissions } = this.report.data;
    const times = new Map(submissions.map(({ execution, time }) => [execution, time]));
    const event = (annotation: number | null) => (annotation === null ? undefined : annotations[annotation]?.event_id);
    const ofList = (say: (index: number) => string) => ({ level, index }: Node) => (level === "execution" ? say(index) : "");
    const ofScope = (say: (index: number) => string) => ({ level, index }: Node) => (level === "scope" ? say(index) : "");
    const columns: (Column & { has: boolean })[] = [
      { title: "queue, pipeline", width: "30%", room: "wide", has: executions.length > 0, of: ({ level, index }) => {
        if (level === "execution") return this.report.queue(executions[index]!.queue);
        const pipeline = level === "scope" && scopes[index]!.type !== "PASS" ? scopes[index]!.pipeline : null;
        return pipeline === null ? "" : this.report.pipeline(pipeline);
      } },
      { title: "submission", width: "5.5rem", right: true, room: "wider", has: executions.length > 0, of: ofList((index) => String(executions[index]!.submission_number ?? "none")) },
      { title: "submitted", width: "5rem", right: true, room: "wider", has: submissions.some(({ time }) => time !== null), of: ofList((index) => times.get(index) ?? "") },
      { title: "inside", width: "4rem", right: true, has: true, of: (node, place) => (node.end > place + 1 ? grouped(node.end - place - 1) : "") },
      { title: "call", width: "5rem", right: true, has: scopes.some(({ call }) => call !== undefined), of: ofScope((index) => (scopes[index]!.call === undefined ? "" : grouped(scopes[index]!.call!))) },
      { title: "EventID", width: "9.5rem", right: true, room: "wider", has: scopes.some(({ annotation }) => Number(event(annotation))),
        of: ofScope((index) => { const id = event(scopes[index]!.annotation); return id && Number(id) ? id : ""; }) },
    ];
    return columns.filter(({ has }) => has);
  }
  private draw(row: number) {
    const place = this.shown[row]!;
    const node = this.nodes[place]!;
    const state = this.stateOf(node);
    const has = node.end > place + 1;
    const twist = html`<span class="twist" @click=${(event: Event) => { event.stopPropagation(); if (has) this.turn(row); }}>${has ? (node.open || this.query || this.unfinished ? "▾" : "▸") : ""}</span>`;
    const around = "    ".repeat(Math.min(node.depth, 40));
    const open = node.level === "scope" && this.report.data.scopes[node.index]!.end === null;
    const proven = this.report.data.verdict.how_sure === "proven";
    const name = html`${around}${twist}${state === undefined ? nothing : html`<span class="mark ${classes[state]}" title=${state}>${marks[state]}</span> `}${this.culprits.has(place) ? html`<span class="badge ${proven ? "proven" : "likely"}">${proven ? "culprit" : "suspect"}</span> ` : nothing}${icon(node.level === "frame" ? "frame" : node.level === "execution" ? "list" : has ? "pass" : "work")} <span class=${`isolate ${state === inFlight ? "in-flight" : ""}`}>${this.textOf(node)}</span>${
      open ? html`<span class="quiet">  left open</span>` : nothing}`;
    return html`<span class="columns"><span>${name}</span>${this.columns.map((column) => html`<span class="quiet ${column.right ? "right" : ""} ${column.room ?? ""}" .style=${`width: ${column.width}`}>${column.of(node, place)}</span>`)}</span>`;
  }
  override render() {
    if (!this.nodes.length) return empty("No work is known", html`The program had registered no command list when this file was written. Cairn sees the work of Direct3D 12, Direct3D 11 and Vulkan programs that it watches:`, "cairn run -- ./program");
    const chosen = this.placeOfChosen();
    return html`<div class="bar">
        <label><input type="checkbox" .checked=${this.unfinished} @change=${(event: Event) => (this.unfinished = (event.target as HTMLInputElement).checked)}> only what is not ${completed}</label>
        <button @click=${() => this.openAll(true)}>Unfold all</button><button @click=${() => this.openAll(false)}>Fold all</button>
        <span class="quiet" aria-live="polite">${count(this.shown.length, "row")} of ${grouped(this.nodes.length)}</span>
        <span class="quiet legend">${[completed, inFlight, notStarted, unknown].map((word) => html`<span><span class="mark">${marks[word]}</span> ${word}</span>`)}</span>
      </div>
      <div class="head" aria-hidden="true"><span>frames, command lists and work${this.query ? ` with "${visible(this.query, 40)}"` : ""}</span>${this.columns.map(({ title, width, right, room }) => html`<span class="${right ? "number" : ""} ${room ?? ""}" .style=${`width: ${width}`}>${title}</span>`)}</div>
      ${this.shown.length ? nothing : html`<p class="quiet">${this.query ? `Nothing here has "${visible(this.query, 60)}" in its name or pipeline, or as its call.` : `All work is ${completed}.`}</p>`}
      <cairn-rows tree label="Frames, command lists and scopes" .count=${this.shown.length} .chosen=${chosen < 0 ? -1 : this.shown.indexOf(chosen)}
        .revision=${this.revision} .draw=${(row: number) => this.draw(row)}
        .describe=${(row: number) => { const place = this.shown[row]!, node = this.nodes[place]!;
          return { level: node.depth + 1, ...(node.end > place + 1 ? { expanded: node.open } : {}) }; }}
        @choose=${this.choose} @act=${this.act}></cairn-rows>`;
  }
}
customElements.define("cairn-tree", Tree);
