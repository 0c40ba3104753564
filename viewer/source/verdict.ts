// SPDX-License-Identifier: Apache-2.0
//
// The answer first: what happened, in which work, how sure that is, and what to do next.
import { LitElement, css, html, nothing } from "lit";
import { rows } from "./evidence.js";
import "./process.js";
import { type Binding, type Report, type ReportData, type Suspect } from "./report.js";
import { linkTo } from "./selection.js";
import { classes, marks } from "./states.js";
import { shared } from "./style.js";
import { count, grouped, visible } from "./words.js";

const shownSuspects = 4;
const isHarmless = (binding: Binding) => binding.state === "alive" || binding.state === "not seen";

export class Verdict extends LitElement {
  static override properties = { report: { attribute: false }, file: {}, all: { state: true }, copied: { state: true } };
  declare report: Report;
  declare file: string;
  declare all: boolean;
  declare copied: string;

  static override styles = [shared, css`
    /* What is wrong; beside it, where there is room, whose it is and what comes next. */
    :host { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 58rem), 1fr)); gap: 1.2rem 3rem; max-width: 150rem; }
    .answer { border-left: 5px solid var(--busy); background: var(--raised); padding: 0.7rem 1rem; border-radius: 0 6px 6px 0; }
    .answer.fine { border-color: var(--done); }
    .answer p { font-size: 1.15rem; line-height: 1.5; max-width: none; overflow-wrap: anywhere; }
    .facts { display: flex; gap: 1.2rem; align-items: center; flex-wrap: wrap; margin-top: 0.4rem; }
    .path { font-family: var(--mono); font-size: 0.95em; overflow-wrap: anywhere; }
    ol > li { margin-bottom: 0.6rem; }
    td code { overflow-wrap: anywhere; }
    cairn-process { margin-top: 1.2rem; }
  `];

