// SPDX-License-Identifier: Apache-2.0
//
// The look of all parts of the page; the tokens are those of page.css.
import { css } from "lit";
import { iconStyle } from "./icons.js";

export const shared = css`
  ${iconStyle}
  :host { display: block; box-sizing: border-box; }
  *, *::before, *::after { box-sizing: inherit; }
  h1, h2, h3 { font-size: var(--large); line-height: 1.25; margin: var(--s6) 0 var(--s2); overflow-wrap: anywhere; font-weight: 600; }
  h3 { font-size: var(--body); margin-top: var(--s4); }
  h1:first-child, h2:first-child, h3:first-child { margin-top: 0; }
  p { margin: var(--s1) 0; max-width: 80ch; overflow-wrap: anywhere; }
  a { color: var(--link); text-underline-offset: 2px; text-decoration-thickness: 1px; text-decoration-color: color-mix(in srgb, currentColor 45%, transparent); }
  a:hover { text-decoration-color: currentColor; }
  button, input, select { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--edge);
    border-radius: var(--round); padding: var(--s1) var(--s3); transition: background var(--soft); }
  button { cursor: pointer; }
  button:hover { background: var(--over); }
  button:disabled { cursor: default; color: var(--quiet); background: var(--raised); }
  button.plain { border-color: transparent; background: none; padding: var(--s1) var(--s2); }
  button.plain:hover { background: var(--over); }
  :focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
  code, pre, .mono { font-family: var(--mono); font-size: 0.93em; }
  pre { background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s2) var(--s3); margin: var(--s1) 0;
    overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 130ch; }
  ul, ol { margin: var(--s1) 0; padding-left: var(--s6); }
  li { margin: var(--s1) 0; overflow-wrap: anywhere; }
  summary { cursor: pointer; }
  .quiet { color: var(--quiet); }
  .small { font-size: var(--small); }
  .mark { font-family: var(--mono); white-space: pre; }
  .completed { color: var(--done); }
  .in-flight { color: var(--busy); font-weight: 600; }
  .not-started, .unknown { color: var(--waiting); }
  .wrong { color: var(--busy); }
  .isolate { unicode-bidi: isolate; }
  table { border-collapse: collapse; }
  th, td { text-align: left; padding: var(--s1) var(--s4) var(--s1) 0; vertical-align: top; }
  th { font-weight: 600; }
  th.number, td.number, .number { text-align: right; font-variant-numeric: tabular-nums; }
  /* What belongs together, on the second surface. */
  .card { background: var(--raised); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s3) var(--s4); min-width: 0; }
  .card > h2:first-child { margin-top: 0; }
  .empty { max-width: 44rem; margin: var(--s8) auto; }
  .empty cairn-command { margin-top: var(--s3); }
  .badge { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 var(--s2); font-size: var(--small); line-height: 1.25rem; font-weight: 600; white-space: nowrap; }
  .badge.proven { background: var(--busy); border-color: var(--busy); color: var(--ground); }
  .badge.likely { color: var(--busy); border-width: 2px; }
  .badge.guess { color: var(--warn); border-style: dashed; }
  .badge.fine { color: var(--quiet); }
  kbd { display: inline-block; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; padding: 0 var(--s1); font-size: var(--small); line-height: 1.25rem; min-width: 1.25rem; text-align: center; background: var(--ground); font-family: inherit; }
  @media (forced-colors: active) { .chosen { outline: 2px solid Highlight; outline-offset: -2px; } }
  @media print { button, input, select { display: none; } .card { break-inside: avoid; } }
`;
