// SPDX-License-Identifier: Apache-2.0
//
// The run by the clock: when work was submitted to each queue, how long unfinished work has been there, and when the
// failure was noticed. The queues below stand in the order of submissions; this strip leads to a time in them.
import { LitElement, css, html, nothing, svg, type TemplateResult } from "lit";
import type { Report } from "./report.js";
import { classes, completed, inFlight, type State } from "./states.js";
import { shared } from "./style.js";
import { count, duration, seconds } from "./words.js";

export interface Submitted { queue: number; number: number; time: string | null; state: State; }
interface Flag { at: number; name: string; says: string; }

const laneHeight = 16;
const axis = 34;        // pixels: flags, then times
const tickPixels = 110;
const moment = (utc: string | null) => (utc === null ? NaN : Date.parse(utc.replace(" UTC", "Z").replace(" ", "T")) / 1000);

// In seconds since the program started; NaN if that is not known.
export function endOf(report: Report): number {
  const { started, seen } = report.data.process;
  return moment(seen) - moment(started);
}
export function flagsOf(report: Report): Flag[] {
  const { process, incidents, faults } = report.data;
  const start = moment(process.started);
  const flags = incidents.map(({ kind, time, sentence }) => ({ at: moment(time) - start, name: kind, says: sentence }));
  flags.push(...faults.map(({ time, source, description }) => ({ at: seconds(time), name: "fault", says: `${source}: ${description}` })));
  return flags.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
}

export class Clock extends LitElement {
  static override properties = { report: { attribute: false }, submissions: { attribute: false }, lanes: { attribute: false }, from: { attribute: false }, to: { attribute: false }, width: { attribute: false } };
  declare report: Report;
  declare submissions: readonly Submitted[];
  declare lanes: readonly number[];
  declare from: number;   // the submissions in sight below
  declare to: number;
  declare width: number;
  private first = 0;      // seconds
  private last = 1;

