// SPDX-License-Identifier: Apache-2.0
//
// Whose report it is: the process, its user data, its devices, what it was told with, and what is missing.
import { LitElement, css, html, nothing } from "lit";
import type { Device, Report, UserData } from "./report.js";
import { shared } from "./style.js";
import { count, visible } from "./words.js";

const apis: Record<string, string> = { d3d12: "Direct3D 12", d3d11: "Direct3D 11", vulkan: "Vulkan" };
const id = (number: number) => "0x" + number.toString(16).padStart(4, "0");

export class Process extends LitElement {
  static override properties = { report: { attribute: false } };
  declare report: Report;
  static override styles = [shared, css`
    dl { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: var(--s1) var(--s4); margin: 0; }
    .card { margin-bottom: var(--s4); }
    dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
    td:nth-child(2) { white-space: nowrap; }
    pre { overflow-x: auto; margin: var(--s1) 0; }
  `];

  private lost(device: Device): string {
    const code = device.device_lost_code;
    const name = this.report.data.incidents.find((incident) => incident.kind === "device lost" && incident.value === code)?.name;
    return name ? `${name} (${code})` : String(code);
  }
  private device(device: Device, index: number) {
    return html`<section class="card"><h2 class="isolate">Device ${index}: ${visible(device.name)}</h2><dl>
      <dt>interface</dt><dd><span class="isolate">${apis[device.api] ?? device.api}${device.driver ? `, driver ${visible(device.driver)}` : ""}</span>, vendor ${id(device.vendor_id)}, device ${id(device.device_id)}, frame ${device.frame}${device.destroyed ? ", context destroyed" : ""}</dd>
      ${device.device_lost ? html`<dt>lost</dt><dd class="wrong">! The program reported it lost: ${this.lost(device)}</dd>` : nothing}
      <dt>marker mode</dt><dd>${device.marker_mode}${device.marker_mode === "off" ? "" : `, written with ${device.write_method}, ${device.word_memory} memory`}
        <div class="quiet">${device.marker_mode_tells} ${device.marker_mode === "off" ? "" : device.word_memory_tells}</div></dd>
      ${device.application ? html`<dt>application</dt><dd class="isolate">${visible(device.application)}</dd>` : nothing}
      ${device.annotation_driver ? html`<dt>annotations</dt><dd>go to the driver ${visible(device.annotation_driver)}${device.annotations_forced ? "; DRIVER_RETAIL is forced by d3dconfig" : ""}</dd>` : nothing}
      ${device.notes ? html`<dt>note on this device</dt><dd>${visible(device.notes, 4000)}</dd>` : nothing}
      ${device.lists_dropped ? html`<dt>no room</dt><dd class="wrong">! ${count(device.lists_dropped, "command list")} found no room and ${device.lists_dropped === 1 ? "is" : "are"} not in this report: use a larger max_command_lists.</dd>` : nothing}
      ${device.sources.length ? html`<dt>told by</dt><dd><details><summary>${count(device.sources.filter(({ state }) => state === "present").length, "data source")} of ${device.sources.length}</summary>
        <table><tbody>${device.sources.map((source) => html`<tr><td>${source.state}</td><td>${visible(source.name)}</td><td class="quiet">${visible(source.reason, 1000)}</td></tr>`)}</tbody></table></details></dd>` : nothing}</dl></section>`;
  }
  private userData({ key, size_bytes, text }: UserData) {
    const size = html`<span class="isolate">${visible(key)}</span>, ${count(size_bytes, "byte")}`;
    if (!text) return html`<li>${size}</li>`;
    return text.length <= 80 && !text.includes("\n") ? html`<li>${size}: ${visible(text)}</li>`
      : html`<li><details><summary>${size}</summary><pre>${text.split("\n").map((line) => visible(line, 4000)).join("\n")}</pre></details></li>`;
  }
  override render() {
    const { process, devices, losses, user_data } = this.report.data;
    const times = new Map<string, number>();
    for (const loss of losses) times.set(loss, (times.get(loss) ?? 0) + 1);
    return html`${losses.length ? html`<section class="card"><h2>Missing from this report</h2><ul class="losses">${[...times].map(([loss, number]) => html`<li>${visible(loss, 2000)}${number > 1 ? html` <span class="quiet">(${count(number, "time")})</span>` : nothing}</li>`)}</ul></section>` : nothing}
      <section class="card"><h2>Process</h2>
      <dl><dt>program</dt><dd>${visible(process.program)}, process ${process.id}${process.library_version ? `, libcairn ${visible(process.library_version)}` : ""}</dd>
        ${process.command_line ? html`<dt>command line</dt><dd>${visible(process.command_line, 2000)}</dd>` : nothing}
        <dt>started</dt><dd>${process.started ?? "at a time that is not known"}</dd><dt>seen</dt><dd>${process.seen ?? "at a time that is not known"}</dd></dl></section>
      ${user_data.length ? html`<section class="card"><h2>User data</h2><ul>${user_data.map((entry) => this.userData(entry))}</ul></section>` : nothing}
      ${devices.map((device, index) => (device.api === "none" ? nothing : this.device(device, index)))}`;
  }
}
customElements.define("cairn-process", Process);
