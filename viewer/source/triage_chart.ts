// SPDX-License-Identifier: Apache-2.0
//
// All dumps over time, a bar a day, and the part of the chosen group in front of them. A drag chooses days; the fields
// for dates do the same by keyboard.
import { LitElement, css, html, nothing, svg } from "lit";
import { shared } from "./style.js";
import { Bars, barPath, dateOf, type Shown } from "./triage_data.js";
import { count, grouped } from "./words.js";

const width = 1000, height = 64;

export class TriageChart extends LitElement {
  static override properties = { bars: { attribute: false }, all: { attribute: false }, chosen: { attribute: false }, from: { type: Number }, to: { type: Number }, drag: { state: true } };
  declare bars: Bars;
  declare all: Map<number, number>;  // dumps by day
  declare chosen: Shown | undefined;
  declare drag: { from: number; to: number } | undefined;  // bars

  static override styles = [shared, css`
    .plot { position: relative; border-bottom: 1px solid var(--line); cursor: crosshair; touch-action: none; }
    svg { display: block; width: 100%; height: 64px; }
    .all { fill: var(--quiet); opacity: 0.55; }
    .chosen { fill: var(--link); }
    .range { fill: var(--chosen); }
    .axis { display: flex; justify-content: space-between; font-size: var(--small); font-variant-numeric: tabular-nums; }
    .most { position: absolute; top: 0; left: 0; font-size: var(--small); line-height: 1; background: var(--ground); padding: 0 3px 2px 0; font-variant-numeric: tabular-nums; pointer-events: none; }
  `];

  private barAt(event: PointerEvent): number {
    const box = this.renderRoot.querySelector(".plot")!.getBoundingClientRect();
    return Math.max(0, Math.min(this.bars.count - 1, Math.floor(((event.clientX - box.left) / box.width) * this.bars.count)));
  }
  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const bar = this.barAt(event);
    this.drag = { from: bar, to: bar };
  }
  private move(event: PointerEvent): void {
    if (this.drag) this.drag = { ...this.drag, to: this.barAt(event) };
  }
  private up(): void {
    if (!this.drag) return;
    const [from, to] = [Math.min(this.drag.from, this.drag.to), Math.max(this.drag.from, this.drag.to)];
    this.drag = undefined;
    this.dispatchEvent(new CustomEvent("days", { detail: { from: this.bars.firstDayOf(from), to: this.bars.lastDayOf(to) } }));
  }
  override render() {
    const { bars, drag } = this;
    const heights = bars.heights(this.all), most = Math.max(...heights, 0);
    const step = width / bars.count;
    const part = this.chosen ? bars.heights(this.chosen.days) : [];
    const busiest = heights.indexOf(most);
    const said = `Dumps over time, ${bars.days === 1 ? "a bar a day" : `a bar for ${bars.days} days`}, from ${dateOf(bars.first)} to ${dateOf(bars.last)}; most in ${bars.words(busiest)}: ${grouped(most)}`;
    return html`<div class="plot" @pointerdown=${this.down} @pointermove=${this.move} @pointerup=${this.up} @pointercancel=${() => (this.drag = undefined)}>
        <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label=${said}>
          ${drag ? svg`<rect class="range" x=${Math.min(drag.from, drag.to) * step} width=${(Math.abs(drag.to - drag.from) + 1) * step} y="0" height=${height}></rect>` : nothing}
          <path class="all" d=${barPath(heights, most, width, height - 12)} transform="translate(0 12)"></path>
          <path class="chosen" d=${barPath(part, most, width, height - 12)} transform="translate(0 12)"></path>
          ${heights.map((value, bar) => (value ? svg`<rect x=${bar * step} width=${step} y="0" height=${height} fill="transparent"><title>${bars.words(bar)}: ${count(value, "dump")}${part[bar] ? `, ${grouped(part[bar]!)} of the chosen group` : ""}</title></rect>` : nothing))}
        </svg><span class="most quiet" aria-hidden="true">${grouped(most)}</span></div>
      <div class="axis quiet"><span>${dateOf(bars.first)}</span><span>${bars.days === 1 ? "dumps a day" : `dumps in ${bars.days} days`} (UTC)</span><span>${dateOf(bars.last)}</span></div>`;
  }
}
customElements.define("cairn-triage-chart", TriageChart);
