// SPDX-License-Identifier: Apache-2.0
//
// The bindings at a call, and what the textures held there: the trace is played for that, in another process.
import { LitElement, css, html, nothing } from "lit";
import { bound, flowStyle, texturesOf, type BoundState, type Bound } from "./bound.js";
import { empty } from "./empty.js";
import "./image.js";
import { askPictures, keptPictures, nameOf, type Moment, type Picture } from "./pictures.js";
import type { Report } from "./report.js";
import { FollowsSelection, linkTo, selection } from "./selection.js";
import { askJson } from "./server.js";
import { completed } from "./states.js";
import { shared } from "./style.js";
import "./thumbnail.js";
import { tree, treeStyle } from "./value.js";
import { grouped, visible } from "./words.js";

const keyOf = ({ object, mip, slice, plane, file }: Picture) => `${object} ${mip} ${slice} ${plane} ${/-z\d+/.exec(file ?? "")?.[0] ?? ""}`;

export class StateAt extends LitElement {
  static override properties = { culprit: { attribute: false }, report: { attribute: false }, state: { state: true }, images: { state: true }, stateless: { state: true }, failure: { state: true }, playing: { state: true }, large: { state: true }, moment: { state: true } };
  declare culprit: number | undefined;   // a call to begin with
  declare report: Report | undefined;
  declare state: BoundState | undefined;
  declare images: Picture[] | undefined;
  declare stateless: string;   // why there is no state
  declare failure: string;
  declare playing: boolean;
  declare large: string;   // the key of a picture
  declare moment: Moment;
  private call: number | undefined;
  private destroyed: Map<number, number> | undefined;   // object -> the record that says so

