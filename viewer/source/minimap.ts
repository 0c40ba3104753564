// SPDX-License-Identifier: Apache-2.0
//
// All of a list of calls as a strip: where work is, what of it did not end, calls that failed, ends of frames. Each has
// a lane of its own. A press moves the list there; by keyboard, the buttons of the list lead to all that is marked here.
import { LitElement, css, html, nothing, svg } from "lit";
import type { Bucket, Outline } from "./outline.js";
import { shared } from "./style.js";
import { count } from "./words.js";

const width = 28;

export class MiniMap extends LitElement {
  static override properties = { outline: { attribute: false }, lines: { attribute: false }, first: { attribute: false }, last: { attribute: false } };
  declare outline: Outline;
  declare lines: number;
  declare first: number;  // lines in sight
  declare last: number;
  static override styles = [shared, css`
    :host { width: ${width}px; min-height: 0; background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); overflow: hidden; }
    svg { display: block; width: 100%; height: 100%; cursor: pointer; }
    .work { fill: var(--quiet); } .frame { fill: var(--edge); } .begun { fill: var(--busy); } .waits { fill: var(--waiting); } .failed { fill: var(--warn); }
    .sight { fill: var(--link); fill-opacity: 0.18; stroke: var(--link); vector-effect: non-scaling-stroke; }
  `];
  private press(event: PointerEvent): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const line = Math.floor(((event.clientY - box.top) / box.height) * this.lines);
    this.dispatchEvent(new CustomEvent("go", { detail: Math.max(0, Math.min(this.lines - 1, line)) }));
  }
  override render() {
    const { buckets, lines_per_bucket: each } = this.outline;
    const height = this.lines / each, least = height / 100;  // what is rare is seen, too
    const most = Math.max(1, ...buckets.map(({ work }) => work));
    const sum = (key: keyof Bucket) => buckets.reduce((total, bucket) => total + bucket[key], 0);
    const lane = (kind: string, x: number, wide: number, index: number, tall: number) =>
      svg`<rect class=${kind} x=${x} y=${Math.min(index, Math.max(0, height - tall))} width=${wide} height=${tall}></rect>`;
    const words = `Map of the list, from the left: draws and other work (${sum("work")}), ends of frames (${sum("frames")}), work in flight (${sum("in_flight")}, wide) and not started (${sum("not_started")}, narrow), calls that failed (${sum("failed")})`;
    return html`<svg role="img" aria-label=${words} viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" @pointerdown=${this.press}>
      <title>${words}. ${count(each, "line")} a step.</title>
      ${buckets.map((bucket, index) => svg`
        ${bucket.work ? lane("work", 1, 1 + 8 * (bucket.work / most), index, Math.max(1, least / 2)) : nothing}
        ${bucket.frames ? lane("frame", 11, 4, index, Math.max(1, least / 2)) : nothing}
        ${bucket.not_started ? lane("waits", 17, 2, index, Math.max(1, least)) : nothing}
        ${bucket.in_flight ? lane("begun", 16, 5, index, Math.max(1, least)) : nothing}
        ${bucket.failed ? lane("failed", 23, 4, index, Math.max(1, least)) : nothing}`)}
      <rect class="sight" x="0" width=${width} y=${this.first / each} height=${Math.max(least, (this.last + 1 - this.first) / each)}></rect></svg>`;
  }
}
customElements.define("cairn-minimap", MiniMap);
