// SPDX-License-Identifier: Apache-2.0
//
// The cause, as cairn why found it: what helps and what does not, with counts of runs, and the place: in a shader, or a call.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { copyText } from "./copy.js";
import { shared } from "./style.js";
import type { Cause, Count, Excerpt, Experiment, Place, Why } from "./why_answer.js";
import { grouped, visible } from "./words.js";

const degrees: Record<string, string> = { proven: "proven", likely: "likely" };
export const verdictBadge = (verdict: string) => html`<span class="badge ${degrees[verdict] ?? "guess"}">${visible(verdict, 60)}</span>`;

export class WhyView extends LitElement {
  static override properties = { why: { attribute: false }, copied: { state: true } };
  declare why: Why;
  declare copied: string;
  static override styles = [shared, css`
    :host { max-width: 100rem; margin: 0 auto; }
    .card { margin-bottom: var(--s4); }
    .answer { border-left: 4px solid var(--busy); padding: var(--s4) var(--s6); }
    .answer.none { border-left-color: var(--waiting); }
    #headline { font-size: var(--title); line-height: 1.3; margin: 0 0 var(--s2); overflow-wrap: anywhere; }
    .bar { display: flex; gap: var(--s3); align-items: center; flex-wrap: wrap; margin-top: var(--s3); }
    .cause { display: flex; gap: var(--s2); align-items: baseline; font-size: var(--large); flex-wrap: wrap; }
    .place { margin-top: var(--s4); padding-top: var(--s3); border-top: 1px solid var(--line); display: grid; gap: var(--s2) var(--s6); grid-template-columns: minmax(0, 1fr); }
    @media (min-width: 1100px) { .place { grid-template-columns: minmax(0, 3fr) minmax(18rem, 2fr); } .place > header, .place > p { grid-column: 1 / -1; } }
    .place header { overflow-wrap: anywhere; }
    .place .where { font-weight: 600; }
    .code { font-family: var(--mono); font-size: 0.93em; background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2) 0; margin: 0; overflow-x: auto; list-style: none; align-self: start; }
    .code li { display: grid; grid-template-columns: 2ch 6ch max-content; gap: var(--s1); margin: 0; padding: 0 var(--s3); white-space: pre; overflow-wrap: normal; min-width: max-content; }
    .code .line { color: var(--quiet); text-align: right; }
    .code .failing { background: var(--busy-soft); font-weight: 600; }
    .code .sign { color: var(--busy); }
    dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: var(--s1) var(--s4); margin: 0; align-content: start; }
    dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
    .scroll { overflow-x: auto; }
  `];
  constructor() {
    super();
    this.copied = "";
  }
  private async copy(): Promise<void> {
    this.copied = (await copyText(this.why.markdown)) ? "copied" : this.why.markdown;  // where pages may not copy: to be copied by hand
  }
  private excerpt(excerpt: Excerpt): TemplateResult {
    const label = excerpt.of === "source" ? "Source around the place" : "Disassembled SPIR-V around the place";
    return html`<ol class="code" tabindex="0" aria-label=${label}>${excerpt.lines.map((line, index) => {
      const failing = index === excerpt.marked;
      return html`<li class=${failing ? "failing" : ""} aria-current=${failing ? "location" : nothing}><span class="sign">${failing ? ">" : " "}</span><span class="line">${
        excerpt.first_line ? String(excerpt.first_line + index) : ""}</span><span class="text isolate">${visible(line.replaceAll("\t", "    "), 400)}</span></li>`;
    })}</ol>`;
  }
  private place(place: Place): TemplateResult {
    return html`<section class="place" aria-label=${visible(place.place, 200)}><header><span class="where mono isolate">${visible(place.place, 1000)}</span> <span class="quiet isolate">${visible(place.number, 1000)}</span></header>
      <p class="record isolate">${visible(place.record, 4000)}</p>
      ${place.excerpt ? this.excerpt(place.excerpt) : place.inShader ? html`<p class="quiet">The module carries no source.</p>` : nothing}
      ${place.facts.length ? html`<dl>${place.facts.map(([name, value]) => html`<dt>${name}</dt><dd class="isolate">${visible(value, 1000)}</dd>`)}</dl>` : nothing}</section>`;
  }
  private cause(cause: Cause, heading: boolean): TemplateResult {
    return html`<section class="card" aria-label=${visible(cause.heading, 100)}>${heading ? html`<h2>${visible(cause.heading, 100)}</h2>` : nothing}
      <div class="cause">${verdictBadge(cause.verdict)} <span class="sentence">${visible(cause.sentence, 1000)}</span></div>
      ${cause.counts.map((each) => html`<p class="counts">${visible(each, 1000)}</p>`)}
      ${cause.places.map((each) => this.place(each))}
      ${cause.behind.map((each) => html`<p class="behind">${visible(each, 1000)}</p>`)}</section>`;
  }
  private runs(count: Count): string {
    const further = [count.otherwise ? `${grouped(count.otherwise)} in another way` : "", count.endless ? `${grouped(count.endless)} did not end` : ""].filter(Boolean);
    return count.runs ? [`${grouped(count.failed)} of ${grouped(count.runs)}`, ...further].join(", ") : "–";
  }
  private experiments(experiments: Experiment[]): TemplateResult {
    return html`<section class="card"><h2>All changes that were tried</h2><div class="scroll" tabindex="0" role="group" aria-label="All changes that were tried"><table class="tried">
      <thead><tr><th>Change</th><th>Answer</th><th class="number">Failed with it</th><th class="number">Without it</th><th>Why it does not apply</th></tr></thead>
      <tbody>${experiments.map((each) => html`<tr><td>${visible(each.words, 100)}</td><td>${visible(each.verdict, 60)}</td><td class="number">${this.runs(each.with)}</td><td class="number">${this.runs(each.without)}</td><td class="isolate">${visible(each.why, 1000)}</td></tr>`)}</tbody></table></div></section>`;
  }
  private list(title: string, items: string[]): TemplateResult | typeof nothing {
    return items.length ? html`<h3>${title}</h3><ul>${items.map((each) => html`<li class="isolate">${visible(each, 2000)}</li>`)}</ul>` : nothing;
  }
  override render() {
    const { why } = this;
    const doubts = [...why.notTheCause, ...why.doesNotApply, ...why.doubts].length !== 0;
    return html`<section class="card answer ${why.causes.length ? "" : "none"}" aria-label="The answer"><h1 id="headline">${visible(why.headline, 4000)}</h1>
        ${why.none ? html`<p class="none">${visible(why.none, 1000)}</p>` : nothing}
        <div class="bar"><button @click=${this.copy}>Copy as Markdown</button><span role="status">${this.copied === "copied" ? "copied" : ""}</span></div>
        ${this.copied && this.copied !== "copied" ? html`<pre tabindex="0">${this.copied}</pre>` : nothing}</section>
      ${why.causes.map((each, index) => this.cause(each, each.heading !== why.causes[index - 1]?.heading))}
      ${doubts ? html`<section class="card others">${this.list("Not the cause", why.notTheCause)}${this.list("Does not apply", why.doesNotApply)}${this.list("Not known", why.doubts)}</section>` : nothing}
      ${why.experiments.length ? this.experiments(why.experiments) : nothing}
      <section class="card"><h2>Ask again</h2><cairn-command command=${why.command}></cairn-command>
        <p class="quiet">${visible(why.runs, 200)} ${[...why.devices, why.driver].filter(Boolean).map((each) => html`<span class="isolate">${visible(each, 200)}</span> `)}</p></section>`;
  }
}
customElements.define("cairn-why", WhyView);
