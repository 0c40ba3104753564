// SPDX-License-Identifier: Apache-2.0
//
// Any number of rows of one height, of which only those in sight are made. A browser gives an element some ten million
// pixels: with more rows than that the scroll bar stands for a part of them, and the wheel moves by rows.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { shared } from "./style.js";

const mostPixels = 8_000_000;

export class Rows extends LitElement {
  static override properties = {
    count: { attribute: false }, draw: { attribute: false }, chosen: { attribute: false }, label: {}, tree: { type: Boolean },
    describe: { attribute: false }, code: { type: Boolean }, revision: { attribute: false },
  };
  declare count: number;
  declare draw: (index: number) => TemplateResult;
  // The ARIA attributes of a row of a tree.
  declare describe: ((index: number) => { level: number; expanded?: boolean }) | undefined;
  declare chosen: number;  // -1: none
  declare label: string;
  declare tree: boolean;
  declare code: boolean;   // in monospace
  declare revision: number;  // another one: rows look different
  private top = 0;           // the first row in sight; a fraction: not all of it is
  private height = 400;
  private rowHeight = 22;
  private ownScroll = -1;    // where this element put the scroll bar itself
  private readonly sizes = new ResizeObserver(() => this.measure());

  static override styles = [shared, css`
    :host { position: relative; min-height: 0; overflow: hidden; }
    .scroller { position: absolute; inset: 0; overflow-y: auto; overflow-x: hidden; scrollbar-gutter: stable; outline-offset: -2px; }
    .layer { position: sticky; top: 0; height: 0; }
    .row { position: absolute; left: 0; right: 0; height: 22px; line-height: 22px; padding: 0 var(--s2); white-space: pre;
      overflow: hidden; text-overflow: ellipsis; cursor: default; }
    :host([code]) .row { font-family: var(--mono); font-size: 0.93em; }
    .row:hover { background: var(--over); }
    .row.chosen { background: var(--chosen); box-shadow: inset 3px 0 var(--link); }
    .found { background: var(--found); color: inherit; }
    .twist { display: inline-block; width: 1.2em; text-align: center; cursor: pointer; }
    /* A row of cells: the first takes what the others leave. */
    .columns { display: flex; gap: var(--s4); }
    .columns > * { flex: none; overflow: hidden; text-overflow: ellipsis; }
    .columns > :first-child { flex: 1; min-width: 0; }
    /* A call: where it stands, of what it is made, with what. */
    .call { display: grid; grid-template-columns: max-content minmax(0, 2fr) minmax(0, 3fr); column-gap: var(--s3); }
    .call > * { overflow: hidden; text-overflow: ellipsis; }
    .call .id { font-size: var(--small); color: var(--quiet); }
    .swatch { display: inline-block; width: 0.6rem; height: 0.6rem; border: 1px solid var(--edge); border-radius: 2px; margin-right: var(--s1); }
    /* Two calls beside each other. */
    .pair { display: grid; grid-template-columns: 1.5ch 9ch minmax(0, 1fr) 9ch minmax(0, 1fr); column-gap: var(--s2); }
    .pair > * { overflow: hidden; text-overflow: ellipsis; }
    .pair mark { background: var(--found); color: inherit; font-weight: 600; }
    .pair .changed { color: var(--warn); }
    .heading { font-weight: 600; }
    .cell { display: inline-block; overflow: hidden; text-overflow: ellipsis; vertical-align: top; padding-right: 0.8em; }
    .right { text-align: right; }
    @media (max-width: 1100px) { .wider { display: none; } }
    @media (max-width: 640px) { .wide { display: none; } }
    .life { position: relative; display: inline-block; height: 22px; vertical-align: top; }
    .life span { position: absolute; top: 7px; height: 8px; background: var(--quiet); border-radius: 2px; min-width: 2px; }
    .life .ended { border-right: 3px solid var(--busy); border-radius: 2px 0 0 2px; }
  `];

