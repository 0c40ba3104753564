// SPDX-License-Identifier: Apache-2.0
//
// The bindings at a call, from left to right as the GPU goes through it: input, resources, shaders, rasteriser, output.
// By docs/formats/state.schema.json; what has no card here stands in the tree below.
import { css, html, nothing, type TemplateResult } from "lit";
import { icon } from "./icons.js";
import type { Picture } from "./pictures.js";
import { stages } from "./report.js";
import { linkTo } from "./selection.js";
import { inLine } from "./value.js";
import { bytes, count, grouped, visible } from "./words.js";

type Value = Record<string, unknown>;
interface Setting { set_by: number; arguments: Value; }
interface Written { number: number; method: string; arguments: Value; }
interface Argument { index: number; kind: string; set_by: number; value?: Value | null; offset?: number; values?: number[]; descriptors?: { index: number; written_by: Written | null }[]; }
export interface BoundState {
  call?: { method: string } | null;
  pipeline?: { object: number; text?: string; set_by: number; created_by: { number: number; arguments: Value } | null } | null;
  graphics?: { root_arguments: Argument[] }; compute?: { root_arguments: Argument[] };
  targets?: { kind: string; written_by: Written | null }[];
  parts?: { kind: string; count: number; count_is_limit: boolean; executed_by?: number; of?: string; listed: { text: string; unknown?: string }[] };
  vertex_buffers?: { slot?: number; [key: string]: unknown }[];
  [key: string]: unknown;
}
// What is known beside the state of an object, by its number.
export interface Bound { picture(object: number): Picture | undefined; destroyed(object: number): number | undefined; }

const resourceOf = (by: Written | null) => by?.arguments["pResource"] as { object: number; text?: string } | null | undefined;
// The resources that descriptors lead to.
export function texturesOf(state: BoundState | undefined): number[] {
  const written = [...(state?.targets ?? []), ...[state?.graphics, state?.compute].flatMap((root) => root?.root_arguments.flatMap(({ descriptors }) => descriptors ?? []) ?? [])];
  return [...new Set(written.flatMap(({ written_by: by }) => (by && !/ConstantBufferView|Sampler/.test(by.method) ? resourceOf(by)?.object ?? [] : [])))];
}

const call = (number: number) => html`<a class="small" href=${linkTo({ view: "calls", call: String(number) })} title="set by call ${grouped(number)}">${grouped(number)}</a>`;
const short = (name: unknown) => String(name).replace(/^(D3D12|D3D|DXGI)_(FORMAT|PRIMITIVE_TOPOLOGY|FILL_MODE|CULL_MODE|COMPARISON_FUNC)_/, "").toLowerCase().replaceAll("_", " ");
const list = (value: unknown): Value[] => (Array.isArray(value) ? (value as Value[]) : []);
const setting = (state: BoundState, name: string) => state[name] as Setting | undefined;

const card = (title: string, lines: TemplateResult[], wrong = false) => (lines.length ? html`<li class=${wrong ? "bad" : ""}><div class="stage">${title}</div>${lines.map((line) => html`<div class="isolate">${line}</div>`)}</li>` : nothing);

