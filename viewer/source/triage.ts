// SPDX-License-Identifier: Apache-2.0
//
// The page of cairn triage: groups of dumps with one cause, and the chosen one beside them. docs/reference/cairn-triage.md
// describes it.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { isServed, stayOpen } from "./server.js";
import { shared } from "./style.js";
import "./triage_chart.js";
import { readData, turnScheme } from "./frame.js";
import { Bars, Triage, barPath, dateOf, facets, largestFirst, sorts, type Facet, type Shown, type Sort, type TriageData } from "./triage_data.js";
import { example, linkToReport, sureInWords } from "./triage_details.js";
import { place } from "./triage_place.js";
import { count, grouped, visible } from "./words.js";

const facetNames: Record<Facet, string> = { kind: "Kind", program: "Program", version: "Cairn version", device: "Device", driver: "Driver", sure: "How sure" };
const sortNames: Record<Sort, string> = { count: "Most dumps first", last: "Seen last first", first: "Newest cause first", kind: "By kind" };
const mostBars = 120, mostSmallBars = 40;
const rowsAtOnce = 100;
const shownScopes = 2;  // of a path, as a title
const mostChoices = 200;

class TriagePage extends LitElement {
  static override properties = { triage: { state: true }, failure: { state: true }, gone: { state: true }, rows: { state: true } };
  declare triage: Triage | undefined;
  declare failure: string;
  declare gone: boolean;  // the server has ended
  declare rows: number;   // that are drawn
  private list: Shown[] = [];

  static override styles = [shared, css`
    :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) auto; height: 100%; }
    header { grid-column: 1 / -1; display: flex; gap: var(--s1) var(--s4); align-items: center; padding: var(--s1) var(--s4); border-bottom: 1px solid var(--line); background: var(--raised); flex-wrap: wrap; }
    h1 { margin: 0; max-width: 40ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .space { flex: 1; }
    main { overflow: auto; min-width: 0; padding: var(--s4) var(--s4) var(--s8); }
    aside { width: clamp(22rem, 28vw, 32rem); border-left: 1px solid var(--line); min-height: 0; overflow: hidden; }
    .filters { display: flex; flex-wrap: wrap; gap: 0.4rem 0.5rem; margin: 0.6rem 0 0.4rem; align-items: end; }
    .filters label { display: flex; flex-direction: column; font-size: var(--small); color: var(--quiet); gap: 1px; }
    .filters select, .filters input { color: var(--text); font-size: var(--body); width: 6.6rem; height: 1.9rem; padding: 0 0.35rem; text-overflow: ellipsis; }
    .filters select.set { width: auto; max-width: 13rem; }
    .filters select.set, .filters input.set { border-color: var(--link); box-shadow: inset 0 0 0 1px var(--link); }
    .filters input { width: 8.6rem; }
    .filters button { height: 1.9rem; padding: 0 0.6rem; }
    .rows { width: 100%; table-layout: fixed; border-collapse: collapse; }
    .rows th { position: sticky; top: calc(-1 * var(--s4)); background: var(--ground); border-bottom: 1px solid var(--line); padding: 0.3rem 0.9rem 0.3rem 0; z-index: 1; white-space: nowrap; color: var(--quiet); font-size: var(--small); }
    .rows td { border-bottom: 1px solid var(--line); padding: 0.45rem 0.9rem 0.45rem 0; vertical-align: top; overflow: hidden; text-overflow: ellipsis; }
    .rows tbody tr { cursor: pointer; }
    .rows tbody tr:hover { background: var(--raised); }
    .rows tr.chosen, .rows tbody tr.chosen:hover { background: var(--chosen); }
    .rows .count { width: 5.2rem; text-align: right; font-variant-numeric: tabular-nums; }
    .rows tr.chosen .count { box-shadow: inset 3px 0 var(--link); }
    td.count { font-size: var(--large); font-weight: 600; line-height: 1.3; }
    .rows .bars { width: 10rem; }
    .rows .seen { width: 7.2rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
    .rows .sure { width: 9.4rem; }
    .rows .act { width: 5.2rem; padding-right: 0; text-align: right; }
    .rows tbody tr:has(.title:focus-visible) { outline: 2px solid var(--link); outline-offset: -2px; }
    .title:focus-visible { outline: none; }
    .title { display: block; color: var(--text); text-decoration: none; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .below { font-size: var(--small); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .kind { color: var(--text); }
    .new { font-size: var(--small); font-weight: 600; color: var(--link); border: 1px solid currentColor; border-radius: 3px; padding: 0 0.3em; margin-left: 0.5em; }
    svg { display: block; width: 100%; height: 34px; }
    svg path { fill: var(--quiet); }
    tr.chosen svg path { fill: var(--link); }
    .more { margin: 0.8rem 0; }
    details { margin-top: 1.6rem; }
    dialog { color: var(--text); background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); max-width: 90ch; }
    .close { display: none; }
    @media (max-width: 1150px) { .rows .sure { display: none; } .rows .bars { width: 8rem; } }
    @media (max-width: 1000px) {
      :host { grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr); }
      aside { width: auto; grid-column: 1; max-height: 46vh; border-left: 0; border-top: 2px solid var(--link); display: flex; flex-direction: column; position: relative; }
      aside cairn-triage-details { min-height: 0; }
      .close { display: block; position: absolute; top: 0.5rem; right: 0.9rem; z-index: 1; }
      .rows .act { display: none; }
    }
    @media (max-width: 640px) { .rows .bars { display: none; } .rows .seen { width: 6.2rem; } .rows .count { width: 4rem; } }
    @media print { :host { display: block; } aside, .filters, header button { display: none; } main { overflow: visible; } }
  `];