  constructor() {
    super();
    this.count = 0;
    this.chosen = -1;
    this.tree = this.code = false;
    this.draw = () => html``;
  }
  override connectedCallback(): void {
    super.connectedCallback();
    this.sizes.observe(this);
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }
  // Scrolls this row into view, a third from the top if it was not in view.
  show(index: number): void {
    const rows = this.height / this.rowHeight;
    if (index >= this.top && index + 1 <= this.top + rows) return;
    this.moveTo(index - Math.floor(rows / 3));
  }
  get firstInSight(): number {
    return Math.floor(this.top);
  }
  get inSight(): number {
    return Math.ceil(this.height / this.rowHeight) + 1;
  }
  moveTo(top: number): void {
    this.top = Math.max(0, Math.min(top, this.lastTop));
    const scroller = this.scroller;
    if (scroller) {
      scroller.scrollTop = this.isScaled ? (this.top / this.lastTop) * (this.spacer - this.height) : this.top * this.rowHeight;
      this.ownScroll = scroller.scrollTop;
    }
    this.moved();
  }

  private get scroller(): HTMLElement | null {
    return this.renderRoot.querySelector(".scroller");
  }
  private get isScaled(): boolean {
    return this.count * this.rowHeight > mostPixels;
  }
  private get spacer(): number {
    return Math.min(this.lastTop * this.rowHeight + this.height, mostPixels);
  }
  // Returns the position that shows the last row; rows are not cut off at the top there.
  private get lastTop(): number {
    return Math.max(0, Math.ceil(this.count - this.height / this.rowHeight));
  }
  private measure(): void {
    this.height = this.clientHeight || 400;
    this.moveTo(this.top);
  }
  private moved(): void {
    this.requestUpdate();
    this.dispatchEvent(new CustomEvent("moved"));
  }
  private scrolled(): void {
    const at = this.scroller!.scrollTop;
    if (at === this.ownScroll) return;
    this.ownScroll = -1;
    this.top = this.isScaled ? (at / (this.spacer - this.height)) * this.lastTop : at / this.rowHeight;
    this.moved();
  }
  private wheel(event: WheelEvent): void {
    if (!this.isScaled || event.ctrlKey) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? event.deltaY * this.rowHeight : event.deltaMode === 2 ? event.deltaY * this.height : event.deltaY;
    this.moveTo(this.top + pixels / this.rowHeight);
  }
  private choose(index: number): void {
    if (index < 0 || index >= this.count) return;
    this.show(index);
    this.dispatchEvent(new CustomEvent("choose", { detail: index }));
  }
  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.height / this.rowHeight) - 1);
    const from = this.chosen < 0 ? this.firstInSight - 1 : this.chosen;
    const to: Record<string, number> = {
      ArrowDown: from + 1, ArrowUp: Math.max(0, from - 1), PageDown: Math.min(this.count - 1, from + page),
      PageUp: Math.max(0, from - page), Home: 0, End: this.count - 1,
    };
    if (event.key in to) {
      this.choose(to[event.key]!);
    } else if (["ArrowLeft", "ArrowRight", "Enter", " "].includes(event.key) && this.chosen >= 0) {
      this.dispatchEvent(new CustomEvent("act", { detail: { index: this.chosen, key: event.key } }));
    } else {
      return;
    }
    event.preventDefault();
  }
  protected override updated(): void {
    // Lit listens passively to the wheel, and cannot keep the browser from scrolling.
    const scroller = this.scroller as (HTMLElement & { listens?: boolean }) | null;
    if (scroller && !scroller.listens) {
      scroller.listens = true;
      scroller.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    }
  }
  override render() {
    const first = this.firstInSight;
    const shown: number[] = [];
    for (let row = first; row < Math.min(this.count, first + this.inSight); ++row) shown.push(row);
    const active = shown.includes(this.chosen) ? `row-${this.chosen}` : undefined;
    return html`<div class="scroller" tabindex="0" role=${this.tree ? "tree" : "listbox"} aria-label=${this.label}
        aria-activedescendant=${active ?? nothing} @scroll=${this.scrolled} @keydown=${this.key}>
      <div class="layer" role="presentation">${repeat(shown, (row) => row, (row) => {
        const about = this.describe?.(row);
        return html`<div id="row-${row}" role=${this.tree ? "treeitem" : "option"} aria-selected=${row === this.chosen}
          aria-setsize=${this.count} aria-posinset=${row + 1} aria-level=${about?.level ?? nothing}
          aria-expanded=${about?.expanded ?? nothing} class=${row === this.chosen ? "row chosen" : "row"}
          .style=${`transform: translateY(${(row - this.top) * this.rowHeight}px)`}
          @click=${() => this.choose(row)}>${this.draw(row)}</div>`;
      })}</div>
      <div role="presentation" .style=${`height: ${this.spacer}px`}></div>
    </div>`;
  }
}
customElements.define("cairn-rows", Rows);
