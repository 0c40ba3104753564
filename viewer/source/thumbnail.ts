// SPDX-License-Identifier: Apache-2.0
//
// A picture, small: <cairn-thumbnail .picture>.
import { LitElement, css, html } from "lit";
import { nameOf, paint, plainLook, type Picture } from "./pictures.js";

export class Thumbnail extends LitElement {
  static override properties = { picture: { attribute: false } };
  declare picture: Picture;
  private shown: ImageData | undefined;
  static override styles = css`
    :host { display: block; }
    canvas { display: block; width: 100%; height: 100%; object-fit: contain; background: var(--over); border-radius: var(--round); }
  `;
  protected override updated(): void {
    const canvas = this.renderRoot.querySelector("canvas")!;
    const { pixels } = this.picture;
    if (!pixels || pixels === this.shown) return;
    this.shown = pixels;
    paint(canvas, pixels, plainLook);
    canvas.dataset["shown"] = this.picture.file;
  }
  override render() {
    return html`<canvas role="img" aria-label=${nameOf(this.picture)}></canvas>`;
  }
}
customElements.define("cairn-thumbnail", Thumbnail);
