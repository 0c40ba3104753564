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
  if (typeof bytes === "number") return `<${count(bytes, "byte")}>`;
  let line = "";
  for (const [key, each] of Object.entries(value)) {
    if (line.length > room) break;
    line += `${line ? ", " : ""}${Array.isArray(value) ? "" : key + " = "}${write(each, room - line.length)}`;
  }
  return Array.isArray(value) ? `[${line}]` : `{${line}}`;
}

function leaf(value: unknown): TemplateResult | undefined {
  if (value === null || typeof value !== "object") return html`<span class="isolate">${typeof value === "number" ? value : visible(String(value), 20_000)}</span>`;
  const { object, text, hex } = value as { object?: unknown; text?: unknown; hex?: unknown };
  if (typeof object === "number" && typeof text === "string") return html`<a class="isolate" href=${linkTo({ view: "calls", object: String(object) })} title="calls of this object, or with it">${visible(text)}</a>`;
  if (typeof hex === "string") return hexDump(hex);
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
  const single = leaf(value);
  if (single) return html`<div class="entry"><span class="key">${visible(key)}</span> ${single}</div>`;
  return html`<details class="entry" ?open=${JSON.stringify(value).length < 400}><summary><span class="key">${visible(key)}</span> <span class="quiet isolate">${inLine(value, 100)}</span></summary>${tree(value)}</details>`;
}
export function tree(value: unknown): TemplateResult {
  const single = leaf(value);
  if (single) return single;
  return html`<div class="tree">${Array.isArray(value) ? elements(value) : Object.entries(value as object).map(([key, each]) => entry(key, each))}</div>`;
}
export const treeStyle = css`
  .tree { padding-left: 1.1rem; border-left: 1px solid var(--line); }
  .entry { overflow-wrap: anywhere; }
  .key { color: var(--quiet); font-family: var(--mono); font-size: 0.93em; }
  summary { cursor: pointer; }
  .hex { white-space: pre; max-height: 20rem; overflow: auto; }
`;
