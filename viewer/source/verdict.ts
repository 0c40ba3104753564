// SPDX-License-Identifier: Apache-2.0
//
// The answer first: what happened, in which work, how sure that is, and what to do next.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { copyText } from "./copy.js";
import "./drawn.js";
import { rows } from "./evidence.js";
import { isHarmless, bindingLine } from "./pipeline.js";
import "./process.js";
import { withoutCulprit, type Report, type ReportData, type Step, type Suspect } from "./report.js";
import { linkTo, type Place } from "./selection.js";
import { classes, completed, inFlight, marks, notStarted, unknown } from "./states.js";
import { shared } from "./style.js";
import { verdictBadge } from "./why.js";
import type { Why } from "./why_answer.js";
import { count, grouped, visible } from "./words.js";

const shownSuspects = 4;

export class Verdict extends LitElement {
  static override properties = { report: { attribute: false }, why: { attribute: false }, trace: { type: Boolean }, all: { state: true }, copied: { state: true } };
  declare report: Report;
  declare why: Why | undefined;
  declare trace: boolean;   // there are calls to lead to
  declare all: boolean;
  declare copied: string;

  static override styles = [shared, css`
    :host { container-type: inline-size; max-width: 120rem; margin: 0 auto; }
    /* What is wrong and what comes next; beside it, where there is room, whose it is. */
    .layout { display: grid; gap: var(--s4) var(--s6); grid-template: "answer" "next" "main" "process" / minmax(0, 1fr); }
    @container (min-width: 68rem) {
      .layout { grid-template: "answer answer" "main next" "main process" 1fr / minmax(0, 1fr) minmax(22rem, 27rem); }
    }
    .answer { grid-area: answer; border-left: 4px solid var(--busy); padding: var(--s4) var(--s6); }
    .answer.fine { border-left-color: var(--line); }
    .next { grid-area: next; } .main { grid-area: main; min-width: 0; } cairn-process { grid-area: process; min-width: 0; }
    .badges { display: flex; gap: var(--s2); align-items: center; flex-wrap: wrap; }
    .badges .space { flex: 1; }
    #headline { font-size: var(--display); line-height: 1.2; margin: var(--s2) 0 var(--s3); overflow-wrap: anywhere; }
    #headline.long { font-size: var(--title); line-height: 1.35; }
    .chips { display: flex; flex-wrap: wrap; gap: var(--s1); align-items: center; margin: var(--s3) 0 0; padding: 0; list-style: none; }
    .chips li { margin: 0; min-width: 0; }
    .chips li + li::before { content: "›"; color: var(--quiet); margin-right: var(--s1); }
    .chip { display: inline-block; max-width: 100%; padding: 0 var(--s2); line-height: 1.5rem; border: 1px solid var(--line); border-radius: var(--round); background: var(--ground); color: var(--text); text-decoration: none; transition: background var(--soft); overflow-wrap: anywhere; }
    .chip:hover { background: var(--over); }
    .chip.culprit { border-color: var(--busy); font-weight: 600; }
    dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: var(--s1) var(--s4); margin: 0; }
    dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
    .main > .card { margin-bottom: var(--s4); }
    .suspects { padding: 0; list-style: none; }
    .suspects > li { display: grid; grid-template-columns: 2ch 3ch minmax(0, 1fr); gap: 0 var(--s2); padding: var(--s2) 0; margin: 0; border-top: 1px solid var(--line); }
    .suspects > li:first-child { border-top: 0; }
    .next ol { padding: 0; list-style: none; }
    .next li + li { margin-top: var(--s3); }
    .next ol, .suspects { margin: 0; }
    .scroll { overflow-x: auto; }
  `];