function input(state: BoundState, description: Value) {
  const topology = setting(state, "primitive_topology"), indices = setting(state, "index_buffer");
  const layout = list((description["InputLayout"] as Value | undefined)?.["pInputElementDescs"]);
  return card("input", [
    ...(topology ? [html`${short(topology.arguments["PrimitiveTopology"])} ${call(topology.set_by)}`] : []),
    ...layout.slice(0, 16).map((each) => html`${visible(String((each["SemanticName"] as Value | undefined)?.["text"] ?? each["SemanticName"] ?? ""), 60)}${Number(each["SemanticIndex"]) ? each["SemanticIndex"] : ""} <span class="quiet">${short(each["Format"])}</span>`),
    ...list(state.vertex_buffers).slice(0, 16).map((each) => html`vertex buffer ${inLine(each, 160)}`),
    ...(indices ? [html`index buffer ${inLine(indices.arguments["pView"] ?? indices.arguments, 160)} ${call(indices.set_by)}`] : []),
  ]);
}
// A resource with its picture, by the descriptor that leads to it.
function resource(title: string, by: Written | null, known: Bound, detail: unknown = nothing): TemplateResult {
  if (!by) return html`<span class="wrong">! ${title} was never written</span>`;
  const found = resourceOf(by);
  if (found === null) return html`${title} <span class="quiet">null ${kindOf(by)}</span> ${call(by.number)}`;
  const text = found?.text ?? inLine(by.arguments["pDesc"] ?? by.arguments, 120);
  const destroyed = found ? known.destroyed(found.object) : undefined;
  const picture = found ? known.picture(found.object) : undefined;
  const isBuffer = /ConstantBuffer/.test(by.method) || /_BUFFER/.test(String((by.arguments["pDesc"] as Value | null | undefined)?.["ViewDimension"] ?? ""));
  return html`${picture ? html`<cairn-thumbnail class="bound" .picture=${picture}></cairn-thumbnail>` : nothing}<span class=${destroyed === undefined ? "" : "wrong"}>${destroyed === undefined ? "" : "! "}${title} ${icon(isBuffer ? "buffer" : "texture")} ${
    found ? html`<a href=${linkTo({ view: "calls", object: String(found.object) })}>${visible(text, 160)}</a>` : visible(text, 160)}${destroyed === undefined ? "" : `, destroyed before this call, by record ${grouped(destroyed)}`}</span> <span class="quiet">${kindOf(by)}</span> ${detail} ${call(by.number)}`;
}
const kindOf = (by: Written) => visible(by.method.replace(/^.*::Create/, ""), 60);
const isWrong = (known: Bound, by: Written | null) => !by || known.destroyed(resourceOf(by)?.object ?? -1) !== undefined;

function resources(arguments_: Argument[], known: Bound) {
  const wrong = arguments_.some(({ descriptors }) => descriptors?.some(({ written_by: by }) => isWrong(known, by)));
  return card("root arguments", arguments_.flatMap((each) => [
    html`${each.index}: ${each.kind} ${each.values ? inLine(each.values, 80) : each.value ? inLine(each.value, 120) : ""} ${call(each.set_by)}${each.descriptors?.length === 0 ? html` <span class="wrong">! its first descriptor was never written</span>` : nothing}`,
    ...(each.descriptors ?? []).map(({ index, written_by: by }) => resource(`[${index}]`, by, known))]), wrong);
}
function rasteriser(state: BoundState, description: Value) {
  const raster = description["RasterizerState"] as Value | undefined, viewports = setting(state, "viewports"), scissors = setting(state, "scissor_rects");
  return card("rasteriser", [
    ...(raster ? [html`${short(raster["FillMode"])}, cull ${short(raster["CullMode"])}`] : []),
    ...list(viewports?.arguments["pViewports"]).slice(0, 4).map((each) => html`viewport ${each["Width"]} × ${each["Height"]} <span class="quiet">at ${each["TopLeftX"]}, ${each["TopLeftY"]}</span> ${call(viewports!.set_by)}`),
    ...list(scissors?.arguments["pRects"]).slice(0, 4).map((each) => html`scissor ${each["left"]}, ${each["top"]} to ${each["right"]}, ${each["bottom"]} ${call(scissors!.set_by)}`),
  ]);
}
function output(state: BoundState, description: Value, known: Bound) {
  const targets = setting(state, "render_targets"), depth = description["DepthStencilState"] as Value | undefined;
  const blend = list((description["BlendState"] as Value | undefined)?.["RenderTarget"]);
  const formats = Array.isArray(description["RTVFormats"]) ? (description["RTVFormats"] as unknown[]) : [];
  const bound = state.targets ?? [];
  return card("output", [
    ...bound.map(({ kind, written_by: by }, index) => (kind === "depth stencil" ? resource("depth:", by, known)
      : resource(`target ${index}:`, by, known, html`<span class="quiet">${short(formats[index] ?? "")}${blend[index]?.["BlendEnable"] ? ", blended" : ""}</span>`))),
    ...(targets && !bound.length ? [html`no targets ${call(targets.set_by)}`] : []),
    ...(depth ? [html`<span class="quiet">depth test ${depth["DepthEnable"] ? short(depth["DepthFunc"]) : "off"}, stencil ${depth["StencilEnable"] ? "on" : "off"}</span>`] : []),
  ], bound.some(({ written_by: by }) => isWrong(known, by)));
}

