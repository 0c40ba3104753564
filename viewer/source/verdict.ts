// SPDX-License-Identifier: Apache-2.0
//
// The answer first: what happened, in which work, how sure that is, and what to do next.
import { LitElement, css, html, nothing } from "lit";
import { marks, type Report, type Suspect } from "./report.js";
import { linkTo } from "./selection.js";
import { shared } from "./style.js";
import { count, visible } from "./words.js";

const shownSuspects = 4;

export class Verdict extends LitElement {
  static override properties = { report: { attribute: false }, file: {}, all: { state: true }, copied: { state: true } };
  declare report: Report;
  declare file: string;
  declare all: boolean;
  declare copied: string;

  static override styles = [shared, css`
    :host { max-width: 140ch; }
    .answer { border-left: 5px solid var(--busy); background: var(--raised); padding: 0.7rem 1rem; border-radius: 0 6px 6px 0; }
    .answer.fine { border-color: var(--done); }
    .answer p { font-size: 1.15rem; line-height: 1.5; max-width: none; overflow-wrap: anywhere; }
    .facts { display: flex; gap: 1.2rem; align-items: center; flex-wrap: wrap; margin-top: 0.4rem; }
    .path { font-family: var(--mono); font-size: 0.95em; overflow-wrap: anywhere; }
    ol > li { margin-bottom: 0.6rem; }
    td code { overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; margin: 0.3rem 0; }
    dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    this.all = false;
    this.copied = "";
    this.file = "";
  }
  private async copy(): Promise<void> {
    const text = this.report.markdown(this.file);
    try {
      await navigator.clipboard.writeText(text);
      this.copied = "copied";
    } catch {
      this.copied = text;  // where pages may not copy: to be copied by hand
    }
  }
  private suspect(suspect: Suspect, first: boolean) {
    const { report } = this;
    const scope = suspect.scope === null ? undefined : report.data.scopes[suspect.scope];
    const state = scope?.state ?? report.data.executions[suspect.execution]!.state;
    const bindings = first && suspect.scope !== null ? report.bindingsOf(suspect.scope) : suspect.binding ? [suspect.binding] : [];
    const place = suspect.scope === null ? { execution: String(suspect.execution) } : { scope: String(suspect.scope) };
    return html`<li>
      <span class="mark ${state.replace(" ", "-")}" title=${state}>${marks[state]}</span>
      <a class="path isolate" href=${linkTo({ view: "tree", ...place })}>${report.path(suspect.execution, suspect.scope)}</a>
      <span class="quiet">– ${suspect.words}${suspect.after_marker !== null ? `, behind ${count(suspect.after_marker, "raw marker")}` : ""}</span>
      ${scope && scope.pipeline !== null ? html`<div class="isolate">${report.pipeline(scope.pipeline)}</div>` : nothing}
      ${scope?.annotation != null ? html`<div>EventID ${report.data.annotations[scope.annotation]?.event_id}</div>` : nothing}
      ${scope?.call !== undefined ? html`<div><a href=${linkTo({ view: "state", call: String(scope.call), scope: String(suspect.scope) })}>call ${scope.call}</a></div>` : nothing}
      ${bindings.map((binding) => html`<div class=${binding.state === "alive" || binding.state === "not seen" ? "" : "wrong"}>
        ${binding.state === "alive" || binding.state === "not seen" ? "" : "! "}<span class="isolate">${binding.object === null ? report.binding(binding)
          : html`<a href=${linkTo({ view: "memory", object: String(binding.object) })}>${report.binding(binding)}</a>`}</span></div>`)}
    </li>`;
  }
  override render() {
    const { report } = this;
    const { verdict, incidents, verdicts, faults, process, devices, losses, kernel_log: kernel } = report.data;
    const suspects = this.all ? verdict.suspects : verdict.suspects.slice(0, shownSuspects);
    return html`
      <div class="answer ${verdict.kind === "nothing wrong" ? "fine" : ""}">
        <p id="sentence">${visible(verdict.sentence, 4000)}</p>
        <div class="facts"><span>${verdict.kind}</span><span>certainty: ${verdict.certainty}</span>
          <button @click=${this.copy}>Copy as Markdown</button><span role="status">${this.copied === "copied" ? "copied" : ""}</span></div>
        ${this.copied && this.copied !== "copied" ? html`<pre tabindex="0">${this.copied}</pre>` : nothing}
      </div>
      ${verdict.suspects.length ? html`<h2>${["killed", "exited", "CPU fault", "nothing wrong"].includes(verdict.kind) ? "What was running on the GPU" : "Suspects, the likeliest first"}</h2>
        <ol>${suspects.map((suspect, index) => this.suspect(suspect, index === 0))}</ol>
        ${verdict.suspects.length > suspects.length ? html`<button @click=${() => (this.all = true)}>Show all ${verdict.suspects.length}</button>` : nothing}` : nothing}
      ${verdict.last_finished.length ? html`<h2>What had finished last</h2><ul>${verdict.last_finished.map((last) => html`<li>${report.queue(last.queue)}:
        <a href=${linkTo({ view: "tree", ...(last.scope === null ? { execution: String(last.execution) } : { scope: String(last.scope) }) })}>${report.path(last.execution, last.scope)}</a></li>`)}</ul>` : nothing}
      <h2>What happened</h2>
      <ul>${incidents.map((incident) => html`<li>${visible(incident.sentence, 2000)}</li>`)}</ul>
      ${faults.length ? html`<h2>Fault</h2><ul>${faults.flatMap((fault) => fault.addresses.map((address) => html`<li>
        <a href=${linkTo({ view: "memory", address: address.address })}>${address.type} at ${address.address}</a>: ${address.state}${
          address.owners[0] ? html`, <span class="isolate">${report.object(address.owners[0].object)} + ${address.owners[0].offset}</span>` : nothing}
        <span class="quiet">(${visible(fault.source)})</span></li>`))}</ul>` : nothing}
      ${kernel && kernel.lines.some((line) => line.tells_fault) ? html`<h2>What the kernel says</h2><ul>${kernel.lines.filter((line) => line.tells_fault).slice(0, 4).map((line) =>
        html`<li class="mono">${line.names_process ? "! " : ""}[${line.time}] ${visible(line.text)}</li>`)}</ul>` : nothing}
      <h2>Which work was running</h2>
      <ul>${verdicts.map((each) => html`<li>${report.queue(each.queue)}: ${each.unknown ? "not known" : each.exact ? "exactly one work was running" : each.candidates.length + each.list_candidates.length ? count(each.candidates.length + each.list_candidates.length, "candidate") : "nothing was running"}
        <div class="quiet">${visible(each.reason, 2000)}</div></li>`)}</ul>
      <h2>Next</h2>
      <table><tbody>${report.commands(this.file).map(({ what, command }) => html`<tr><td>${what}</td><td><code>${command}</code></td></tr>`)}</tbody></table>
      <h2>Process and device</h2>
      <dl><dt>program</dt><dd>${visible(process.program)}, process ${process.id}, libcairn ${visible(process.library_version)}</dd>
        ${process.command_line ? html`<dt>command line</dt><dd>${visible(process.command_line, 2000)}</dd>` : nothing}
        <dt>started, seen</dt><dd>${process.started ?? "not known"}, ${process.seen ?? "not known"}</dd>
        ${devices.map((device, index) => html`<dt>device ${index}</dt><dd><span class="isolate">${visible(device.name)}, ${visible(device.driver)}</span>; ${device.api}, marker mode ${device.marker_mode}
          <div class="quiet">${device.marker_mode_tells} ${device.word_memory_tells}</div></dd>`)}</dl>
      ${losses.length ? html`<h2>What is missing from this report</h2><ul>${losses.map((loss) => html`<li>${visible(loss)}</li>`)}</ul>` : nothing}`;
  }
}
customElements.define("cairn-verdict", Verdict);
