// SPDX-License-Identifier: Apache-2.0
//
// Every table of the report as it stands in the JSON, and one row of one: what no other view draws is found here.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import type { Report } from "./report.js";
import "./rows.js";
import { FollowsSelection, linkTo, selection, type Kind, type Place } from "./selection.js";
import { shared } from "./style.js";
import { count, grouped, visible } from "./words.js";

type Value = unknown;
type Row = Record<string, Value>;

const words = (key: string) => key.replaceAll("_", " ");
const referring: Record<string, string> = {
  queue: "queue", execution: "execution", scope: "scope", parent: "scope", first_scope: "scope", annotation_scope: "scope",
  object: "object", pipeline: "pipeline", annotation: "annotation", device: "device", signal: "sync", sync: "sync",
};

// An index as what it leads to; undefined if the key is no index.
function reference(report: Report, key: string, value: Value): { text: string; place?: Place } | undefined {
  if (typeof value !== "number") return undefined;
  const { data } = report;
  switch (referring[key]) {
    case "queue": return { text: report.queue(value) };
    case "execution": return data.executions[value] && { text: report.list(value), place: { view: "tree", execution: String(value) } };
    case "scope": return data.scopes[value] && { text: report.scope(value), place: { view: "tree", scope: String(value) } };
    case "object": return data.objects[value] && { text: report.object(value), place: { view: "memory", object: String(value) } };
    case "pipeline": return { text: report.pipeline(value) };
    case "annotation": return data.annotations[value] && { text: `${data.annotations[value].event_id} ${visible(data.annotations[value].name)}` };
    case "device": return data.devices[value] && { text: `${value} ${visible(data.devices[value].name)}` };
    case "sync": return data.syncs[value] && { text: `${data.syncs[value].kind} of ${report.sync(data.syncs[value])}` };
  }
  return undefined;
}

function short(report: Report, key: string, value: Value): string {
  if (value === null) return "–";
  const found = reference(report, key, value);
  if (found) return found.text;
  if (typeof value === "number") return /(^|_)id$/.test(key) ? String(value) : grouped(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return visible(value) || "–";
  if (Array.isArray(value)) return value.length ? (value.every((each) => typeof each !== "object") ? value.slice(0, 8).map((each) => short(report, "", each)).join(", ") : `${grouped(value.length)} …`) : "none";
  return Object.entries(value as Row).map(([name, each]) => `${words(name)}: ${typeof each === "object" && each !== null ? "…" : short(report, name, each)}`).join(", ");
}

// All of a row, one key a line; what is inside of it below.
export function record(report: Report, row: Row, depth = 0): TemplateResult {
  return html`<dl>${Object.entries(row).map(([key, value]) => {
    const found = reference(report, key, value);
    const inside = typeof value === "object" && value !== null && depth < 4;
    const rows = inside && Array.isArray(value) && value.some((each) => typeof each === "object") ? (value as Row[]) : undefined;
    const nested = rows !== undefined || (inside && !Array.isArray(value));
    return html`<dt>${words(key)}</dt><dd class=${nested ? "wide" : ""}>${found?.place ? html`<a class="isolate" href=${linkTo(found.place)}>${found.text}</a>`
      : rows ? html`${rows.slice(0, 100).map((each) => html`<div class="inner">${record(report, each, depth + 1)}</div>`)}${rows.length > 100 ? `and ${rows.length - 100} more` : nothing}`
        : nested ? html`<div class="inner">${record(report, value as Row, depth + 1)}</div>`
        : html`<span class="isolate">${typeof value === "string" && value ? visible(value, 20_000) : short(report, key, value)}</span>`}</dd>`;
  })}</dl>`;
}
export const recordStyle = css`
  dl { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: var(--s1) var(--s3); margin: var(--s1) 0; }
  dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
  dd.wide { grid-column: 1 / -1; }  /* what is inside has two columns of its own */
  .inner { border-left: 2px solid var(--line); padding-left: var(--s2); margin-bottom: var(--s2); }
`;

export class Facts extends LitElement {
  static override properties = { report: { attribute: false }, query: {}, table: { state: true }, row: { state: true } };
  declare report: Report;
  declare query: string;
  declare table: string;
  declare row: number;
  private revision = 0;
  private shown: number[] = [];

  static override styles = [shared, recordStyle, css`
    :host { display: flex; flex-direction: column; height: 100%; gap: var(--s2); }
    .bar { display: flex; gap: var(--s3); align-items: center; flex-wrap: wrap; }
    cairn-rows { border: 1px solid var(--line); border-radius: var(--round); max-height: 60%; flex: none; }
    .one { flex: 1; min-height: 0; overflow: auto; border: 1px solid var(--line); border-radius: var(--round); padding: var(--s1) var(--s3); }
  `];
  constructor() {
    super();
    this.query = "";
    this.table = "";
    this.row = 0;
    new FollowsSelection(this);
  }
  private get tables(): Map<string, Row[]> {
    const { waits, ...rest } = this.report.data as unknown as Record<string, Value> & { waits: Record<string, Value> };
    const found = new Map<string, Row[]>();
    const put = (name: string, value: Value) => {
      if (Array.isArray(value)) found.set(name, value.map((each) => (typeof each === "object" && each !== null && !Array.isArray(each) ? (each as Row) : { [name.replace(/s$/, "")]: each })));
      else if (typeof value === "object" && value !== null) found.set(name, [value as Row]);
    };
    for (const [name, value] of Object.entries(rest)) put(name, value);
    for (const [name, value] of Object.entries(waits)) put(name === "waits" ? "waits" : `${name} that wait`, value);
    return found;
  }
  private get rows(): Row[] {
    return this.tables.get(this.table) ?? [];
  }
  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("report") && !this.tables.has(this.table)) this.table = "process";
    if (changed.has("table") || changed.has("report")) this.row = 0;
    const text = this.query.toLowerCase();
    this.shown = this.rows.flatMap((row, index) => (!text || JSON.stringify(row).toLowerCase().includes(text) ? [index] : []));
    ++this.revision;
  }
  override render() {
    const rows = this.rows;
    const chosen = this.shown[this.row];
    return html`<div class="bar"><label>Table <select @change=${(event: Event) => (this.table = (event.target as HTMLSelectElement).value)}>
        ${[...this.tables].map(([name, each]) => html`<option value=${name} ?selected=${name === this.table}>${words(name)} (${grouped(each.length)})</option>`)}</select></label>
        <span class="quiet" aria-live="polite">${count(this.shown.length, "row")} of ${grouped(rows.length)}${this.query ? ` with "${visible(this.query, 40)}"` : ""}</span></div>
      <cairn-rows label="Rows of ${words(this.table)}" .style=${`height: ${this.shown.length * 22 + 2}px`} .count=${this.shown.length} .chosen=${this.row} .revision=${this.revision}
        .draw=${(index: number) => html`<span class="quiet">${grouped(this.shown[index]!)}</span>  ${Object.entries(rows[this.shown[index]!]!).slice(0, 14).map(([key, value]) => html`<span class="quiet">${words(key)}</span> <span class="isolate">${short(this.report, key, value)}</span>  `)}`}
        @choose=${(event: CustomEvent<number>) => (this.row = event.detail)}></cairn-rows>
      <div class="one" tabindex="0" role="region" aria-label="The chosen row">${chosen === undefined ? nothing : record(this.report, rows[chosen]!)}</div>`;
  }
}
customElements.define("cairn-facts", Facts);