  constructor() {
    super();
    this.all = this.trace = false;
    this.copied = "";
  }
  private async copy(): Promise<void> {
    const text = this.report.markdown;
    this.copied = (await copyText(text)) ? "copied" : text;  // where pages may not copy: to be copied by hand
  }
  private suspect(suspect: Suspect, index: number) {
    const { report } = this;
    const scope = suspect.scope === null ? undefined : report.data.scopes[suspect.scope];
    const state = scope?.state ?? report.data.executions[suspect.execution]!.state;
    const candidate = !index && suspect.scope !== null ? report.candidate(suspect.scope) : undefined;
    const place = suspect.scope === null ? { execution: String(suspect.execution) } : { scope: String(suspect.scope) };
    const bindings = index ? (suspect.binding ? [suspect.binding] : []) : [];  // the first one's stand by its pipeline
    return html`<li><span class="number quiet">${index + 1}</span><span class="mark ${classes[state]}" title=${state}>${marks[state]}</span><div>
      <a class="path isolate" href=${linkTo({ view: "tree", ...place })}>${report.work(suspect.execution, suspect.scope, suspect.after_marker)}</a>
      <span class="quiet">– ${candidate ? suspect.words.split(/; (?:uses|bound:) /)[0] : suspect.words}</span>
      ${scope && scope.pipeline !== null ? html`<div class="isolate quiet">${report.pipeline(scope.pipeline)}</div>` : nothing}
      ${[report.eventId(candidate?.annotation_scope ?? null)].map((id) => (id ? html`<div class="isolate">${id}</div>` : nothing))}
      ${scope?.call !== undefined ? html`<div><a href=${linkTo({ view: "state", call: String(scope.call), scope: String(suspect.scope) })}>call ${grouped(scope.call)}</a></div>` : nothing}
      ${bindings.map((binding) => bindingLine(report, binding))}</div></li>`;
  }
  // From the queue to the work, each step a link to where it is drawn.
  private chips(suspect: Suspect): TemplateResult {
    const { report } = this;
    const execution = report.data.executions[suspect.execution]!;
    const scopes = suspect.scope === null ? [] : report.around(suspect.scope);
    const chip = (text: string, place: Place, last = false) => html`<li><a class="chip isolate ${last ? "culprit" : ""}" href=${linkTo(place)}>${
      last ? html`<span class="mark in-flight" title=${inFlight}>${marks[inFlight]}</span> ` : nothing}${text}</a></li>`;
    const { queue, submission_number: submission } = execution;
    const call = suspect.scope === null ? undefined : report.data.scopes[suspect.scope]?.call;
    const annotation = suspect.scope === null ? "" : report.eventId(report.candidate(suspect.scope)?.annotation_scope ?? null);
    const behind = suspect.scope === null ? report.work(suspect.execution, null, suspect.after_marker).split(" > ").at(-1)! : "";
    return html`<nav aria-label="Where the culprit is"><ol class="chips">
      ${queue === null || submission === null ? nothing : chip(`${report.queue(queue)}, submission ${submission}`, { view: "timeline", queue: String(queue), submission: String(submission), execution: String(suspect.execution) })}
      ${chip(`frame ${grouped(execution.frame)}: ${report.list(suspect.execution)}`, { view: "tree", execution: String(suspect.execution) })}
      ${scopes.map((scope, index) => chip(report.scope(scope), { view: "tree", scope: String(scope) }, index === scopes.length - 1))}
      ${behind ? html`<li>${behind}</li>` : nothing}${annotation ? html`<li class="quiet isolate">${annotation}</li>` : nothing}
      ${call === undefined || !this.trace ? nothing : html`${chip(`call ${grouped(call)}`, { view: "calls", call: String(call), scope: String(suspect.scope) })}${chip("state", { view: "state", call: String(call), scope: String(suspect.scope) })}`}
    </ol></nav>`;
  }
  private running(verdict: ReportData["verdicts"][number]) {
    const { report } = this;
    const works = verdict.candidates.length + verdict.list_candidates.length;
    const what = verdict.unknown ? "unknown" : works === 0 ? "nothing was running" : verdict.exact ? "exactly one command was running"
      : verdict.ends_unseen ? `unknown, ${count(works, "candidate")} whose end cannot be seen` : `${count(works, verdict.list_candidates.length ? "command or list" : "command", verdict.list_candidates.length ? "commands or lists" : "commands")} may have been running`;
    // Else they are suspects.
    const told = report.data.verdict.suspects.length ? [] : [...verdict.candidates, ...verdict.list_candidates.map((execution) => ({ execution, scope: null })),
      ...(verdict.late_suspect ? [verdict.late_suspect] : [])];
    return html`<li>${report.queue(verdict.queue)}: ${what}<div class="quiet">${visible(verdict.reason, 2000)}</div>
      ${told.length ? rows(told, ({ execution, scope }) => html`<li><a class="path isolate" href=${linkTo({ view: "tree", ...(scope === null ? { execution: String(execution) } : { scope: String(scope) }) })}>${report.work(execution, scope, null)}</a></li>`, 16) : nothing}</li>`;
  }
  private counts() {
    const { executions, queues } = this.report.data;
    const states = [completed, inFlight, notStarted, unknown];
    const of = queues.map((_, queue) => states.map((state) => executions.filter((each) => each.queue === queue && each.state === state).length));
    const shown = states.flatMap((state, index) => (of.some((numbers) => numbers[index]) ? [{ state, index }] : []));
    if (!shown.length) return nothing;
    return html`<div class="scroll" tabindex="0" role="group" aria-label="Command lists by queue"><table><thead><tr><th>Command lists</th>${shown.map(({ state }) => html`<th class="number"><span class="mark ${classes[state]}">${marks[state]}</span> ${state}</th>`)}</tr></thead>
      <tbody>${of.map((numbers, queue) => html`<tr><td>${this.report.queue(queue)}</td>${shown.map(({ index }) => html`<td class="number">${grouped(numbers[index]!)}</td>`)}</tr>`)}</tbody></table></div>`;
  }
  private answer() {
    const { verdict } = this.report.data;
    const { headline, how_sure_in_words: sure, rows: said } = verdict.answer;
    const fine = verdict.kind === "nothing wrong";
    const [first] = verdict.suspects;
    const degree = fine ? "fine" : verdict.how_sure === "proven" ? "proven" : verdict.how_sure === "likely" ? "likely" : "guess";
    return html`<section class="card answer ${fine ? "fine" : ""}" aria-label="The answer">
        <div class="badges"><span class="badge ${fine ? "fine" : ""}">${fine ? "no failure noticed" : verdict.kind}</span>${sure ? html`<span class="badge ${degree}" title="How sure this is">${visible(sure, 60)}</span>` : nothing}<span class="space"></span>
          <span role="status">${this.copied === "copied" ? "copied" : ""}</span><button @click=${this.copy}>Copy as Markdown</button></div>
        <h1 id="headline" class=${headline.length > 90 ? "long" : ""}>${visible(headline, 4000)}</h1>
        ${said.length ? html`<dl>${said.map(({ label, text }, index) => html`<dt>${said[index - 1]?.label === label ? "" : visible(label)}</dt><dd class="isolate">${visible(text, 4000)}</dd>`)}</dl>` : nothing}
        ${first && !withoutCulprit.includes(verdict.kind) ? this.chips(first) : nothing}
        ${this.copied && this.copied !== "copied" ? html`<pre tabindex="0">${this.copied}</pre>` : nothing}
      </section>`;
  }
  private next() {
    const { next, send } = this.report.data.verdict;
    const steps = (all: Step[]) => html`<ol>${all.map((step) => html`<li><div>${visible(step.effect, 1000)}</div><cairn-command command=${step.command}></cairn-command></li>`)}</ol>`;
    return next.length || send.length ? html`<section class="card next" aria-label="Next">${next.length ? html`<h2>Next</h2>${steps(next)}` : nothing}${send.length ? html`<h2>Send</h2>${steps(send)}` : nothing}</section>` : nothing;
  }
  private drawn() {
    const scope = this.report.data.verdict.suspects[0]?.scope ?? null;
    if (!this.trace || scope === null || this.report.data.scopes[scope]?.call === undefined) return nothing;
    return html`<cairn-drawn .report=${this.report} .scope=${scope}></cairn-drawn>`;
  }
  private culprit() {
    const { report } = this;
    const [first] = report.data.verdict.suspects;
    if (!first) return nothing;
    const scope = first.scope === null ? undefined : report.data.scopes[first.scope];
    const bindings = (first.scope === null ? undefined : report.candidate(first.scope))?.bindings ?? (first.binding ? [first.binding] : []);
    if ((scope?.pipeline ?? null) === null && !bindings.length) return nothing;
    return html`<section class="card ${bindings.every(isHarmless) ? "" : "bad"}" aria-label="Pipeline"><cairn-pipeline .report=${report} .pipeline=${scope?.pipeline ?? null} .bindings=${bindings}></cairn-pipeline></section>`;
  }
  // The cause in two lines; the view has the rest.
  private cause() {
    const [cause] = this.why?.causes ?? [];
    if (!cause) return nothing;
    const [place] = cause.places;
    return html`<section class="card why" aria-label="Why"><h2><a href=${linkTo({ view: "why" })}>Why</a></h2><p>${verdictBadge(cause.verdict)} ${visible(cause.sentence, 1000)}</p>
      ${place ? html`<p><span class="mono isolate">${visible(place.place, 1000)}</span> <span class="quiet isolate">${visible(place.number, 1000)}</span></p>` : nothing}</section>`;
  }
  override render() {
    const { report } = this;
    const { verdict, incidents, verdicts } = report.data;
    const suspects = this.all ? verdict.suspects : verdict.suspects.slice(0, shownSuspects);
    const fine = withoutCulprit.includes(verdict.kind);
    return html`<div class="layout">${this.answer()}${this.next()}<div class="main">
      ${this.cause()}${this.drawn()}${this.culprit()}
      ${suspects.length > 1 || (suspects.length && fine) ? html`<section class="card"><h2>${fine ? "Running on the GPU" : "Suspects"}${verdict.suspects.length > 1 ? ", the most likely first" : ""}</h2>
        <ol class="suspects">${suspects.map((suspect, index) => this.suspect(suspect, index))}</ol>
        ${verdict.suspects.length > suspects.length ? html`<button @click=${() => (this.all = true)}>Show all ${grouped(verdict.suspects.length)}</button>` : nothing}</section>` : nothing}
      ${verdict.last_completed.length ? html`<section class="card"><h2>The last to complete</h2><ul>${verdict.last_completed.map((last) => html`<li>${report.queue(last.queue)}:
        <a class="isolate" href=${linkTo({ view: "tree", ...(last.scope === null ? { execution: String(last.execution) } : { scope: String(last.scope) }) })}>${report.path(last.execution, last.scope)}</a></li>`)}</ul></section>` : nothing}
      <section class="card"><h2>Incidents</h2>
      <ul class="incidents">${incidents.length ? incidents.map((incident) => html`<li>${visible(incident.sentence, 2000)}</li>`)
        : html`<li>No failure was noticed; this is the state when the report was asked for.</li>`}</ul></section>
      <section class="card"><h2>Queues</h2>${this.counts()}
      ${verdicts.some((each) => each.reason.includes("marker event")) ? html`<p class="quiet">Marker event N: the Nth begin, end or binding in its list.</p>` : nothing}
      ${verdicts.length ? html`<ul>${verdicts.map((each) => this.running(each))}</ul>` : html`<p>Nothing is known: no command list is registered.</p>`}</section>
      <cairn-evidence .report=${report}></cairn-evidence></div>
    <cairn-process .report=${report}></cairn-process></div>`;
  }
}
customElements.define("cairn-verdict", Verdict);
