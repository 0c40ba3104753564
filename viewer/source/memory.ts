// SPDX-License-Identifier: Apache-2.0
//
// GPU addresses: what lies where, since when and until when, and where a fault stands among it.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { empty } from "./empty.js";
import { iconOf } from "./icons.js";
import type { Address, Report, TracedObject } from "./report.js";
import "./rows.js";
import type { Rows } from "./rows.js";
import { FollowsSelection, linkTo, selection } from "./selection.js";
import { inFlight } from "./states.js";
import { shared } from "./style.js";
import { bytes, count, grouped, seconds, visible } from "./words.js";

type Named = { address: Address; title: string; source: string };
// A row: an object, what lies between two, or an address that went wrong.
type Placed = { first: bigint } & ({ object: number; end: bigint } | { gap: bigint } | { fault: Address; what: string });
// Behind them the objects without an address.
type Row = Placed | { unplaced: number } | { object: number };
const columns = ["19ch", "19ch", "11ch", "11ch", "max(16ch, 30vw - 20rem)"];

export class Memory extends LitElement {
  static override properties = { report: { attribute: false }, query: {} };
  declare report: Report;
  declare query: string;
  private rows: Row[] = [];
  private lastTime = 0;
  private revision = 0;
  private wanted = true;

  static override styles = [shared, css`
    :host { display: flex; flex-direction: column; height: 100%; gap: var(--s2); }
    .freed { max-height: 25%; overflow: auto; flex: none; }
    .faults { max-height: 45%; overflow: auto; flex: none; }
    .fault { border-left: 4px solid var(--busy); padding: var(--s1) var(--s3); margin: var(--s1) 0; background: var(--raised); }
    .strip { display: flex; gap: 2px; margin: var(--s2) 0; overflow-x: auto; }
    .strip > * { border: 1px solid var(--line); background: var(--ground); padding: var(--s1) var(--s2); border-radius: var(--round); min-width: 9rem; overflow-wrap: anywhere; }
    .strip .gap { border-style: dashed; color: var(--quiet); background: none; }
    .strip .here { border: 2px solid var(--busy); min-width: 14rem; }
    .counts { max-width: none; }
    .head { padding: 0 var(--s2); color: var(--quiet); white-space: pre; overflow: hidden; scrollbar-gutter: stable; text-overflow: ellipsis; }
    @media (max-width: 640px) { .head .wide { display: none; } }
    .head span { display: inline-block; padding-right: 0.8em; }
    .head .right { text-align: right; }
    cairn-rows { flex: 1; min-height: 8rem; border: 1px solid var(--line); border-radius: var(--round); }
    /* Where there is no room for faults and rows, both scroll as one. */
    @media (max-width: 1000px), (max-height: 600px) {
      :host { overflow: auto; }
      .faults, .freed { max-height: none; }
      cairn-rows { flex: 1 0 20rem; }
    }
  `];
  constructor() {
    super();
    this.query = "";
    new FollowsSelection(this, () => (this.wanted = true));
  }
  // Returns the addresses under the names of the text report.
  private addresses(): Named[] {
    const { faults, kernel_log, crash_addresses: crashes } = this.report.data;
    const range = ({ first, last }: Address) => (first === last ? "" : ` (somewhere from ${first} to ${last})`);
    return [
      // Beside what is near: a process has other memory.
      ...crashes.filter(({ owners, below, above }) => owners.length || below || above)
        .map((address) => ({ address, title: `the CPU, which does the GPU's work here, at ${address.address}`, source: "" })),
      ...faults.flatMap((fault) => fault.addresses.map((address) => ({ address, title: `${address.type} at ${address.address}${range(address)}`, source: `reported by ${visible(fault.source)}` }))),
      ...(kernel_log?.lines ?? []).flatMap((line) => (line.address ? [{ address: line.address, title: "the page of its address", source: `${line.address.address}, named by the kernel at ${line.time}` }] : [])),
    ].filter(({ address }) => address.state !== "no address");
  }
  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("report") && !changed.has("query")) return;
    ++this.revision;
    const { objects } = this.report.data;
    // The handles of descriptors are no addresses.
    const at = ({ kind, gpu_address }: TracedObject) => (kind === "descriptor heap" ? 0n : BigInt(gpu_address));
    const words = this.query.toLowerCase();
    const fitting = objects.flatMap((object, index) => {
      if (object.state === "free") return [];
      const first = at(object);
      const fits = !words || this.report.object(index).toLowerCase().includes(words) || object.gpu_address.includes(words);
      return fits ? [{ first, object: index, end: first + BigInt(object.size) }] : [];
    });
    const placed = fitting.filter(({ first }) => first).sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
    const rows: Placed[] = [];
    let end = 0n;
    for (const each of placed) {
      if (end && each.first > end && !words) rows.push({ first: end, gap: each.first - end });
      rows.push(each);
      if (each.end > end) end = each.end;
    }
    for (const { address, title, source } of this.addresses()) {
      const first = BigInt(address.address);
      const place = rows.findIndex((row) => row.first > first);
      rows.splice(place < 0 ? rows.length : place, 0, { first, fault: address, what: [title, source].filter(Boolean).join(", ") });
    }
    const unplaced = fitting.filter(({ first }) => !first);
    this.rows = [...rows, ...(unplaced.length ? [{ unplaced: unplaced.length }] : []), ...unplaced.map(({ object }) => ({ object }))];
    const times = [...objects.flatMap((object) => [object.created, object.destroyed]), ...this.report.data.submissions.map(({ time }) => time)];
    this.lastTime = times.reduce((most, time) => (seconds(time) > most ? seconds(time) : most), 0.001);
  }
  protected override updated(): void {
    if (!this.wanted) return;
    this.wanted = false;
    const row = this.chosenRow();
    const rows = this.renderRoot.querySelector<Rows>("cairn-rows");
    rows?.updateComplete.then(() => rows.show(row < 0 ? Math.max(0, this.rows.findIndex((each) => "fault" in each)) : row));
  }
  private chosenRow(): number {
    const object = selection.number("object");
    const address = selection.place.address;
    return this.rows.findIndex((row) => ("object" in row && row.object === object) || ("fault" in row && row.fault.address === address));
  }
  private choose(event: CustomEvent<number>): void {
    const row = this.rows[event.detail]!;
    if ("object" in row) selection.choose({ object: String(row.object) });
    if ("fault" in row) selection.choose({ address: row.fault.address });
  }
  private draw(index: number): TemplateResult {
    const row = this.rows[index]!;
    const cell = (place: number, text: string, className = "") => html`<span class="cell ${place === 1 ? "wide" : ""} ${className}" .style=${`width: ${columns[place]}`}>${text}</span>`;
    if ("unplaced" in row) return html`<span class="quiet">${count(row.unplaced, "object")} without a GPU address</span>`;
    const at = "first" in row ? "0x" + row.first.toString(16) : "–";
    if ("gap" in row) return html`<span class="quiet">${cell(0, at)}${cell(1, "")}${cell(2, bytes(row.gap), "right")}in no object that is known</span>`;
    if ("fault" in row) return html`<span class="in-flight">${cell(0, at)}${cell(1, row.fault.state === "never mapped" ? "! in no object" : "! " + row.fault.state)}${cell(2, "")}${row.what}</span>`;
    const object = this.report.data.objects[row.object]!;
    return html`${cell(0, at)}${cell(1, "end" in row ? "0x" + row.end.toString(16) : "")}${cell(2, object.size ? bytes(object.size) : "", "right")}${
      cell(3, object.state, object.state === "alive" ? "completed" : "wrong")}${this.life(object)} ${iconOf(object.kind)} <span class="isolate">${this.report.object(row.object)}</span>`;
  }
  private life(object: TracedObject) {
    const born = (seconds(object.created) || 0) / this.lastTime, died = object.destroyed === null ? 1 : seconds(object.destroyed) / this.lastTime;
    return html`<span class="life wide" .style=${`width: ${columns[4]}`} title="created ${object.created ?? "at a time that is not known"}, ${object.destroyed === null ? "not destroyed" : `destroyed ${object.destroyed}`}"><span
      class=${object.destroyed === null ? "" : "ended"} .style=${`left: ${born * 95}%; width: ${Math.max(0.5, (died - born) * 95)}%`}></span></span>`;
  }
  // Returns the numbers of each kind.
  private counts(): string {
    const kinds = new Map<string, { alive: number; destroyed: number }>();
    for (const { kind, state } of this.report.data.objects) {
      if (state === "free") continue;
      const found = kinds.get(kind) ?? { alive: 0, destroyed: 0 };
      ++found[state === "alive" ? "alive" : "destroyed"];
      kinds.set(kind, found);
    }
    return [...kinds].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, { alive, destroyed }]) => `${kind}: ${grouped(alive)}${destroyed ? ` (and ${grouped(destroyed)} destroyed)` : ""}`).join(", ");
  }
  private fault({ address, title, source }: Named) {
    const { report } = this;
    const object = (index: number) => html`<a class="isolate" href=${linkTo({ view: "memory", object: String(index) })}>${report.object(index)}</a>`;
    const ended = (index: number) => (report.data.objects[index]?.state === "destroyed" ? " (destroyed)" : "");
    const from = (at: bigint, to: bigint) => html`<div class="gap">${bytes(to > at ? to - at : 0n)}<br>in no object</div>`;
    return html`<div class="fault"><div>${title}: ${visible(address.words, 4000)}</div>
      ${address.around ? html`<div>around it: ${visible(address.around, 1000)}</div>` : nothing}
      ${source ? html`<div class="quiet">${source}</div>` : nothing}
      <div class="strip" tabindex="0" role="group" aria-label="Around ${address.address}">${address.below ? html`<div>${object(address.below.object)}<br><span class="quiet">ends ${bytes(BigInt(address.below.distance))} below${ended(address.below.object)}</span></div>` : html`<div class="gap">nothing known below</div>`}
        ${address.owners.length ? nothing : address.below ? from(0n, BigInt(address.below.distance)) : nothing}
        <div class="here"><b>! ${address.address}</b>${address.owners.map((owner) => html`<div>${owner.exact ? "in" : "on the page of"} ${object(owner.object)} + ${owner.offset} <span class="quiet">of ${report.size(owner.object)}${report.data.objects[owner.object]?.state === "destroyed" ? ", destroyed" : ""}</span></div>`)}
          ${address.owners.length ? nothing : html`<div>in no object that is known</div>`}${address.owner_count > address.owners.length ? html`<div>and ${address.owner_count - address.owners.length} more</div>` : nothing}</div>
        ${address.owners.length ? nothing : address.above ? from(0n, BigInt(address.above.distance)) : nothing}
        ${address.above ? html`<div>${object(address.above.object)}<br><span class="quiet">begins ${bytes(BigInt(address.above.distance))} above${ended(address.above.object)}</span></div>` : html`<div class="gap">nothing known above</div>`}</div></div>`;
  }
  override render() {
    const addresses = this.addresses();
    const { freed_in_flight: freed, memory } = this.report.data;
    const counts = this.counts();
    if (!counts && !addresses.length && !freed.length && !memory.length) return empty("No object is known", "The program had created no buffer, texture or heap that Cairn saw, or the file leaves objects out. Cairn sees those that a program creates while it is watched:", "cairn run -- ./program");
    return html`${addresses.length ? html`<div class="faults" tabindex="0" role="group" aria-label="Faults">${addresses.map((each) => this.fault(each))}</div>`
      : nothing}
      ${freed.length ? html`<div class="freed"><b>Destroyed while work was ${inFlight}, and reachable by address</b>
        <ul>${freed.slice(0, 64).map(({ object, words }) => html`<li class="wrong">! <a class="isolate" href=${linkTo({ view: "memory", object: String(object) })}>${visible(words, 2000)}</a></li>`)}</ul></div>` : nothing}
      ${memory.map(({ device, result, words, heaps }) => html`<div class="freed"><b>Memory${device === null ? "" : ` of device ${device}`}</b>
        <ul>${result ? html`<li class="wrong">! ${visible(words, 2000)}</li>` : nothing}${heaps.slice(0, 64).map((heap) => html`<li>${visible(heap.words)}</li>`)}</ul></div>`)}
      <p class="quiet counts">${addresses.length ? "" : "No address of a fault is known. "}${counts ? `Objects: ${counts}` : "No object is known."}</p>
      <div class="head"><span .style=${`width: ${columns[0]}`}>from</span><span class="wide" .style=${`width: ${columns[1]}`}>to</span><span class="right" .style=${`width: ${columns[2]}`}>size</span><span .style=${`width: ${columns[3]}`}>state</span><span class="wide" .style=${`width: ${columns[4]}`}>lived 0–${Number(this.lastTime.toPrecision(3))} s</span> object</div>
      <cairn-rows label="Objects by GPU address" .count=${this.rows.length} .chosen=${this.chosenRow()} .revision=${this.revision} .draw=${(row: number) => this.draw(row)} @choose=${this.choose}></cairn-rows>`;
  }
}
customElements.define("cairn-memory", Memory);
