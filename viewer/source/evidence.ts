// SPDX-License-Identifier: Apache-2.0
//
// What others tell of the crash: the driver, the kernel, and the program's own raw markers.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import type { Fault, RawMarkerVerdict, Report } from "./report.js";
import { linkTo } from "./selection.js";
import { classes, inFlight, marks } from "./states.js";
import { shared } from "./style.js";
import { bytes, count, quoted, visible } from "./words.js";

const mostRows = 256;

// The first rows; how many more there are, which Facts has.
export function rows<T>(all: readonly T[], draw: (each: T, index: number) => TemplateResult, most = mostRows): TemplateResult {
  return html`<ul>${all.slice(0, most).map(draw)}${all.length > most ? html`<li><a href=${linkTo({ view: "facts" })}>${count(all.length - most, "more", "more")} in Facts</a></li>` : nothing}</ul>`;
}
const card = (title: string, content: unknown) => html`<section class="card"><h2>${title}</h2>${content}</section>`;
export const hex64 = (value: string) => "0x" + BigInt(value).toString(16).padStart(16, "0");

export class Evidence extends LitElement {
  static override properties = { report: { attribute: false } };
  declare report: Report;
  static override styles = [shared, css`
    .card { margin-bottom: var(--s4); }
    li li { list-style: circle; }
    .slots li { margin: 0; }
    .slots { columns: 24rem; list-style: none; padding: 0; font-family: var(--mono); font-size: 0.93em; }
  `];

