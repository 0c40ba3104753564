// SPDX-License-Identifier: Apache-2.0
//
// A value of the JSON as a tree that unfolds. Equal elements that follow each other stand there once.
import { css, html, type TemplateResult } from "lit";
import { linkTo } from "./selection.js";
import { count, grouped, visible } from "./words.js";

const mostElements = 1000;

// In one line, for a row or a summary.
export function inLine(value: unknown, most = 160): string {
  const text = write(value, most);
  return text.length > most ? text.slice(0, most - 1) + "…" : text;
}
function write(value: unknown, room: number): string {
  if (typeof value === "string") return visible(value, room);
  if (value === null || typeof value !== "object") return String(value);
  const { text, bytes } = value as { text?: unknown; bytes?: unknown };
  if (typeof text === "string") return visible(text, room);
  const { address, descriptor } = value as { address?: unknown; descriptor?: unknown };
  if (typeof address === "string" || typeof descriptor === "string") return visible(String(address ?? descriptor), room);
  if (typeof bytes === "number") return `<${count(bytes, "byte")}>`;
  let line = "";
  for (const [key, each] of Object.entries(value)) {
    if (line.length > room) break;
    line += `${line ? ", " : ""}${Array.isArray(value) ? "" : key + " = "}${write(each, room - line.length)}`;
  }
  return Array.isArray(value) ? `[${line}]` : `{${line}}`;
}

// Numbers of calls lead there.
const ofCalls = ["set_by", "written_by", "recorded_since"];

// An object, a call or a descriptor, by how it is named; the rest of it stands below.
function named(value: object): { head: TemplateResult; rest: object } | undefined {
  const { object, text, number, method, ...rest } = value as Record<string, unknown>;
  if (typeof object === "number" && typeof text === "string") {
    return { head: html`<a class="isolate" href=${linkTo({ view: "calls", object: String(object) })} title="calls of this object, or with it">${visible(text)}</a>`,
      rest: { ...(number === undefined ? {} : { number }), ...(method === undefined ? {} : { method }), ...rest } };
  }
  if (typeof number === "number" && typeof method === "string") {
    return { head: html`<a href=${linkTo({ view: "calls", call: String(number) })}>${grouped(number)}</a> ${visible(method)}`, rest: { ...(object === undefined ? {} : { object }), ...rest } };
  }
  // An address or a descriptor, and what it is one of.
  const [at, ...others] = Object.values(rest);
  if (typeof text === "string" && typeof at === "string" && !others.length) return { head: html`<span class="isolate">${visible(text)}</span> <span class="key">${visible(at)}</span>`, rest: {} };
  return undefined;
}
function leaf(value: unknown, key = ""): TemplateResult | undefined {
  if (typeof value === "number" && value && ofCalls.includes(key)) return html`<a href=${linkTo({ view: "calls", call: String(value) })}>call ${grouped(value)}</a>`;
  if (value === null || typeof value !== "object") return html`<span class="isolate">${typeof value === "number" ? value : visible(String(value), 20_000)}</span>`;
  const { hex } = value as { hex?: unknown };
  if (typeof hex === "string") return hexDump(hex);
  const called = named(value);
  if (called && !Object.keys(called.rest).length) return called.head;
  return Object.keys(value).length ? undefined : html`${Array.isArray(value) ? "[]" : "{}"}`;
}

// 16 bytes a line, as text beside.
export function hexDump(hex: string): TemplateResult {
  const lines: string[] = [];
  for (let at = 0; at < hex.length && at < 32 * 4096; at += 32) {
    const row = hex.slice(at, at + 32).match(/../g) ?? [];
    const letters = row.map((byte) => { const code = parseInt(byte, 16); return code >= 32 && code < 127 ? String.fromCharCode(code) : "."; });
    lines.push(`${(at / 2).toString(16).padStart(6, "0")}  ${row.join(" ").padEnd(47)}  ${letters.join("")}`);
  }
  return html`<pre class="hex">${lines.join("\n")}${hex.length > 32 * 4096 ? `\n… ${grouped(hex.length / 2)} bytes` : ""}</pre>`;
}

function elements(value: unknown[]): TemplateResult[] {
  const drawn: TemplateResult[] = [];
  for (let at = 0; at < value.length && drawn.length < mostElements; ) {
    const same = JSON.stringify(value[at]);
    let end = at + 1;
    while (end < value.length && JSON.stringify(value[end]) === same) ++end;
    drawn.push(entry(end - at > 1 ? `${at} to ${end - 1}, ${grouped(end - at)} times` : String(at), value[at]));
    at = end;
  }
  return drawn;
}
function entry(key: string, value: unknown): TemplateResult {
  const single = leaf(value, key);
  if (single) return html`<div class="entry"><span class="key">${visible(key)}</span> ${single}</div>`;
  const name = html`<span class="key">${visible(key)}</span>`;
  const called = named(value as object);
  // A summary must hold no link: a click would press both.
  if (called) return html`<div class="entry">${name} ${called.head}${isShort(called.rest) ? tree(called.rest) : html`<details><summary class="key">${Object.keys(called.rest).join(", ")}</summary>${tree(called.rest)}</details>`}</div>`;
  return html`<details class="entry" ?open=${isShort(value)}><summary>${name} <span class="brief isolate">${inLine(value, 100)}</span></summary>${tree(value)}</details>`;
}
const isShort = (value: unknown) => JSON.stringify(value).length < 400;
export function tree(value: unknown): TemplateResult {
  const single = leaf(value);
  if (single) return single;
  return html`<div class="tree">${Array.isArray(value) ? elements(value) : Object.entries(value as object).map(([key, each]) => entry(key, each))}</div>`;
}
export const treeStyle = css`
  .tree { padding-left: 1.1rem; border-left: 1px solid var(--line); }
  .tree, .entry { font-family: var(--mono); }
  .tree { font-size: 0.8125rem; }
  .entry { overflow-wrap: anywhere; }
  .key, .brief { color: var(--quiet); }
  summary { cursor: pointer; }
  details[open] > summary > .brief { display: none; }
  .hex { white-space: pre; max-height: 20rem; overflow: auto; }
`;