// The commands, instances or shader records that buffers hold for the call.
function parts({ parts: found }: BoundState) {
  if (!found) return nothing;
  return card("from buffers", [
    html`${found.count_is_limit ? "up to " : ""}${count(found.count, found.kind)}${found.executed_by === undefined ? ", never executed" : html`, executed by ${call(found.executed_by)}`}`,
    ...(found.of ? [html`<span class="quiet">${visible(found.of, 400)}</span>`] : []),
    ...list(found.listed).slice(0, 64).map((each) => html`${visible(String(each["text"]), 300)}${each["unknown"] ? html` <span class="quiet">unknown, ${visible(String(each["unknown"]), 200)}</span>` : nothing}`),
  ]);
}

export function bound(state: BoundState, known: Bound): TemplateResult {
  const { pipeline } = state;
  const description = (pipeline?.created_by?.arguments["pDesc"] ?? {}) as Value;
  const shaders = Object.keys(stages).flatMap((stage) => {
    const code = (description[stage] as Value | undefined)?.["pShaderBytecode"] as Value | null | undefined;
    return code ? [card(`${stages[stage]} shader`, [html`<code>${visible(String(code["xxh64"] ?? ""), 40)}</code>`, html`<span class="quiet">${typeof code["bytes"] === "number" ? bytes(code["bytes"]) : count(0, "byte")}</span>`])] : [];
  });
  const computes = description["CS"] !== undefined || /::Dispatch/.test(state.call?.method ?? "");
  const head = pipeline ? html`<h2>${icon("pipeline")} <span class="isolate">${visible(pipeline.text ?? `object ${pipeline.object}`, 200)}</span> <span class="quiet small">set by ${call(pipeline.set_by)}${pipeline.created_by ? html`, created by ${call(pipeline.created_by.number)}` : nothing}</span></h2>`
    : state["state_object"] || state["program"] || /::BuildRaytracing/.test(state.call?.method ?? "") ? nothing : html`<h2 class="wrong">! No pipeline is set</h2>`;
  return html`<section class="card" aria-label="Pipeline">${head}<ol class="flow">${parts(state)}${computes ? nothing : input(state, description)}${resources((computes ? state.compute : state.graphics)?.root_arguments ?? [], known)}${shaders}${
    computes ? nothing : html`${rasteriser(state, description)}${output(state, description, known)}`}</ol></section>`;
}

export const flowStyle = css`
  .flow { display: flex; flex-wrap: wrap; gap: var(--s2) var(--s6); margin: 0; padding: 0; list-style: none; }
  .flow > li { position: relative; flex: 1 1 8.5rem; max-width: 30rem; min-width: 0; margin: 0; background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2) var(--s3); overflow-wrap: anywhere; }
  .flow > li + li::before { content: "→"; position: absolute; left: -1.25rem; top: var(--s2); color: var(--quiet); }
  .flow .bad { border-color: var(--busy); }
  .flow .bound { float: right; width: 4.5rem; height: 3rem; margin: 0 0 var(--s1) var(--s2); }
  .flow > li > div { clear: both; }
  .stage { font-size: var(--small); color: var(--quiet); }
`;