  private fault(fault: Fault) {
    const { report } = this;
    return html`<li>${report.data.devices.length > 1 && fault.device !== null ? `device ${fault.device}, ` : ""}${visible(fault.source)}${
      fault.result < 0 ? ` could not be asked: VkResult ${fault.result}` : fault.description ? `: ${quoted(fault.description)}` : ""}${fault.time ? `, at ${fault.time}` : ""}
      <ul>${fault.result >= 0 && !fault.addresses.length ? html`<li>The driver reported no address.</li>` : nothing}${fault.addresses.map((address) => html`<li>
          ${address.state === "no address" ? visible(address.type ?? "") : html`<a href=${linkTo({ view: "memory", address: address.address })}>${address.type} at ${address.address}</a>: ${address.state}${
            address.owners.map((owner, index) => html`${index ? "; or" : ","} in <span class="isolate">${report.object(owner.object)} + ${owner.offset}</span>`)}`}</li>`)}
        ${fault.vendor_infos.map((info) => html`<li>vendor: ${visible(info.description)}, code ${info.code}, data ${info.data}</li>`)}
        ${fault.vendor_binary_bytes ? html`<li>binary of the vendor, ${bytes(fault.vendor_binary_bytes)}${fault.vendor_binary_kept ? "; cairn report --extract DIR writes it to a file" : ", not kept here"}</li>` : nothing}</ul></li>`;
  }
  private kernel() {
    const log = this.report.data.kernel_log;
    if (!log || (!log.lines.length && !log.why_not)) return nothing;
    return card("Kernel log", log.why_not ? html`<p>the log is unavailable: ${visible(log.why_not, 2000)}</p>`
      : rows(log.lines, (line) => html`<li>[${line.time}] ${line.names_process ? html`<span class="wrong">! of this process</span>` : "of no process that is named"}: <span class="mono">${visible(line.text, 2000)}</span>
        ${line.address ? html`<div><a href=${linkTo({ view: "memory", address: line.address.address })}>the page of ${line.address.address}</a>: ${line.address.state}</div>` : nothing}</li>`));
  }
  private checkpoints() {
    const { checkpoints } = this.report.data;
    if (!checkpoints.length) return nothing;
    return card("Checkpoints of the driver", rows(checkpoints, ({ queue, stage, relation, reason }) => {
      const contradicts = relation.startsWith("contradicts");
      return html`<li>${this.report.queue(queue)}, ${stage}: <span class=${contradicts ? "wrong" : ""}>${contradicts ? "! " : ""}${relation}</span>. ${visible(reason, 2000)}</li>`;
    }));
  }
  private reportedEventIds() {
    const { reported_event_ids: reported, annotations, scopes } = this.report.data;
    if (!reported.length) return nothing;
    const means = (state: string, annotation: number | null) => state === "resolved" ? quoted(annotations[annotation!]?.name ?? "")
      : state === "expired" ? "expired; its command allocator was reset, or its queue let it go" : "unknown; no marker that is kept has it";
    return card("EventIDs that the driver reported", rows(reported, ({ event_id: id, state, annotation, scope }) => html`<li>${id}: ${means(state, annotation)}${
      scope === null || !scopes[scope] ? nothing : html`; in <a class="isolate" href=${linkTo({ view: "tree", scope: String(scope) })}>${this.report.path(this.report.executionOf(scope), scope)}</a>, ${scopes[scope].state}`}</li>`));
  }
  private rawVerdict(verdict: RawMarkerVerdict) {
    const running = verdict.works.filter(({ state }) => state === inFlight);
    const order = [...running.filter((work) => work.likely), ...running.filter((work) => !work.likely)];
    const first = Math.max(0, verdict.markers.length - mostRows);
    return html`<li>${this.report.queue(verdict.queue)}: ${verdict.candidate_count ? `${count(verdict.candidate_count, "candidate")}, ${verdict.likely_count} of them likely` : "all that lies between raw markers had completed or not begun"}
      ${rows(order, (work) => html`<li><span class="mark ${classes[inFlight]}">${marks[inFlight]}</span> <span class="isolate">${this.report.work(work.execution, work.scope, work.after_marker)}</span>
        <div class="quiet">${visible(work.reason, 2000)}</div></li>`, 16)}
      ${verdict.consistent ? nothing : html`<p class="wrong">! No order of execution leaves the slots as they are: stores were lost, or slots hold values of an earlier use. No work is known not to have started.</p>`}
      ${verdict.executions_left_out ? html`<p>${count(verdict.executions_left_out, "older execution")} of command lists not shown.</p>` : nothing}
      ${verdict.markers.length ? html`<details><summary>${count(verdict.markers.length, "marker")}</summary>${first ? html`<p>… ${first} before these</p>` : nothing}
        <ul class="slots">${verdict.markers.slice(first).map((marker, index) => html`<li>marker ${first + index + 1}: ${marker.pipe} of pipe, slot ${marker.slot}, ${hex64(marker.value)}: ${marker.arrival}</li>`)}</ul></details>` : nothing}</li>`;
  }
  private rawMarkers() {
    const { raw_markers: markers, raw_marker_verdicts: verdicts, devices } = this.report.data;
    return html`${verdicts.length ? card("Conclusions from raw markers", html`<ul>${verdicts.map((verdict) => this.rawVerdict(verdict))}</ul>`) : nothing}
      ${markers.length ? card("Raw markers (slots that were written)", html`<ul class="slots">${markers.slice(0, mostRows).map((marker) => html`<li>${
        devices.length > 1 && marker.device !== null ? `device ${marker.device}, ` : ""}slot ${marker.slot}: ${hex64(marker.value)} (${BigInt(marker.value)})</li>`)}</ul>
        ${markers.length > mostRows ? html`<p><a href=${linkTo({ view: "facts" })}>${count(markers.length - mostRows, "more", "more")} in Facts</a></p>` : nothing}`) : nothing}`;
  }
  override render() {
    const { faults } = this.report.data;
    return html`${faults.length ? card("Fault", html`<ul>${faults.map((fault) => this.fault(fault))}</ul>`) : nothing}
      ${this.kernel()}${this.checkpoints()}${this.reportedEventIds()}${this.rawMarkers()}`;
  }
}
customElements.define("cairn-evidence", Evidence);
