// SPDX-License-Identifier: Apache-2.0
//
// What two traces drew, at the ends of two frames: both are played, and a slider goes from one image to the other.
import { LitElement, css, html, nothing } from "lit";
import { differenceOf, pairsOf, type Pair, type Picture } from "./image_pairs.js";
import { decodePng } from "./png.js";
import { askJson } from "./server.js";
import { shared } from "./style.js";
import { count, grouped, visible } from "./words.js";

export class CompareImages extends LitElement {
  static override properties = { frames: { attribute: false }, playing: { state: true }, failure: { state: true }, pairs: { state: true }, shown: { state: true }, at: { state: true }, how: { state: true } };
  declare frames: [number, number];  // that are suggested
  declare playing: boolean;
  declare failure: string;
  declare pairs: Pair[] | undefined;
  declare shown: Pair | undefined;
  declare at: number;                // the slider, of 100
  declare how: "slider" | "difference";
  private played: [number, number] = [0, 0];
  private pixels: [ImageData, ImageData] | undefined;
  static override styles = [shared, css`
    form, .bar { display: flex; gap: var(--s2) var(--s3); flex-wrap: wrap; align-items: center; }
    input[type=number] { width: 6rem; }
    input[type=range] { display: block; width: 100%; margin: var(--s1) 0; }
    .stage { position: relative; display: inline-block; margin-top: var(--s2); border: 1px solid var(--line); max-width: 100%; min-width: 16rem; }
    canvas { display: block; width: 100%; image-rendering: pixelated; }
    .second { position: absolute; inset: 0; }
    .edge { position: absolute; top: 0; bottom: 0; width: 2px; background: var(--link); }
  `];
  constructor() {
    super();
    this.frames = [0, 0];
    this.playing = false;
    this.failure = "";
    this.at = 50;
    this.how = "slider";
  }
  private async play(event: Event): Promise<void> {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const [firstFrame, secondFrame] = (this.played = [Number(data.get("first")), Number(data.get("second"))]);
    this.playing = true;
    this.failure = "";
    this.pairs = this.shown = this.pixels = undefined;
    try {
      const { images: first } = await askJson<{ images: Picture[] }>("frame-images", { frame: firstFrame }, true);
      const { images: second } = await askJson<{ images: Picture[] }>("other-images", { frame: secondFrame }, true);
      this.pairs = pairsOf(first, second);
      const [pair] = [...this.pairs].sort((a, b) => Number(b.first.shown) - Number(a.first.shown));
      if (pair) await this.show(pair);
    } catch (error) {
      this.failure = (error as Error).message;
    }
    this.playing = false;
  }
  private async show(pair: Pair): Promise<void> {
    const read = async (question: string, { files }: Picture) => decodePng(await (await fetch(`${question}?${new URLSearchParams({ name: files![0]! })}`)).arrayBuffer());
    this.pixels = [await read("image", pair.first), await read("other-image", pair.second)];
    this.shown = pair;
    this.requestUpdate();
  }
  protected override updated(): void {
    const [first, second] = this.renderRoot.querySelectorAll("canvas");
    if (!first || !this.pixels || !this.shown) return;
    const how = `${this.how} ${this.shown.first.files![0]}`;
    if (first.dataset["shown"] === how) return;
    first.dataset["shown"] = how;
    const paint = (canvas: HTMLCanvasElement, { width, height }: ImageData, pixels: Uint8ClampedArray) => {
      Object.assign(canvas, { width, height });
      const opaque = new Uint8ClampedArray(pixels);
      for (let at = 3; at < opaque.length; at += 4) opaque[at] = 255;
      canvas.getContext("2d")!.putImageData(new ImageData(opaque, width, height), 0, 0);
    };
    const difference = this.how === "difference" ? differenceOf(...this.pixels) : undefined;
    paint(first, this.pixels[0], difference?.picture ?? this.pixels[0].data);
    if (second) paint(second, this.pixels[1], this.pixels[1].data);
  }
  private images() {
    if (!this.pairs) return nothing;
    if (!this.pairs.length) return html`<p class="quiet">No image of the first trace has the name or the place of one of the second.</p>`;
    if (!this.shown || !this.pixels) return html`<p class="quiet">…</p>`;
    const difference = differenceOf(...this.pixels);
    const told = !difference ? "of different sizes" : difference.pixels ? `${count(difference.pixels, "pixel")} of ${grouped(this.pixels[0].width * this.pixels[0].height)} differ, by ${difference.most} of 255 at most` : "no pixel differs";
    return html`<div class="bar"><label>image <select @change=${(event: Event) => void this.show(this.pairs![(event.target as HTMLSelectElement).selectedIndex]!)}>${this.pairs.map((pair) => html`<option ?selected=${pair === this.shown}>${visible(pair.title, 80)}</option>`)}</select></label>
        <label>as <select @change=${(event: Event) => (this.how = (event.target as HTMLSelectElement).value as "slider" | "difference")}>
          <option value="slider" ?selected=${this.how === "slider"}>slider</option><option value="difference" ?selected=${this.how === "difference"} ?disabled=${!difference}>difference</option></select></label>
        <span class="told">frame ${grouped(this.played[0])} and frame ${grouped(this.played[1])}: ${told}</span></div>
      <div class="stage"><canvas role="img" aria-label=${this.how === "slider" ? "the first" : `difference: ${told}`}></canvas>
        ${this.how === "slider" ? html`<canvas class="second" role="img" aria-label="the second" .style=${`clip-path: inset(0 0 0 ${this.at}%)`}></canvas><span class="edge" .style=${`left: ${this.at}%`}></span>` : nothing}</div>
      ${this.how === "slider" ? html`<input type="range" min="0" max="100" .value=${String(this.at)} aria-label="how much of the first is shown; the second stands to the right" @input=${(event: Event) => (this.at = Number((event.target as HTMLInputElement).value))}>` : nothing}`;
  }
  override render() {
    return html`<form @submit=${this.play}><label>images at the end of frame <input type="number" name="first" min="0" required .value=${String(this.frames[0])}></label>
        <label>and of frame <input type="number" name="second" min="0" required .value=${String(this.frames[1])}> of the second</label>
        <button ?disabled=${this.playing}>${this.playing ? "playing both …" : "Compare images"}</button></form>
      ${this.failure ? html`<p class="wrong" role="alert">${visible(this.failure, 2000)}</p>` : nothing}${this.images()}`;
  }
}
customElements.define("cairn-compare-images", CompareImages);
