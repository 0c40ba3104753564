// SPDX-License-Identifier: Apache-2.0
//
// What was being drawn: the targets just before the culprit, and after the passes before it, played by cairn view. Nothing
// where that cannot be had: no trace, no server, work before it that had not ended.
import { LitElement, css, html, nothing } from "lit";
import { texturesOf, type BoundState } from "./bound.js";
import { askPictures, nameOf, type Picture } from "./pictures.js";
import type { Report } from "./report.js";
import { linkTo } from "./selection.js";
import { askJson } from "./server.js";
import { completed } from "./states.js";
import { shared } from "./style.js";
import "./thumbnail.js";
import { grouped } from "./words.js";

const mostPasses = 4;

interface Pass { scope: number; call: number; picture: Picture; }

export class Drawn extends LitElement {
  static override properties = { report: { attribute: false }, scope: { type: Number }, picture: { state: true }, passes: { state: true } };
  declare report: Report;
  declare scope: number;   // the culprit
  declare picture: Picture | undefined;
  declare passes: Pass[];
  private isGone = false;

  static override styles = [shared, css`
    :host { display: block; }
    .drawn { display: grid; gap: var(--s3); margin-bottom: var(--s4); }
    a { color: inherit; text-decoration: none; display: block; }
    .large { height: clamp(10rem, 26vh, 20rem); }
    .passes { display: flex; flex-wrap: wrap; gap: var(--s3); margin: 0; padding: 0; list-style: none; }
    .passes li { width: 9rem; margin: 0; }
    .passes cairn-thumbnail { height: 5rem; }
  `];
  constructor() {
    super();
    this.passes = [];
  }
  override connectedCallback(): void {
    super.connectedCallback();
    this.isGone = false;
    void this.updateComplete.then(() => this.play()).catch(() => undefined);   // the rest of the verdict says what is known
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.isGone = true;
  }
  // The first target that is bound at a call, and nothing of what had not ended.
  private async targetAt(call: number, moment: "before" | "after"): Promise<Picture | undefined> {
    const state = await askJson<BoundState>("state", { call });
    if (this.isGone) return undefined;
    const targets = texturesOf({ targets: state.targets ?? [] });
    // As State asks for them.
    const pictures = (await askPictures({ call, moment, objects: texturesOf(state) })).filter(({ pixels }) => pixels);
    return pictures.find(({ object }) => object === targets[0]) ?? pictures.find(({ shown }) => shown);
  }
  private async play(): Promise<void> {
    const call = this.report.data.scopes[this.scope]?.call;
    if (call === undefined) return;
    this.picture = await this.targetAt(call, "before");
    for (const pass of this.passesBefore()) {
      if (this.isGone) return;
      const picture = await this.targetAt(pass.call, "after");
      if (picture) this.passes = [...this.passes, { ...pass, picture }];
    }
  }
  // The completed passes of the culprit's list that stand before its own, the last ones, each with its last call.
  private passesBefore(): { scope: number; call: number }[] {
    const { scopes } = this.report.data;
    const around = this.report.around(this.scope);
    const own = around.at(-2);   // the pass of the culprit
    if (own === undefined) return [];
    const found: { scope: number; call: number }[] = [];
    for (let scope = 0; scope < own; ++scope) {
      const { parent, state } = scopes[scope]!;
      if (parent !== scopes[own]!.parent || state !== completed || this.report.executionOf(scope) !== this.report.executionOf(own)) continue;
      let call = -1;
      for (let inside = scope + 1; inside < scopes.length && scopes[inside]!.depth > scopes[scope]!.depth; ++inside) call = Math.max(call, scopes[inside]!.call ?? -1);
      if (call > 0) found.push({ scope, call });
    }
    return found.slice(-mostPasses);
  }
  override render() {
    const { picture } = this;
    if (!picture) return nothing;
    const call = this.report.data.scopes[this.scope]!.call!;
    return html`<section class="card drawn" aria-label="What was being drawn"><h2>What was being drawn</h2>
      <a href=${linkTo({ view: "state", call: String(call), scope: String(this.scope) })}><cairn-thumbnail class="large" .picture=${picture}></cairn-thumbnail>
        <span class="isolate">${nameOf(picture)}</span> <span class="quiet">${picture.width} × ${picture.height} ${picture.format}, just before call ${grouped(call)}: played again on this machine</span></a>
      ${this.passes.length ? html`<ol class="passes" aria-label="After the passes before it">${this.passes.map((pass) => html`<li><a href=${linkTo({ view: "state", call: String(pass.call), scope: String(pass.scope) })}><cairn-thumbnail .picture=${pass.picture}></cairn-thumbnail><span class="small isolate">after ${this.report.scope(pass.scope)}</span></a></li>`)}</ol>` : nothing}</section>`;
  }
}
customElements.define("cairn-drawn", Drawn);
