// SPDX-License-Identifier: Apache-2.0
//
// The pipeline of a draw or dispatch, from left to right: its input, its shaders, its output, and what was bound.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { flowStyle } from "./bound.js";
import { stages, type Binding, type Report } from "./report.js";
import { linkTo } from "./selection.js";
import { shared } from "./style.js";
import { bytes, quoted, visible } from "./words.js";

export const isHarmless = (binding: Binding) => binding.state === "alive" || binding.state === "not seen";
const inputs = ["vertex buffer", "index buffer", "indirect arguments", "source"];
const outputs = ["render target", "depth stencil", "unordered access", "destination", "stream output"];
const sideOf = ({ point }: Binding) => (inputs.includes(point) ? "input" : outputs.includes(point) ? "output" : "bound");

// A binding with a link from the object to Memory.
export function bindingLine(report: Report, binding: Binding): TemplateResult {
  const all = report.binding(binding), name = report.object(binding.object);
  const at = binding.object === null ? -1 : all.indexOf(name);
  const harmless = isHarmless(binding);
  return html`<div class=${harmless ? "" : "wrong"}>${harmless ? "" : "! "}<span class="isolate">${at < 0 ? all
    : html`${all.slice(0, at)}<a href=${linkTo({ view: "memory", object: String(binding.object) })}>${name}</a>${all.slice(at + name.length)}`}</span></div>`;
}

export class Pipeline extends LitElement {
  static override properties = { report: { attribute: false }, pipeline: { attribute: false }, bindings: { attribute: false } };
  declare report: Report;
  declare pipeline: number | null;   // an index; null: only what was bound is known
  declare bindings: readonly Binding[];
  static override styles = [shared, flowStyle, css`code { overflow-wrap: anywhere; }`];
  constructor() {
    super();
    this.bindings = [];
    this.pipeline = null;
  }
  private shader(stage: string, name: string, hash: string) {
    const known = this.report.data.shaders.find((shader) => shader.hash === hash);
    return html`<li><div class="stage">${stage} shader</div><b class="isolate">${visible(name.replace(hash, "").replace(/\s*\(\)$/, ""))}</b>
      ${hash ? html`<code>${visible(hash)}</code>` : nothing}
      ${known ? html`<div class="quiet small">${known.code}, ${bytes(known.size)}${known.kept ? ", in this file" : ", not kept"}</div>` : nothing}</li>`;
  }
  private side(side: "input" | "output" | "bound", title: string) {
    const found = this.bindings.filter((binding) => sideOf(binding) === side);
    if (!found.length) return nothing;
    return html`<li class=${found.every(isHarmless) ? "" : "bad"}><div class="stage">${title}</div>${found.map((binding) => bindingLine(this.report, binding))}</li>`;
  }
  override render() {
    const pipeline = this.pipeline === null ? undefined : this.report.data.pipelines[this.pipeline];
    const shaders = pipeline ? Object.keys(stages).flatMap((stage) => {
      const name = pipeline.shaders[stage] ?? "", hash = pipeline.shader_hashes[stage] ?? "";
      return name || hash ? [this.shader(stages[stage]!, name, hash)] : [];
    }) : [];
    return html`${pipeline ? html`<h2><span class="isolate">${pipeline.name ? quoted(pipeline.name) : "without a name"}</span> <span class="quiet">${visible(pipeline.kind)} pipeline</span></h2>` : html`<h2>Bound</h2>`}
      <ol class="flow">${this.side("input", "input")}${this.side("bound", "resources")}${shaders}${this.side("output", "output")}</ol>
      ${pipeline && !shaders.length ? html`<p class="quiet">No shader of this pipeline is known.</p>` : nothing}`;
  }
}
customElements.define("cairn-pipeline", Pipeline);
