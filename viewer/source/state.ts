// SPDX-License-Identifier: Apache-2.0
//
// What was bound at a call, and what the textures held then: the trace is played for that, in another process.
import { LitElement, css, html, nothing } from "lit";
import { bound, flowStyle, type BoundState } from "./bound.js";
import { empty } from "./empty.js";
import { decodePng } from "./png.js";
import { FollowsSelection, linkTo, selection } from "./selection.js";
import { askJson } from "./server.js";
import { shared } from "./style.js";
import { tree, treeStyle } from "./value.js";
import { grouped, visible } from "./words.js";

// By docs/formats/images.schema.json.
interface Picture { object: number; name: string | null; mip: number; slice: number; width: number; height: number; format: string; target: boolean; shown: boolean; problem?: string; file?: string; }
interface Images { images: (Picture & { files?: string[] })[]; }

export class StateAt extends LitElement {
  static override properties = { culprit: { attribute: false }, state: { state: true }, images: { state: true }, stateless: { state: true }, failure: { state: true }, playing: { state: true }, large: { state: true }, pixel: { state: true }, channels: { state: true }, stretch: { state: true } };
  declare culprit: number | undefined;   // a call to begin with
  declare state: Record<string, unknown> | undefined;
  declare images: Picture[] | undefined;
  declare stateless: string;   // why there is no state
  declare failure: string;
  declare playing: boolean;
  declare large: Picture | undefined;
  declare pixel: string;
  declare channels: string;
  declare stretch: boolean;
  private call: number | undefined;
  private decoded = new Map<string, ImageData>();