  constructor() {
    super();
    this.all = false;
    this.copied = "";
    this.file = "";
  }
  private async copy(): Promise<void> {
    const text = this.report.markdown;
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
    const candidate = first && suspect.scope !== null ? report.candidate(suspect.scope) : undefined;
    const bindings = candidate?.bindings ?? (suspect.binding ? [suspect.binding] : []);
    const place = suspect.scope === null ? { execution: String(suspect.execution) } : { scope: String(suspect.scope) };
    return html`<li>
      <span class="mark ${classes[state]}" title=${state}>${marks[state]}</span>
      <a class="path isolate" href=${linkTo({ view: "tree", ...place })}>${report.work(suspect.execution, suspect.scope, suspect.after_marker)}</a>
      <span class="quiet">– ${candidate ? suspect.words.split("; uses ")[0] : suspect.words}</span>
      ${scope && scope.pipeline !== null ? html`<div class="isolate">${report.pipeline(scope.pipeline)}</div>` : nothing}
      ${[report.eventId(candidate?.annotation_scope ?? null)].map((id) => (id ? html`<div class="isolate">${id}</div>` : nothing))}
      ${scope?.call !== undefined ? html`<div><a href=${linkTo({ view: "state", call: String(scope.call), scope: String(suspect.scope) })}>call ${grouped(scope.call)}</a></div>` : nothing}
      ${bindings.map((binding) => html`<div class=${isHarmless(binding) ? "" : "wrong"}>${isHarmless(binding) ? "" : "! "}<span class="isolate">${this.binding(binding)}</span></div>`)}
    </li>`;
  }
  // Links the object to Memory.
  private binding(binding: Binding) {
    const all = this.report.binding(binding), name = this.report.object(binding.object);
    const at = binding.object === null ? -1 : all.indexOf(name);
    return at < 0 ? all : html`${all.slice(0, at)}<a href=${linkTo({ view: "memory", object: String(binding.object) })}>${name}</a>${all.slice(at + name.length)}`;
  }
  private running(verdict: ReportData["verdicts"][number]) {
    const { report } = this;
    const works = verdict.candidates.length + verdict.list_candidates.length;
    const what = verdict.unknown ? "unknown" : works === 0 ? "nothing was running" : verdict.exact ? "exactly one work was running"
      : verdict.ends_unseen ? `unknown, ${count(works, "candidate")} whose end cannot be seen` : count(works, "candidate");
    // Else they are suspects.
    const told = report.data.verdict.suspects.length ? [] : [...verdict.candidates, ...verdict.list_candidates.map((execution) => ({ execution, scope: null })),
      ...(verdict.late_suspect ? [verdict.late_suspect] : [])];
    return html`<li>${report.queue(verdict.queue)}: ${what}<div class="quiet">${visible(verdict.reason, 2000)}</div>
      ${told.length ? rows(told, ({ execution, scope }) => html`<li><a class="path isolate" href=${linkTo({ view: "tree", ...(scope === null ? { execution: String(execution) } : { scope: String(scope) }) })}>${report.work(execution, scope, null)}</a></li>`, 16) : nothing}</li>`;
  }
  private answer() {
    const { verdict } = this.report.data;
    return html`<div class="answer ${verdict.kind === "nothing wrong" ? "fine" : ""}">
        <p id="sentence">${visible(verdict.sentence, 4000)}</p>
        <div class="facts"><span>${verdict.kind}</span><span>how sure: ${verdict.how_sure === "one of" ? `one of ${grouped(verdict.suspects.length)}` : verdict.how_sure}</span>
          <button @click=${this.copy}>Copy as Markdown</button><span role="status">${this.copied === "copied" ? "copied" : ""}</span></div>
        ${this.copied && this.copied !== "copied" ? html`<pre tabindex="0">${this.copied}</pre>` : nothing}
      </div>`;
  }
  override render() {
    const { report } = this;
    const { verdict, incidents, verdicts } = report.data;
    const suspects = this.all ? verdict.suspects : verdict.suspects.slice(0, shownSuspects);
    const accused = !["killed", "exited", "CPU fault", "nothing wrong"].includes(verdict.kind);
    return html`<div>${this.answer()}
      ${suspects.length ? html`<h2>${accused ? "Suspects" : "What was running on the GPU"}${verdict.suspects.length > 1 ? ", the likeliest first" : ""}</h2>
        <ol>${suspects.map((suspect, index) => this.suspect(suspect, index === 0))}</ol>
        ${verdict.suspects.length > suspects.length ? html`<button @click=${() => (this.all = true)}>Show all ${grouped(verdict.suspects.length)}</button>` : nothing}` : nothing}
      ${verdict.last_completed.length ? html`<h2>What had finished last</h2><ul>${verdict.last_completed.map((last) => html`<li>${report.queue(last.queue)}:
        <a class="isolate" href=${linkTo({ view: "tree", ...(last.scope === null ? { execution: String(last.execution) } : { scope: String(last.scope) }) })}>${report.path(last.execution, last.scope)}</a></li>`)}</ul>` : nothing}
      <h2>What happened</h2>
      <ul class="incidents">${incidents.length ? incidents.map((incident) => html`<li>${visible(incident.sentence, 2000)}</li>`)
        : html`<li>No incident was noticed; this is the state when the status was asked for.</li>`}</ul>
      <h2>Which work was running</h2>
      ${verdicts.length ? html`<ul>${verdicts.map((each) => this.running(each))}</ul>` : html`<p>Nothing is known: no command list is registered.</p>`}
      <cairn-evidence .report=${report}></cairn-evidence></div>
    <div><h2>Next</h2>
      <table><tbody>${report.commands(this.file).map(({ what, command }) => html`<tr><td>${what}</td><td><code>${command}</code></td></tr>`)}</tbody></table>
      <cairn-process .report=${report}></cairn-process></div>`;
  }
}
customElements.define("cairn-verdict", Verdict);