  constructor() {
    super();
    this.failure = "";
    this.gone = false;
    this.rows = rowsAtOnce;
  }
  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("click", () => place.write(), true);
    place.addEventListener("change", () => {
      this.requestUpdate();
    });
    readData<TriageData>().then((data) => {
      this.triage = new Triage(data);
      document.title = `${visible(data.place, 80)}: ${count(data.triage.dumps, "dump")}`;
      if (isServed) void stayOpen().catch(() => (this.gone = true)).then(() => (this.gone = true));
    }).catch((error: Error) => (this.failure = error.message));
  }
  protected override willUpdate(): void {
    if (this.triage) this.list = this.triage.shown(place.filter);
  }
  private get chosen(): Shown | undefined {
    const id = place.get("group");
    return id === undefined ? undefined : this.list.find(({ group }) => group.signature.id === id);
  }
  private async choose(index: number): Promise<void> {
    const shown = this.list[index];
    if (!shown) return;
    if (index >= this.rows) this.rows = index + rowsAtOnce;
    place.set({ group: shown.group.signature.id });
    await this.updateComplete;
    const link = this.renderRoot.querySelectorAll<HTMLElement>(".title")[index];
    link?.focus();
    link?.closest("tr")?.scrollIntoView({ block: "nearest" });
  }
  private dialog(): HTMLDialogElement {
    return this.renderRoot.querySelector("dialog")!;
  }
  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const origin = event.composedPath()[0] as HTMLElement;
    const inField = origin instanceof HTMLInputElement || origin instanceof HTMLSelectElement;
    if (event.key === "Escape") {
      if (inField) origin.blur();
      else if (!this.dialog().open) place.set({ group: undefined });
      return;
    }
    if (inField || !this.triage || this.dialog().open) return;
    const chosen = this.chosen, at = chosen ? this.list.indexOf(chosen) : -1;
    const file = chosen && example(chosen.group);
    const steps: Record<string, number> = { ArrowDown: at + 1, j: at + 1, ArrowUp: Math.max(0, at - 1), k: Math.max(0, at - 1), Home: 0, End: this.list.length - 1 };
    if (event.key in steps) void this.choose(Math.min(steps[event.key]!, this.list.length - 1));
    else if (event.key === "o" && file && isServed) {
      place.write();
      location.assign(linkToReport(file));
    }
    else if (event.key === "s") place.set({ sort: sorts[(sorts.indexOf(place.filter.sort) + 1) % sorts.length]! });
    else if (event.key === "c") place.clear();
    else if (event.key === "/") this.renderRoot.querySelector<HTMLElement>("input[type=search]")?.focus();
    else if (event.key === "?") this.dialog().showModal();
    else return;
    event.preventDefault();
  }

  private facet(facet: Facet): TemplateResult | typeof nothing {
    const values = largestFirst(this.triage!.values[facet]), set = place.get(facet);
    if (values.length < 2 && set === undefined) return nothing;
    return html`<label>${facetNames[facet]}<select name=${facet} class=${set === undefined ? "" : "set"} @change=${(event: Event) => {
      const at = Number((event.target as HTMLSelectElement).value);
      place.set({ [facet]: values[at]?.[0] });
    }}><option value="-1" .selected=${set === undefined}>all</option>${values.slice(0, mostChoices).map(([value, dumps], at) => html`<option value=${at} .selected=${value === set}>${value ? (facet === "sure" ? sureInWords(value) : visible(value, 60)) : "not known"} (${grouped(dumps)})</option>`)}
      ${values.length > mostChoices ? html`<option disabled>${grouped(values.length - mostChoices)} more: search</option>` : nothing}
      ${set !== undefined && !values.slice(0, mostChoices).some(([value]) => value === set) ? html`<option value="-2" selected>${visible(set, 60)} (${grouped(this.triage!.values[facet].get(set) ?? 0)})</option>` : nothing}</select></label>`;
  }
  private filters(): TemplateResult {
    const { firstDay, lastDay } = this.triage!;
    const day = (key: "from" | "to", name: string) => html`<label>${name}<input type="date" name=${key} class=${place.get(key) ? "set" : ""} min=${dateOf(firstDay)} max=${dateOf(lastDay)} .value=${place.get(key) ?? ""}
      @change=${(event: Event) => place.set({ [key]: (event.target as HTMLInputElement).value || undefined })}></label>`;
    return html`<div class="filters" role="group" aria-label="Filter">${facets.map((facet) => this.facet(facet))}
      ${lastDay > firstDay ? html`${day("from", "From")}${day("to", "To")}` : nothing}
      ${place.isFiltered ? html`<button class="clear" @click=${() => place.clear()}>Show all</button>` : nothing}</div>`;
  }
  private row(shown: Shown, bars: Bars, chosen: boolean): TemplateResult {
    const { group } = shown, { signature } = group, file = example(group);
    const kind = visible(signature.kind, 60) + (signature.cause ? ` (${visible(signature.cause, 80)})` : "");
    const title = signature.path.slice(-shownScopes).map((scope) => visible(scope, 160)).join(" › ");
    const above = signature.path.slice(0, -shownScopes).map((scope) => visible(scope, 80)).join(" › ");
    const below = [above, visible(signature.device, 120) || "device not known", visible(signature.driver, 120)].filter(Boolean).join(" · ");
    const heights = bars.heights(shown.days), most = Math.max(...heights, 0);
    const sure = largestFirst(shown.sure);
    const last = group.data.last_seen;
    return html`<tr class=${chosen ? "chosen" : ""} @click=${() => place.set({ group: signature.id })}>
      <td class="count">${grouped(shown.count)}</td>
      <td><a class="title isolate" href=${place.link({ group: signature.id })} aria-current=${chosen ? "true" : nothing} @click=${(event: Event) => event.preventDefault()}>${title || kind}${this.triage!.isNew(group) ? html`<span class="new" title="seen first in the last seven days">new</span>` : nothing}</a>
        <div class="below quiet isolate" title=${`${kind} · ${below}`}>${title ? html`<span class="kind">${kind}</span> · ` : nothing}${below}</div></td>
      ${bars.count > 1 ? html`<td class="bars">${most ? html`<svg viewBox="0 0 160 30" preserveAspectRatio="none" role="img" aria-label=${`most in ${bars.words(heights.indexOf(most))}: ${grouped(most)}`}><path d=${barPath(heights, most, 160, 30)}></path></svg>` : html`<span class="quiet">no time known</span>`}</td>` : nothing}
      <td class="seen">${last === null ? html`<span class="quiet">not known</span>` : html`${last.slice(0, 10)}<div class="below quiet">${last.slice(11, 16)} UTC</div>`}</td>
      <td class="sure">${sureInWords(sure[0]?.[0] ?? "")}${sure.length > 1 ? html`<div class="below quiet">${sure.slice(1).map(([word, dumps]) => `${grouped(dumps)} ${sureInWords(word)}`).join(", ")}</div>` : nothing}</td>
      ${isServed ? html`<td class="act">${file ? html`<a href=${linkToReport(file)} aria-label=${`Report of ${visible(file.file, 200)}`} @click=${(event: Event) => event.stopPropagation()}>Report</a>` : nothing}</td>` : nothing}</tr>`;
  }
  private table(): TemplateResult {
    const triage = this.triage!, { filter } = place;
    const bars = new Bars(Math.max(triage.firstDay, filter.from ?? 0), Math.min(triage.lastDay, filter.to ?? Infinity), mostSmallBars);
    const chosen = this.chosen, rest = this.list.length - this.rows;
    const order = (sort: Sort) => (filter.sort === sort ? "descending" : nothing);
    return html`<table class="rows"><thead><tr><th class="count" aria-sort=${order("count")}>Dumps</th><th>Failure</th>${bars.count > 1 ? html`<th class="bars">${dateOf(bars.first).slice(5)} to ${dateOf(bars.last).slice(5)}</th>` : nothing}
        <th class="seen" aria-sort=${order("last")}>Seen last</th><th class="sure">How sure</th>${isServed ? html`<th class="act">Example</th>` : nothing}</tr></thead>
      <tbody>${repeat(this.list.slice(0, this.rows), ({ group }) => group.signature.id, (shown) => this.row(shown, bars, shown === chosen))}</tbody></table>
      ${rest > 0 ? html`<p class="more"><button @click=${() => (this.rows += rowsAtOnce)}>Show ${grouped(Math.min(rest, rowsAtOnce))} more of ${grouped(rest)}</button></p>` : nothing}`;
  }
  private unreadable(): TemplateResult | typeof nothing {
    const { unreadable, unreadable_count } = this.triage!.data.triage;
    if (!unreadable_count) return nothing;
    return html`<details><summary>${count(unreadable_count, "file is", "files are")} without a report</summary>
      <ul>${unreadable.slice(0, 200).map(({ file, reason }) => html`<li class="isolate">${visible(file, 300)} <span class="quiet">${visible(reason, 300)}</span></li>`)}</ul>
      ${unreadable_count > Math.min(200, unreadable.length) ? html`<p class="quiet">and ${grouped(unreadable_count - Math.min(200, unreadable.length))} more; <code>cairn triage --jsonl</code> lists all.</p>` : nothing}</details>`;
  }
  private body(): TemplateResult {
    const triage = this.triage!, { data } = triage;
    if (!data.triage.dumps) {
      return html`<div class="empty card"><h2>No report is here yet</h2><p>${data.triage.unreadable_count ? "None of the files holds a report." : html`No file in <span class="isolate">${visible(data.place)}</span> ends with .cairn.`}
        <code>cairn run -o ${"FOLDER/"} -- ./game</code> writes a file when a GPU fails.${isServed ? " Load this page again to see it." : ""}</p>${this.unreadable()}</div>`;
    }
    const days = new Map<number, number>();
    for (const shown of this.list) for (const [day, dumps] of shown.days) days.set(day, (days.get(day) ?? 0) + dumps);
    const { filter } = place;
    const bars = new Bars(Math.max(triage.firstDay, filter.from ?? 0), Math.min(triage.lastDay, filter.to ?? Infinity), mostBars);
    const leftOut = data.group_count - data.triage.groups.length;
    return html`${bars.count > 1 ? html`<cairn-triage-chart .bars=${bars} .all=${days} .chosen=${this.chosen} @days=${(event: CustomEvent<{ from: number; to: number }>) => place.choose(event.detail.from, event.detail.to)}></cairn-triage-chart>` : nothing}
      ${this.filters()}
      ${leftOut > 0 || data.left_out > 0 ? html`<p class="wrong" role="alert">The page cannot hold all of this: ${leftOut > 0 ? count(leftOut, "group") : count(data.left_out, "value")} of those with the fewest dumps are not shown. <code>cairn triage --json</code> prints all groups.</p>` : nothing}
      ${this.list.length ? this.table() : html`<div class="empty card"><h2>No dump passes this filter</h2><p><button @click=${() => place.clear()}>Show all ${grouped(data.triage.dumps)} dumps</button></p></div>`}
      ${this.unreadable()}`;
  }
  override render() {
    if (this.failure) return html`<main><h1>This page is damaged</h1><p>${visible(this.failure)}</p></main>`;
    if (!this.triage) return html`<main>…</main>`;
    const { data, groups } = this.triage, chosen = this.chosen;
    const dumps = this.list.reduce((sum, shown) => sum + shown.count, 0);
    return html`<header><h1 class="isolate" title=${visible(data.place)}>${visible(data.place, 80)}</h1>
        <span class="sum">${place.isFiltered ? `${grouped(dumps)} of ` : ""}${count(data.triage.dumps, "dump")}, ${place.isFiltered ? `${grouped(this.list.length)} of ` : ""}${count(Math.max(data.group_count, groups.length), "group")}</span>
        <span class="quiet">${data.made.slice(0, 10)} ${data.made.slice(11, 16)} UTC</span>
        <span class="space"></span>
        <select name="sort" aria-label="Order" @change=${(event: Event) => place.set({ sort: (event.target as HTMLSelectElement).value })}>${sorts.map((sort) => html`<option value=${sort} .selected=${sort === place.filter.sort}>${sortNames[sort]}</option>`)}</select>
        <input type="search" placeholder="search ( / )" aria-label="Search names, shaders, devices and files" .value=${place.get("text") ?? ""} @input=${(event: Event) => place.set({ text: (event.target as HTMLInputElement).value || undefined })}>
        ${isServed ? html`<button @click=${() => location.reload()} title="Load the page again: new files appear">Reload</button>` : nothing}
        <button @click=${() => this.dialog().showModal()} aria-label="Keys">?</button>
        <button @click=${turnScheme} aria-label="Dark or light">◐</button></header>
      <main>${this.gone ? html`<p class="wrong" role="alert">cairn triage has ended: reports can no longer be opened. Start it again to go on.</p>` : nothing}${this.body()}</main>
      ${chosen ? html`<aside aria-label="The chosen group"><button class="close" @click=${() => place.set({ group: undefined })} aria-label="Close">✕</button><cairn-triage-details .shown=${chosen}></cairn-triage-details></aside>` : nothing}
      <dialog aria-label="Keys"><table><tbody>
        <tr><th>↓ ↑ or J K, Home, End</th><td>the next group, the one before, the first, the last</td></tr>
        ${isServed ? html`<tr><th>O</th><td>open the report of the chosen group's example</td></tr>` : nothing}
        <tr><th>/</th><td>search; Escape leaves the field</td></tr><tr><th>S</th><td>the next order</td></tr><tr><th>C</th><td>show all: clear the filter</td></tr>
        <tr><th>Escape</th><td>choose nothing</td></tr><tr><th>drag over the bars</th><td>choose days</td></tr></tbody></table>
        <form method="dialog"><button>Close</button></form></dialog>`;
  }
}
customElements.define("cairn-triage", TriagePage);
