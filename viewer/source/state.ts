// SPDX-License-Identifier: Apache-2.0
//
// What was bound at a call, and what the textures held then: the trace is played for that, in another process.
import { LitElement, css, html, nothing } from "lit";
import { FollowsSelection, linkTo, selection } from "./selection.js";
import { ask, askJson } from "./server.js";
import { shared } from "./style.js";
import { tree, treeStyle } from "./value.js";
import { grouped, visible } from "./words.js";

// By docs/images.schema.json.
interface Image { object: number; name: string | null; mip: number; slice: number; width: number; height: number; format: string; target: boolean; shown: boolean; problem?: string; file?: string; }
interface Images { images: (Image & { files?: string[] })[]; }

export class StateAt extends LitElement {
  static override properties = { state: { state: true }, images: { state: true }, failure: { state: true }, playing: { state: true }, large: { state: true }, pixel: { state: true }, channels: { state: true }, stretch: { state: true } };
  declare state: Record<string, unknown> | undefined;
  declare images: Image[] | undefined;
  declare failure: string;
  declare playing: boolean;
  declare large: Image | undefined;
  declare pixel: string;
  declare channels: string;
  declare stretch: boolean;
  private call: number | undefined;
  private pixels: ImageData | undefined;

  static override styles = [shared, treeStyle, css`
    .bar { display: flex; gap: 0.8rem; align-items: center; flex-wrap: wrap; }
    .thumbs { display: flex; gap: 0.8rem; flex-wrap: wrap; margin: 0.5rem 0; }
    figure { margin: 0; border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem; max-width: 15rem; }
    figure button { padding: 0; border: 0; background: none; display: block; }
    img { width: 13rem; height: 9rem; object-fit: contain; background: repeating-conic-gradient(#777 0 25%, #999 0 50%) 0 0 / 16px 16px; }
    figcaption { font-size: 0.85em; overflow-wrap: anywhere; }
    canvas { max-width: 100%; image-rendering: pixelated; border: 1px solid var(--line); background: repeating-conic-gradient(#777 0 25%, #999 0 50%) 0 0 / 16px 16px; cursor: crosshair; }
  `];
  constructor() {
    super();
    this.failure = this.pixel = "";
    this.playing = this.stretch = false;
    this.channels = "RGB";
    new FollowsSelection(this, () => this.obey());
  }
  override connectedCallback(): void {
    super.connectedCallback();
    this.obey();
  }
  private obey(): void {
    const call = selection.number("call");
    if (call === this.call) return;
    this.call = call;
    this.state = this.images = this.large = undefined;
    this.failure = "";
    if (call !== undefined) void this.read(call);
  }
  private async read(call: number): Promise<void> {
    try {
      const state = await askJson<Record<string, unknown>>("state", { call });
      if (call === this.call) this.state = state;
    } catch (error) {
      if (call === this.call) this.failure = (error as Error).message;
    }
  }
  private async play(): Promise<void> {
    const call = this.call!;
    this.playing = true;
    this.failure = "";
    try {
      const { images } = await askJson<Images>("images", { call }, true);
      if (call === this.call) this.images = images.flatMap((image) => (image.files?.length ? image.files.map((file) => ({ ...image, file })) : [image]));
    } catch (error) {
      if (call === this.call) this.failure = (error as Error).message;
    }
    this.playing = false;
  }
  private address(image: Image): string {
    return `image?${new URLSearchParams({ name: image.file ?? "" })}`;
  }
  private async show(image: Image): Promise<void> {
    this.large = image;
    const picture = new Image(image.width, image.height);
    picture.src = this.address(image);
    await picture.decode();
    const canvas = new OffscreenCanvas(picture.naturalWidth, picture.naturalHeight);
    const context = canvas.getContext("2d")!;
    context.drawImage(picture, 0, 0);
    this.pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    await this.updateComplete;
    this.paint();
  }
  // The chosen channels; one alone is grey. Stretched, the smallest value is black and the largest white.
  private paint(): void {
    const canvas = this.renderRoot.querySelector("canvas");
    if (!canvas || !this.pixels) return;
    const { width, height, data } = this.pixels;
    canvas.width = width;
    canvas.height = height;
    const shown = new ImageData(new Uint8ClampedArray(data), width, height);
    const single = "RGBA".indexOf(this.channels);
    let least = 255, most = 0;
    for (let at = 0; at < data.length; ++at) {
      if (single < 0 ? at % 4 === 3 : at % 4 !== single) continue;
      least = Math.min(least, data[at]!);
      most = Math.max(most, data[at]!);
    }
    const scale = this.stretch && most > least ? 255 / (most - least) : 1;
    const from = this.stretch && most > least ? least : 0;
    for (let at = 0; at < data.length; at += 4) {
      for (let channel = 0; channel < 3; ++channel) shown.data[at + channel] = (data[at + (single < 0 ? channel : single)]! - from) * scale;
      if (this.channels !== "RGBA") shown.data[at + 3] = 255;
    }
    canvas.getContext("2d")!.putImageData(shown, 0, 0);
  }
  private point(event: PointerEvent): void {
    const canvas = event.target as HTMLCanvasElement;
    if (!this.pixels) return;
    const x = Math.floor((event.offsetX / canvas.clientWidth) * canvas.width), y = Math.floor((event.offsetY / canvas.clientHeight) * canvas.height);
    if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
    const at = (y * canvas.width + x) * 4;
    this.pixel = `(${x}, ${y}): ${[...this.pixels.data.slice(at, at + 4)].join(" ")}`;
  }
  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has("channels") || changed.has("stretch")) this.paint();
  }
  private pictures() {
    if (!this.images) return nothing;
    const shown = this.images.filter((image) => image.file);
    const name = (image: Image) => `object ${image.object}${image.name ? ` "${visible(image.name, 60)}"` : ""}${image.slice ? `, slice ${image.slice}` : ""}${image.mip ? `, mip ${image.mip}` : ""}`;
    return html`<div class="thumbs">${shown.map((image) => html`<figure><button @click=${() => this.show(image)}><img src=${this.address(image)} alt=${name(image)}></button>
        <figcaption class="isolate">${name(image)}<br><span class="quiet">${image.width} × ${image.height} ${image.format}</span></figcaption></figure>`)}</div>
      ${this.images.length > shown.length ? html`<ul>${this.images.filter((image) => !image.file).map((image) => html`<li class="quiet">${name(image)}: ${visible(image.problem ?? "not shown")}</li>`)}</ul>` : nothing}
      ${this.large ? html`<div class="bar"><b class="isolate">${name(this.large)}</b><label>channels <select @change=${(event: Event) => (this.channels = (event.target as HTMLSelectElement).value)}>${["RGB", "RGBA", "R", "G", "B", "A"].map((each) => html`<option ?selected=${each === this.channels}>${each}</option>`)}</select></label>
        <label><input type="checkbox" @change=${(event: Event) => (this.stretch = (event.target as HTMLInputElement).checked)}> stretch</label><span class="mono">${this.pixel || "point at a pixel for its values"}</span></div>
        <canvas @pointermove=${this.point} role="img" aria-label=${name(this.large)}></canvas>` : nothing}`;
  }
  override render() {
    if (this.call === undefined) return html`<p class="quiet">Choose a call of a command list: in Calls, or the work of one in Verdict or Tree.</p>`;
    return html`<div class="bar"><h2>Call ${grouped(this.call)}</h2><a href=${linkTo({ view: "calls", call: String(this.call) })}>calls around it</a>
        <button ?disabled=${this.playing} @click=${this.play}>${this.playing ? "the trace is played …" : "Images here"}</button><span class="quiet">plays the trace up to this call on this machine's Direct3D 12, in a process of its own</span></div>
      ${this.failure ? html`<p class="wrong" role="alert">${visible(this.failure, 2000)}</p>` : nothing}
      ${this.pictures()}
      ${this.state ? html`<h2>State</h2>${tree(this.state)}` : this.failure ? nothing : html`<p class="quiet">…</p>`}`;
  }
}
customElements.define("cairn-state", StateAt);