  static override styles = [shared, treeStyle, flowStyle, css`
    .bar { display: flex; gap: var(--s3); align-items: center; flex-wrap: wrap; }
    .thumbs { display: flex; gap: var(--s3); flex-wrap: wrap; margin: var(--s2) 0; }
    .pictures { margin: var(--s3) 0; }
    .all { margin-top: var(--s4); }
    figure { margin: 0; border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2); width: 11rem; }
    figure.chosen { background: var(--chosen); box-shadow: inset 0 -3px var(--link); }
    figure button { padding: 0; border: 0; background: none; display: block; width: 100%; }
    figure cairn-thumbnail { height: 6.5rem; }
    figcaption { font-size: var(--small); overflow-wrap: anywhere; }
    .moments { display: inline-flex; }
    .moments button[aria-pressed=true] { background: var(--chosen); font-weight: 600; }
    /* Beside each other, where there is room. */
    .whole > .tree { columns: 44rem; column-gap: var(--s8); }
  `];
  constructor() {
    super();
    this.failure = this.stateless = this.large = "";
    this.playing = false;
    this.moment = "";
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
    this.state = this.images = undefined;
    this.failure = this.stateless = "";
    if (call !== undefined) void this.read(call);
  }
  private async read(call: number): Promise<void> {
    try {
      const state = await askJson<BoundState & { format?: string; version?: number }>("state", { call });
      delete state.format;
      delete state.version;
      if (call !== this.call) return;
      this.state = state;
    } catch (error) {
      if (call !== this.call) return;
      this.stateless = (error as Error).message;
    }
    // Work that had not ended may hang again: the picture before it.
    const scope = this.report?.scopeAt(call);
    this.moment = !this.state ? "" : scope !== undefined && this.report!.data.scopes[scope]!.state !== completed ? "before" : "after";
    void this.play();
    await this.readDestroyed();
  }
  // For the words of what a descriptor leads to.
  private async readDestroyed(): Promise<void> {
    if (this.destroyed) return;
    try {
      const { objects } = await askJson<{ objects: { object: number; destroyed?: number }[] }>("objects");
      this.destroyed = new Map(objects.flatMap(({ object, destroyed }) => (destroyed === undefined ? [] : [[object, destroyed]])));
      this.requestUpdate();
    } catch {
      // The cards say less.
    }
  }
  private async play(all = false): Promise<void> {
    const wanted = { call: this.call!, moment: this.moment, objects: texturesOf(this.state), all };
    const isWanted = () => wanted.call === this.call && wanted.moment === this.moment;
    this.failure = "";
    this.playing = !keptPictures(wanted);
    try {
      const images = await askPictures(wanted);
      if (isWanted()) this.images = images;
    } catch (error) {
      if (!isWanted()) return;
      this.images = undefined;
      this.failure = (error as Error).message;
    }
    if (isWanted()) this.playing = false;
  }
  private turn(moment: Moment): void {
    this.moment = moment;
    void this.play();
  }
  private pictures() {
    const shown = (this.images ?? []).filter(({ pixels }) => pixels);
    const large = shown.find((image) => keyOf(image) === this.large);
    const moments = this.state ? html`<span class="moments" role="group" aria-label="When">${(["before", "after"] as const).map((moment) => html`<button aria-pressed=${moment === this.moment} @click=${() => this.turn(moment)}>${moment === "before" ? "Before" : "After"} it</button>`)}</span>` : nothing;
    return html`<section class="card pictures" aria-label="Images"><div class="bar"><h2>Images</h2>${moments}<span class="quiet" aria-live="polite">${this.playing ? "playing the trace up to here, in a process of its own …"
        : this.images ? (this.state ? `the command list was executed up to this call${this.moment === "before" ? ", without it" : ""}` : "all that was submitted up to this call has ended") : ""}</span></div>
      ${this.failure ? html`<p class="wrong" role="alert">${visible(this.failure, 2000)}</p><button class="all-the-same" @click=${() => this.play(true)}>Play it all the same</button>` : nothing}
      ${this.images ? html`<div class="thumbs">${shown.map((image) => html`<figure class=${image === large ? "chosen" : ""}><button @click=${() => (this.large = keyOf(image))} aria-label="show ${nameOf(image)}"><cairn-thumbnail .picture=${image}></cairn-thumbnail></button>
        <figcaption class="isolate">${nameOf(image)}<br><span class="quiet">${image.width} × ${image.height} ${image.format}${this.boundAs(image.object)}</span></figcaption></figure>`)}</div>
      ${this.images.length > shown.length ? html`<ul>${this.images.filter(({ pixels }) => !pixels).map((image) => html`<li class="quiet">${nameOf(image)}: ${visible(image.problem ?? "not shown")}</li>`)}</ul>` : nothing}
      ${shown.length ? nothing : html`<p class="quiet">No texture that is drawn into exists at this call.</p>`}
      ${large ? html`<cairn-image .picture=${large}></cairn-image>` : nothing}` : nothing}</section>`;
  }
  private boundAs(object: number): string {
    const at = (this.state?.targets ?? []).findIndex(({ written_by: by }) => (by?.arguments["pResource"] as { object?: number } | null | undefined)?.object === object);
    return at < 0 ? "" : this.state!.targets![at]!.kind === "depth stencil" ? ", depth target" : `, target ${at}`;
  }
  private get known(): Bound {
    return {
      picture: (object) => this.images?.find((image) => image.object === object && image.pixels),
      destroyed: (object) => { const record = this.destroyed?.get(object); return record !== undefined && record < (this.call ?? 0) ? record : undefined; },
    };
  }
  override render() {
    if (this.call === undefined) return empty("No call is chosen", html`State shows what was bound at a call that records into a command list, and the images around it: the trace is played up to there. ${
      this.culprit === undefined ? nothing : html`Begin with <a href=${linkTo({ view: "state", call: String(this.culprit) })}>the culprit, call ${grouped(this.culprit)}</a>, or choose`}${this.culprit === undefined ? "Choose" : ""} one in <a href=${linkTo({ view: "calls" })}>Calls</a>, or the work of one in Tree.`);
    return html`<div class="bar"><h2>Call ${grouped(this.call)}</h2><a href=${linkTo({ view: "calls", call: String(this.call) })}>calls around it</a></div>
      ${this.state || this.stateless ? this.pictures() : nothing}
      ${this.state ? html`${bound(this.state, this.known)}<details class="all"><summary>All values</summary><div class="whole">${tree(this.state)}</div></details>` : html`<p class="quiet">${visible(this.stateless, 2000) || "…"}</p>`}`;
  }
}
customElements.define("cairn-state", StateAt);
