// SPDX-License-Identifier: Apache-2.0
//
// The chosen group of the triage page: its report's first lines, where it was seen, and its files.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import "./copy.js";
import { isServed } from "./server.js";
import { shared } from "./style.js";
import { largestFirst, type DumpFile, type Group, type Shown } from "./triage_data.js";
import { count, grouped, visible } from "./words.js";

// "2026-11-20 08:12:44 UTC"
export const timeInWords = (time: string | null) => (time === null ? "not known" : `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`);
export const sureInWords = (sure: string) => (sure === "one of" ? "one of several" : visible(sure, 40));
const shellWord = (file: string) => (/^[\w./+][\w./+-]*$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);
// Text that would not be seen cannot be pasted, and a shell would obey a line feed.
const canBePasted = (file: string) => visible(file, Infinity) === file;
export const commandFor = (file: string) => `cairn report ${shellWord(file.startsWith("-") ? `./${file}` : file)}`;
// The page of a file, which a served page alone has.
export const linkToReport = (file: DumpFile) => `dump/${file.number}/`;
export const example = (group: Group) => group.files.find(({ file }) => file === group.data.example.file) ?? group.files[0];

const mostValues = 6;

export class TriageDetails extends LitElement {
  static override properties = { shown: { attribute: false } };
  declare shown: Shown;

  static override styles = [shared, css`
    :host { padding: var(--s4) var(--s4) var(--s6); overflow: auto; height: 100%; }
    h2 { font-size: var(--title); }
    h3 { font-size: var(--small); margin: var(--s4) 0 var(--s1); color: var(--quiet); }
    .path { margin: 0.2rem 0 0; padding: 0; list-style: none; font-size: 0.93em; }
    .path li { margin: 0; padding-left: 1.1em; text-indent: -1.1em; }
    .path li::before { content: "› "; color: var(--quiet); }
    .sentence { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid var(--line); padding: 0.1rem 0 0.1rem 0.7rem; margin: 0.8rem 0; }
    .open { display: inline-block; background: var(--link); color: var(--ground); padding: 0.35rem 0.9rem; border-radius: var(--round); text-decoration: none; font-weight: 600; }
    dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.2rem 0.9rem; margin: 0; }
    dt { color: var(--quiet); }
    dd { margin: 0; overflow-wrap: anywhere; }
    table { width: 100%; table-layout: fixed; }
    td { overflow-wrap: anywhere; }
    .number { width: 4.5rem; text-align: right; font-variant-numeric: tabular-nums; }
    .share { width: 5rem; }
    .share meter { width: 100%; height: 8px; vertical-align: middle; }
    meter::-webkit-meter-bar { background: var(--raised); border: 0; border-radius: 0; height: 8px; }
    meter::-webkit-meter-optimum-value { background: var(--quiet); border-radius: 0; }
    .files { padding: 0; list-style: none; }
    .files li { display: flex; gap: 0.7rem; justify-content: space-between; align-items: baseline; }
    .files .when { white-space: nowrap; font-size: var(--small); font-variant-numeric: tabular-nums; }
  `];

  private next(file: DumpFile | undefined): TemplateResult | typeof nothing {
    if (!file) return nothing;
    if (isServed) return html`<p><a class="open" href=${linkToReport(file)}>Open the report</a></p>
      <p class="quiet isolate">of ${visible(file.file, 200)}, the dump that was seen last</p>`;
    if (!canBePasted(file.file)) return html`<p class="isolate">${visible(file.file, 400)}</p><p class="quiet">The dump that was seen last. Its name has characters that cannot be pasted.</p>`;
    return html`<cairn-command command=${commandFor(file.file)}></cairn-command><p class="quiet">the report of the dump that was seen last</p>`;
  }
  private values(name: string, values: Map<string, number>, words = (value: string) => visible(value, 120)): TemplateResult {
    const all = largestFirst(values), few = all.slice(0, mostValues);
    return html`<h3>${name}</h3><table aria-label=${name}><tbody>${few.map(([value, dumps]) => html`<tr><td class="isolate">${value ? words(value) : html`<span class="quiet">not known</span>`}</td>
        <td class="share"><meter min="0" max=${this.shown.count} value=${dumps} aria-label=${`${grouped(dumps)} of ${grouped(this.shown.count)}`}></meter></td><td class="number">${grouped(dumps)}</td></tr>`)}</tbody></table>
      ${all.length > few.length ? html`<p class="quiet">and ${grouped(all.length - few.length)} more</p>` : nothing}`;
  }
  private files(group: Group): TemplateResult {
    const rest = group.data.count - group.files.length;
    return html`<h3>Files</h3><ul class="files">${group.files.map((file) => html`<li>
        ${isServed ? html`<a class="isolate" href=${linkToReport(file)}>${visible(file.file, 200)}</a>` : html`<span class="isolate">${visible(file.file, 200)}</span>`}
        <span class="when quiet">${file.seen === null ? "" : `${file.seen.slice(0, 10)} ${file.seen.slice(11, 16)}`}</span></li>`)}</ul>
      ${rest > 0 ? html`<p class="quiet">and ${grouped(rest)} seen before; <code>cairn triage --jsonl</code> lists all.</p>` : nothing}`;
  }
  override render() {
    const { group } = this.shown, { signature, data } = group;
    return html`<h2><span class="isolate">${visible(signature.kind, 60)}${signature.cause ? ` (${visible(signature.cause, 120)})` : ""}</span></h2>
      ${signature.path.length ? html`<ol class="path" aria-label="Where">${signature.path.map((scope) => html`<li class="isolate">${visible(scope, 200)}</li>`)}</ol>` : nothing}
      <p class="sentence isolate">${visible(data.example.sentence, 4000).replaceAll("\\n", "\n")}</p>
      ${this.next(example(group))}
      <h3>Seen</h3>
      <dl><dt>dumps</dt><dd>${grouped(this.shown.count)}${this.shown.count < data.count ? ` of ${grouped(data.count)}, by the filter` : ""}</dd>
        <dt>first</dt><dd>${timeInWords(data.first_seen)}</dd><dt>last</dt><dd>${timeInWords(data.last_seen)}</dd></dl>
      ${this.values("How sure", this.shown.sure, sureInWords)}
      ${this.values("Program", this.shown.programs)}
      ${this.values("Version of Cairn", this.shown.versions)}
      <h3>In common</h3>
      <dl><dt>device</dt><dd class="isolate">${visible(signature.device, 200) || "not known"}</dd><dt>driver</dt><dd class="isolate">${visible(signature.driver, 200) || "not known"}</dd>
        ${signature.shaders.length ? html`<dt>${count(signature.shaders.length, "shader").replace(/^\S+ /, "")}</dt><dd class="mono isolate">${signature.shaders.map((shader) => html`<div>${visible(shader, 120)}</div>`)}</dd>` : nothing}
        <dt>signature</dt><dd class="mono">${visible(signature.id, 40)}</dd></dl>
      ${this.files(group)}`;
  }
}
customElements.define("cairn-triage-details", TriageDetails);