export class Compare extends LitElement {
  static override properties = { other: {}, answer: { state: true }, failure: { state: true } };
  declare other: string;
  declare answer: Record<string, unknown> | undefined;
  declare failure: string;
  static override styles = [shared, treeStyle];
  constructor() {
    super();
    this.failure = this.other = "";
  }
  protected override firstUpdated(): void {
    if (!this.other) return;
    ask("compare").then((text) => (this.answer = JSON.parse(text)), (error: Error) => (this.failure = error.message));
  }
  override render() {
    if (!this.other) return html`<p class="quiet">Give two files: <code>cairn view game.cairn other.cairn</code></p>`;
    return html`<h2>Against ${visible(this.other)}</h2>${this.failure ? html`<p class="wrong">${visible(this.failure, 2000)}</p>` : this.answer ? tree(this.answer) : html`<p>The traces are compared …</p>`}`;
  }
}
customElements.define("cairn-compare", Compare);

export class Bisect extends LitElement {
  static override properties = { told: { state: true }, failure: { state: true } };
  declare told: { running: boolean; progress: string; answer: unknown } | undefined;
  declare failure: string;
  static override styles = [shared, treeStyle];
  private timer = 0;
  constructor() {
    super();
    this.failure = "";
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }
  override connectedCallback(): void {
    super.connectedCallback();
    void this.look();
  }
  private async look(start = false): Promise<void> {
    try {
      if (start) await ask("bisect", {}, true);
      this.told = await askJson("bisect");
      if (this.told!.running) this.timer = window.setTimeout(() => void this.look(), 500);
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }
  override render() {
    return html`<h2>Bisect</h2><p class="quiet">Plays the trace again and again, each time without a part of its calls, until one is left without which it does not fail. It writes nothing beside the trace.</p>
      <button ?disabled=${this.told?.running ?? true} @click=${() => this.look(true)}>${this.told?.running ? "searching …" : "Search"}</button>
      ${this.told?.progress ? html`<pre aria-live="polite">${visible(this.told.progress, 2000)}</pre>` : nothing}
      ${this.failure ? html`<p class="wrong">${visible(this.failure, 2000)}</p>` : nothing}${this.told?.answer ? tree(this.told.answer) : nothing}`;
  }
}
customElements.define("cairn-bisect", Bisect);