  static override styles = [shared, css`
    svg { display: block; border: 1px solid var(--line); border-radius: var(--round); cursor: pointer; }
    text { fill: var(--quiet); font-size: var(--small); font-variant-numeric: tabular-nums; }
    .flag text, .hung text { fill: var(--busy); font-weight: 600; }
    .flag line { stroke: var(--busy); stroke-width: 1.5; }
    .grid { stroke: var(--line); }
    .hung rect { fill: var(--busy-soft); }
    .lane { fill: var(--raised); }
    .tick { fill: var(--quiet); }
    .tick.completed { fill: var(--done); } .tick.in-flight { fill: var(--busy); }
    .bar { fill: var(--busy); opacity: 0.85; }
    .bar.not-started, .bar.unknown { fill: var(--waiting); opacity: 0.45; }
    .sight { fill: none; stroke: var(--link); stroke-width: 1.5; }
    .frame { fill: var(--over); } .frame.odd { fill: var(--raised); }
    ul { list-style: none; padding: 0; }
  `];
  // False where the file does not say when things were.
  private lay(): boolean {
    const times = this.submissions.map(({ time }) => seconds(time)).filter((time) => !Number.isNaN(time));
    const end = endOf(this.report);
    if (!times.length || !(end > 0)) return false;
    const flags = flagsOf(this.report).map(({ at }) => at);
    this.first = times.reduce((least, time) => Math.min(least, time), end);
    this.last = flags.reduce((most, time) => Math.max(most, time), Math.max(end, this.first + 0.001));
    const margin = (this.last - this.first) * 0.01;
    this.first = Math.max(0, this.first - margin);
    this.last += margin;
    return true;
  }
  private x(time: number): number {
    return ((time - this.first) / (this.last - this.first)) * this.width;
  }
  private times(): TemplateResult[] {
    const rough = ((this.last - this.first) / this.width) * tickPixels;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough)!;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const drawn: TemplateResult[] = [];
    for (let time = Math.ceil(this.first / step) * step; time < this.last && drawn.length < 200; time += step) {
      const x = this.x(time);
      const words = `${time.toFixed(digits)} s`;
      const fits = x + 3 + words.length * 7 <= this.width;
      drawn.push(svg`<line class="grid" x1=${x} x2=${x} y1=${axis - 16} y2=${this.height}></line>${fits ? svg`<text x=${x + 3} y=${axis - 5}>${words}</text>` : nothing}`);
    }
    return drawn;
  }
  private get height(): number {
    return axis + this.queues.length * laneHeight + 4;
  }
  private get queues(): number[] {
    return this.lanes.filter((lane) => lane !== -2);
  }
  // The time in which the watchdog saw no progress, up to when it said so.
  private hung(): TemplateResult[] {
    const start = moment(this.report.data.process.started);
    return this.report.data.incidents.filter(({ kind, value, time }) => kind === "hang" && value > 0 && time !== null).map(({ value, time, sentence }) => {
      const end = moment(time) - start, from = Math.max(this.first, end - value / 1000);
      const x = this.x(from), width = Math.max(1, this.x(end) - x);
      const words = `no progress for ${duration(value * 1e6)}`;
      return svg`<g class="hung"><rect x=${x} y="0" width=${width} height=${this.height}></rect>${width > words.length * 7 + 60 ? svg`<text x=${x + 4} y="13">${words}</text>` : nothing}<title>${sentence}</title></g>`;
    });
  }
  private frames(): TemplateResult[] {
    const { executions, submissions } = this.report.data;
    const starts = new Map<number, number>();
    for (const { execution, time } of submissions) {
      const frame = execution === null ? undefined : executions[execution]?.frame;
      if (frame === undefined || time === null) continue;
      starts.set(frame, Math.min(starts.get(frame) ?? Infinity, seconds(time)));
    }
    const bands = [...starts].sort(([, a], [, b]) => a - b);
    if (bands.length < 2 || bands.length > this.width / 4) return [];
    return bands.map(([frame, from], index) => {
      const x = this.x(from), width = Math.max(1, this.x(bands[index + 1]?.[1] ?? this.last) - x);
      return svg`<g><rect class="frame ${index % 2 ? "odd" : ""}" x=${x} y="0" width=${width} height=${axis - 16}></rect>${width > 64 ? svg`<text x=${x + 4} y="13">frame ${frame}</text>` : nothing}<title>frame ${frame}</title></g>`;
    });
  }
  // A tick where work was submitted; a bar from there to the report where it has not completed.
  private work(): TemplateResult[] {
    const drawn: TemplateResult[] = [];
    const seen = new Set<string>();
    this.submissions.forEach(({ queue, number, time, state }) => {
      const lane = this.queues.indexOf(queue), at = seconds(time);
      if (lane < 0 || Number.isNaN(at)) return;
      const x = this.x(at), y = axis + lane * laneHeight + 3, key = `${lane}/${Math.round(x)}/${state}`;
      if (seen.has(key)) return;   // another one stands on this pixel
      seen.add(key);
      const title = svg`<title>submission ${number}: ${state}; submitted at ${time}</title>`;
      if (state === inFlight) drawn.push(svg`<rect class="bar" x=${x} y=${y + 1} width=${Math.max(2, this.x(endOf(this.report)) - x)} height=${laneHeight - 6}>${title}</rect>`);
      drawn.push(svg`<rect class="tick ${classes[state]}" x=${x} y=${y - 1} width="2" height=${laneHeight - 2}>${title}</rect>`);
    });
    return drawn;
  }
  private sight(): TemplateResult {
    const inSight = this.submissions.slice(Math.max(0, Math.floor(this.from)), Math.ceil(this.to)).map(({ time }) => seconds(time)).filter((time) => !Number.isNaN(time));
    if (!inSight.length || inSight.length >= this.submissions.length) return svg``;
    const x = this.x(inSight.reduce((a, b) => Math.min(a, b))) - 2;
    return svg`<rect class="sight" x=${x} y=${axis - 1} width=${Math.max(6, this.x(inSight.reduce((a, b) => Math.max(a, b))) + 4 - x)} height=${this.height - axis}></rect>`;
  }
  private flags(): TemplateResult[] {
    return flagsOf(this.report).map(({ at, name, says }) => {
      const x = this.x(at), left = x > this.width - 110;
      return svg`<g class="flag"><line x1=${x} x2=${x} y1="2" y2=${this.height}></line><text x=${left ? x - 4 : x + 4} y="13" text-anchor=${left ? "end" : "start"}>⚑ ${name}</text><title>${says}</title></g>`;
    });
  }
  // Leads to the submission that is nearest to where one presses.
  private press(event: MouseEvent): void {
    const time = this.first + (event.offsetX / this.width) * (this.last - this.first);
    let best = -1;
    this.submissions.forEach(({ time: each }, place) => {
      const away = Math.abs(seconds(each) - time);
      if (!Number.isNaN(away) && (best < 0 || away < Math.abs(seconds(this.submissions[best]!.time) - time))) best = place;
    });
    if (best >= 0) this.dispatchEvent(new CustomEvent("pick", { detail: best }));
  }
  // The same in words: what has not completed, and for how long it has been there.
  private said(): TemplateResult[] {
    const end = endOf(this.report);
    const unfinished = this.submissions.filter(({ state, time }) => state !== completed && time !== null)
      .sort((a, b) => Number(b.state === inFlight) - Number(a.state === inFlight));
    return unfinished.slice(0, 3).map(({ queue, number, time, state }) => html`<li><span class=${classes[state]}>${state}</span>: submission ${number} of ${this.report.queue(queue < 0 ? null : queue)}, submitted at ${time}, ${duration((end - seconds(time)) * 1e9)} before this report</li>`)
      .concat(unfinished.length > 3 ? [html`<li class="quiet">and ${count(unfinished.length - 3, "more submission")} that ${unfinished.length === 4 ? "has" : "have"} not completed</li>`] : []);
  }
  override render() {
    if (!this.lay()) return nothing;
    return html`<svg width=${this.width} height=${this.height} role="img" aria-label="Submissions by time, since the program started" @click=${this.press}>
        ${this.queues.map((queue, lane) => svg`<rect class="lane" x="0" y=${axis + lane * laneHeight} width=${this.width} height=${laneHeight - 2}><title>${this.report.queue(queue < 0 ? null : queue)}</title></rect>`)}
        ${this.frames()}${this.hung()}${this.times()}${this.work()}${this.sight()}${this.flags()}</svg>
      <ul>${this.said()}</ul>`;
  }
}
customElements.define("cairn-clock", Clock);