// The work, list and object that are chosen, beside the views; nothing where none is.
export function isAnyChosen(report: Report): boolean {
  const { scopes, executions, objects } = report.data;
  return [[scopes, "scope"], [executions, "execution"], [objects, "object"]].some(([table, kind]) => (table as unknown[])[selection.number(kind as Kind) ?? -1] !== undefined);
}
export class Chosen extends LitElement {
  static override properties = { report: { attribute: false } };
  declare report: Report;
  static override styles = [shared, recordStyle, css`
    :host { height: 100%; overflow: auto; padding: var(--s3) var(--s4); }
    nav { display: flex; gap: var(--s3); flex-wrap: wrap; margin: var(--s1) 0; }
  `];
  constructor() {
    super();
    new FollowsSelection(this);
  }
  private about(title: string, row: Row | undefined, links: [string, Place][]) {
    if (!row) return nothing;
    return html`<h2 class="isolate">${title}</h2><nav aria-label=${visible(title, 60)}>${links.map(([text, place]) => html`<a href=${linkTo(place)}>${text}</a>`)}</nav>${record(this.report, row)}`;
  }
  override render() {
    const { data } = this.report;
    const scope = selection.number("scope");
    const execution = scope !== undefined ? this.report.executionOf(scope) : selection.number("execution");
    const object = selection.number("object");
    const ofScope = scope !== undefined ? data.scopes[scope] : undefined;
    const ofExecution = execution !== undefined ? data.executions[execution] : undefined;
    const ofObject = object !== undefined ? data.objects[object] : undefined;
    if (!ofScope && !ofExecution && !ofObject) return nothing;
    const call = ofScope?.call;
    return html`${ofScope ? this.about(this.report.scope(scope!), ofScope as unknown as Row, [["tree", { view: "tree", scope: String(scope) }], ["timeline", { view: "timeline", scope: String(scope) }],
        ...(call === undefined ? [] : [["calls", { view: "calls", call: String(call), scope: String(scope) }], ["state", { view: "state", call: String(call), scope: String(scope) }]] as [string, Place][])]) : nothing}
      ${ofExecution ? this.about(this.report.list(execution!), ofExecution as unknown as Row, [["tree", { view: "tree", execution: String(execution) }], ["timeline", { view: "timeline", execution: String(execution) }]]) : nothing}
      ${ofObject ? this.about(this.report.object(object!), ofObject as unknown as Row, [["memory", { view: "memory", object: String(object) }]]) : nothing}`;
  }
}
customElements.define("cairn-chosen", Chosen);
