// SPDX-License-Identifier: Apache-2.0
//
// A picture, large: <cairn-image .picture>. Zoom by wheel or + and -, pan by drag or arrows, channels, the range of values
// between black and white, the values of a pixel.
import { LitElement, css, html, svg } from "lit";
import { histogram, nameOf, paint, plainLook, rangeOf, type Look, type Picture } from "./pictures.js";
import { shared } from "./style.js";

const mostZoom = 64;
const steps = 1.25;

export class Image extends LitElement {
  static override properties = { picture: { attribute: false }, look: { state: true }, pixel: { state: true }, zoom: { state: true } };
  declare picture: Picture;
  declare look: Look;
  declare pixel: string;
  declare zoom: number;   // 0: as large as there is room
  private left = 0;       // of the picture's corner, in pixels of the page
  private top = 0;
  private dragged: { x: number; y: number } | undefined;
  private counts: Uint32Array = new Uint32Array(256);
  private painted = "";

  static override styles = [shared, css`
    .bar { display: flex; gap: var(--s2) var(--s3); align-items: center; flex-wrap: wrap; margin: var(--s2) 0; }
    .frame { position: relative; overflow: hidden; height: clamp(14rem, 48vh, 48rem); border: 1px solid var(--line); border-radius: var(--round); cursor: crosshair; touch-action: none;
      background: repeating-conic-gradient(var(--edge) 0 25%, var(--quiet) 0 50%) 0 0 / 16px 16px; }
    canvas { position: absolute; left: 0; top: 0; transform-origin: 0 0; image-rendering: pixelated; }
    input[type=number] { width: 4.5rem; }
    svg { width: 8rem; height: 2rem; background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); }
    path { fill: var(--quiet); }
    line { stroke: var(--link); }
    .pixel { min-height: 1.5rem; }
  `];
  constructor() {
    super();
    this.look = plainLook;
    this.pixel = "";
    this.zoom = 0;
  }
  private get frame(): HTMLElement {
    return this.renderRoot.querySelector(".frame")!;
  }
  private get canvas(): HTMLCanvasElement {
    return this.renderRoot.querySelector("canvas")!;
  }
  private get scale(): number {
    const { width, height } = this.picture.pixels!;
    return this.zoom || Math.min(this.frame.clientWidth / width, this.frame.clientHeight / height, mostZoom);
  }
  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("picture")) this.pixel = "";
    if ((changed.has("picture") || changed.has("look")) && this.picture.pixels) this.counts = histogram(this.picture.pixels, this.look.channels);
  }
  protected override updated(): void {
    const { pixels, file } = this.picture;
    if (!pixels) return;
    const how = `${file} ${Object.values(this.look).join(" ")}`;
    if (this.painted !== how) paint(this.canvas, pixels, this.look);
    this.painted = this.canvas.dataset["shown"] = how;
    this.place();
  }
  private place(): void {
    const { scale } = this;
    const { width, height } = this.picture.pixels!;
    if (!this.zoom) {
      this.left = (this.frame.clientWidth - width * scale) / 2;
      this.top = (this.frame.clientHeight - height * scale) / 2;
    }
    // A part of it stays in sight.
    this.left = Math.min(this.frame.clientWidth - 16, Math.max(16 - width * scale, this.left));
    this.top = Math.min(this.frame.clientHeight - 16, Math.max(16 - height * scale, this.top));
    this.canvas.style.transform = `translate(${this.left}px, ${this.top}px) scale(${scale})`;
  }
  // What is at this place of the frame stays there.
  private zoomTo(zoom: number, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2): void {
    const before = this.scale;
    this.zoom = Math.min(mostZoom, Math.max(1 / 64, zoom));
    this.left = x - ((x - this.left) * this.zoom) / before;
    this.top = y - ((y - this.top) * this.zoom) / before;
  }
  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const frame = this.frame.getBoundingClientRect();
    this.zoomTo(this.scale * (event.deltaY < 0 ? steps : 1 / steps), event.clientX - frame.left, event.clientY - frame.top);
  }
  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowLeft: [48, 0], ArrowRight: [-48, 0], ArrowUp: [0, 48], ArrowDown: [0, -48] };
    const move = moves[event.key];
    if (move) this.pan(...move);
    else if (event.key === "+" || event.key === "=") this.zoomTo(this.scale * steps);
    else if (event.key === "-") this.zoomTo(this.scale / steps);
    else if (event.key === "0") this.zoom = 0;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  private pan(x: number, y: number): void {
    if (!this.zoom) this.zoom = this.scale;
    this.left += x;
    this.top += y;
    this.place();
  }
  private moved(event: PointerEvent): void {
    if (this.dragged) {
      this.pan(event.clientX - this.dragged.x, event.clientY - this.dragged.y);
      this.dragged = { x: event.clientX, y: event.clientY };
    }
    const pixels = this.picture.pixels!;
    const frame = this.frame.getBoundingClientRect();
    const x = Math.floor((event.clientX - frame.left - this.left) / this.scale), y = Math.floor((event.clientY - frame.top - this.top) / this.scale);
    if (x < 0 || y < 0 || x >= pixels.width || y >= pixels.height) return;
    const at = (y * pixels.width + x) * 4;
    this.pixel = `(${x}, ${y}): ${["R", "G", "B", "A"].map((name, channel) => `${name} ${pixels.data[at + channel]}`).join("  ")}`;
  }
  private press(event: PointerEvent): void {
    this.dragged = { x: event.clientX, y: event.clientY };
    this.frame.setPointerCapture(event.pointerId);
  }
  private number(name: "low" | "high", event: Event): void {
    const value = Number((event.target as HTMLInputElement).value);
    if (value >= 0 && value <= 255) this.look = { ...this.look, [name]: value };
  }
  private bars() {
    const most = Math.max(1, ...this.counts);
    const at = (count: number) => 32 - (count ? 2 + 30 * (Math.log1p(count) / Math.log1p(most)) : 0);
    const edge = (value: number) => svg`<line x1=${value / 2} x2=${value / 2} y1="0" y2="32"></line>`;
    return html`<svg viewBox="0 0 128 32" preserveAspectRatio="none" aria-hidden="true">${svg`<path d=${`M0 32 ${Array.from(this.counts, (count, value) => `L${value / 2} ${at(count).toFixed(1)} L${(value + 1) / 2} ${at(count).toFixed(1)}`).join(" ")} L128 32 Z`}></path>`}${edge(this.look.low)}${edge(this.look.high)}</svg>`;
  }
  override render() {
    const { channels, low, high } = this.look;
    return html`<div class="bar"><b class="isolate">${nameOf(this.picture)}</b>
        <label>channels <select @change=${(event: Event) => (this.look = { ...this.look, channels: (event.target as HTMLSelectElement).value })}>${["RGB", "RGBA", "R", "G", "B", "A"].map((each) => html`<option ?selected=${each === channels}>${each}</option>`)}</select></label>
        <label>from <input type="number" min="0" max="255" .value=${String(low)} @change=${(event: Event) => this.number("low", event)}></label>
        <label>to <input type="number" min="0" max="255" .value=${String(high)} @change=${(event: Event) => this.number("high", event)}></label>
        ${this.bars()}
        <button class="stretch" @click=${() => (this.look = { ...this.look, ...rangeOf(this.counts) })}>Stretch</button><button @click=${() => (this.look = { ...plainLook, channels })}>0 to 255</button>
        <span><button class="plain" @click=${() => this.zoomTo(this.scale / steps)} aria-label="Smaller">−</button><button class="plain" @click=${() => this.zoomTo(this.scale * steps)} aria-label="Larger">+</button><button class="plain" @click=${() => this.zoomTo(1)}>1 : 1</button><button class="plain" @click=${() => (this.zoom = 0)}>Fit</button></span></div>
      <div class="frame" tabindex="0" role="application" aria-label="The picture: + and - zoom, arrows pan, 0 shows all of it" @wheel=${this.wheel} @keydown=${this.key} @pointerdown=${this.press} @pointermove=${this.moved} @pointerup=${() => (this.dragged = undefined)} @pointercancel=${() => (this.dragged = undefined)}>
        <canvas class="large" role="img" aria-label=${nameOf(this.picture)}></canvas></div>
      <div class="pixel mono">${this.pixel || html`<span class="quiet">Point at a pixel for its values, 0 to 255</span>`}</div>`;
  }
}
customElements.define("cairn-image", Image);