  static override styles = [shared, treeStyle, flowStyle, css`
    .bar { display: flex; gap: var(--s3); align-items: center; flex-wrap: wrap; }
    .thumbs { display: flex; gap: var(--s3); flex-wrap: wrap; margin: var(--s2) 0; }
    .all { margin-top: var(--s4); }
    figure { margin: 0; border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2); width: 14rem; }
    figure.chosen { background: var(--chosen); box-shadow: inset 0 -3px var(--link); }
    figure button { padding: 0; border: 0; background: none; display: block; }
    figure canvas { width: 13rem; height: 9rem; object-fit: contain; background: var(--raised); }
    figcaption { font-size: var(--small); overflow-wrap: anywhere; }
    .large { display: block; max-width: 100%; margin: var(--s2) 0; image-rendering: pixelated; border: 1px solid var(--line); background: repeating-conic-gradient(var(--edge) 0 25%, var(--quiet) 0 50%) 0 0 / 16px 16px; cursor: crosshair; }
    /* Beside each other, where there is room. */
    .whole > .tree { columns: 44rem; column-gap: var(--s8); }
  `];
  constructor() {
    super();
    this.failure = this.stateless = this.pixel = "";
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
    this.failure = this.stateless = "";
    if (call !== undefined) void this.read(call);
  }
  private async read(call: number): Promise<void> {
    try {
      const { format: _format, version: _version, ...state } = await askJson<Record<string, unknown>>("state", { call });
      if (call === this.call) this.state = state;
    } catch (error) {
      if (call === this.call) this.stateless = (error as Error).message;
    }
  }
  private async play(): Promise<void> {
    const call = this.call!;
    this.playing = true;
    this.failure = "";
    try {
      const { images } = await askJson<Images>("images", { call }, true);
      this.decoded.clear();
      if (call === this.call) this.images = images.flatMap((image) => (image.files?.length ? image.files.map((file) => ({ ...image, file })) : [image]));
    } catch (error) {
      if (call === this.call) this.failure = (error as Error).message;
    }
    this.playing = false;
  }
  // Reads all pictures, by their files; draws them without alpha, which most targets do not use.
  private async readPictures(): Promise<void> {
    for (const { file } of this.images ?? []) {
      if (!file || this.decoded.has(file)) continue;
      this.decoded.set(file, await decodePng(await (await fetch(`image?${new URLSearchParams({ name: file })}`)).arrayBuffer()));
      this.requestUpdate();
    }
  }
  private show(image: Picture): void {
    this.large = image;
    this.pixel = "";
  }
  // The chosen channels; one alone is grey. Stretched, the smallest value is black and the largest white.
  private paint(canvas: HTMLCanvasElement, { width, height, data }: ImageData, channels: string, stretch: boolean): void {
    canvas.width = width;
    canvas.height = height;
    const shown = new ImageData(new Uint8ClampedArray(data), width, height);
    const single = "RGBA".indexOf(channels);
    let least = 255, most = 0;
    for (let at = 0; stretch && at < data.length; ++at) {
      if (channels.length > 1 ? at % 4 === 3 : at % 4 !== single) continue;
      least = Math.min(least, data[at]!);
      most = Math.max(most, data[at]!);
    }
    const scale = stretch && most > least ? 255 / (most - least) : 1;
    const from = scale === 1 ? 0 : least;
    for (let at = 0; at < data.length; at += 4) {
      for (let channel = 0; channel < 3; ++channel) shown.data[at + channel] = (data[at + (channels.length > 1 ? channel : single)]! - from) * scale;
      if (channels !== "RGBA") shown.data[at + 3] = 255;
    }
    canvas.getContext("2d")!.putImageData(shown, 0, 0);
  }
  private point(event: PointerEvent): void {
    const canvas = event.target as HTMLCanvasElement;
    const pixels = this.decoded.get(this.large?.file ?? "");
    if (!pixels) return;
    const x = Math.floor((event.offsetX / canvas.clientWidth) * canvas.width), y = Math.floor((event.offsetY / canvas.clientHeight) * canvas.height);
    if (x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
    const at = (y * canvas.width + x) * 4;
    this.pixel = `(${x}, ${y}): ${["R", "G", "B", "A"].map((name, channel) => `${name} ${pixels.data[at + channel]}`).join("  ")}`;
  }
  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has("images") && this.images) void this.readPictures().catch((error: Error) => (this.failure = error.message));
    const painted = (canvas: HTMLCanvasElement, file: string | undefined, how: string) => {
      const pixels = this.decoded.get(file ?? "");
      if (!pixels || canvas.dataset["shown"] === file + how) return;
      canvas.dataset["shown"] = file + how;
      const [channels, stretch] = how.split(" ");
      this.paint(canvas, pixels, channels!, stretch === "true");
    };
    for (const canvas of this.renderRoot.querySelectorAll<HTMLCanvasElement>("figure canvas")) painted(canvas, canvas.dataset["file"], "RGB false");
    const large = this.renderRoot.querySelector<HTMLCanvasElement>(".large");
    if (large) painted(large, this.large?.file, `${this.channels} ${this.stretch}`);
  }
  private pictures() {
    if (!this.images) return nothing;
    const shown = this.images.filter((image) => image.file);
    const name = (image: Picture) => `resource ${image.object}${image.name ? ` "${visible(image.name, 60)}"` : ""}${image.slice ? `, slice ${image.slice}` : ""}${image.mip ? `, mip ${image.mip}` : ""}`;
    return html`<div class="thumbs">${shown.map((image) => html`<figure class=${image === this.large ? "chosen" : ""}><button @click=${() => this.show(image)} aria-label="show ${name(image)}"><canvas data-file=${image.file} role="img" aria-label=${name(image)}></canvas></button>
        <figcaption class="isolate">${name(image)}<br><span class="quiet">${image.width} × ${image.height} ${image.format}</span></figcaption></figure>`)}</div>
      ${this.images.length > shown.length ? html`<ul>${this.images.filter((image) => !image.file).map((image) => html`<li class="quiet">${name(image)}: ${visible(image.problem ?? "not shown")}</li>`)}</ul>` : nothing}
      ${this.large ? html`<div class="bar"><b class="isolate">${name(this.large)}</b><label>channels <select @change=${(event: Event) => (this.channels = (event.target as HTMLSelectElement).value)}>${["RGB", "RGBA", "R", "G", "B", "A"].map((each) => html`<option ?selected=${each === this.channels}>${each}</option>`)}</select></label>
        <label><input type="checkbox" @change=${(event: Event) => (this.stretch = (event.target as HTMLInputElement).checked)}> stretch</label><span class="mono">${this.pixel || "point at a pixel for its values"}</span></div>
        <canvas class="large" @pointermove=${this.point} role="img" aria-label=${name(this.large)}></canvas>` : nothing}`;
  }
  override render() {
    if (this.call === undefined) return empty("No call is chosen", html`State shows what was bound at a call that records into a command list, and plays the trace up to it for images. ${
      this.culprit === undefined ? nothing : html`Begin with <a href=${linkTo({ view: "state", call: String(this.culprit) })}>the culprit, call ${grouped(this.culprit)}</a>, or choose`}${this.culprit === undefined ? "Choose" : ""} one in <a href=${linkTo({ view: "calls" })}>Calls</a>, or the work of one in Tree.`);
    return html`<div class="bar"><h2>Call ${grouped(this.call)}</h2><a href=${linkTo({ view: "calls", call: String(this.call) })}>calls around it</a>
        <button ?disabled=${this.playing} @click=${this.play}>${this.playing ? "the trace is played …" : "Images here"}</button><span class="quiet">plays the trace up to this call, in a process of its own</span></div>
      ${this.failure ? html`<p class="wrong" role="alert">${visible(this.failure, 2000)}</p>` : nothing}
      ${this.pictures()}
      ${this.state ? html`${bound(this.state as BoundState)}<details class="all"><summary>All values</summary><div class="whole">${tree(this.state)}</div></details>` : html`<p class="quiet">${visible(this.stateless, 2000) || "…"}</p>`}`;
  }
}
customElements.define("cairn-state", StateAt);
