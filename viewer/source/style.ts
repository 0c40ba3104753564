// SPDX-License-Identifier: Apache-2.0
//
// What all parts of the page look like; the colours are those of page.css.
import { css } from "lit";

export const shared = css`
  :host { display: block; box-sizing: border-box; }
  *, *::before, *::after { box-sizing: inherit; }
  h2 { font-size: 1rem; margin: 1.2rem 0 0.4rem; overflow-wrap: anywhere; }
  h2:first-child { margin-top: 0; }
  p { margin: 0.3rem 0; max-width: 110ch; }
  a { color: var(--link); text-underline-offset: 2px; }
  button, input, select { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line);
    border-radius: 4px; padding: 0.2rem 0.6rem; }
  button { cursor: pointer; }
  button:hover { background: var(--raised); }
  :focus-visible { outline: 2px solid var(--link); outline-offset: 1px; }
  code, pre, .mono { font-family: var(--mono); font-size: 0.93em; }
  pre { background: var(--raised); border: 1px solid var(--line); border-radius: 4px; padding: 0.4rem 0.6rem; margin: 0.3rem 0;
    overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 130ch; }
  ul, ol { margin: 0.3rem 0; padding-left: 1.6rem; }
  li { margin: 0.2rem 0; overflow-wrap: anywhere; }
  .quiet { color: var(--quiet); }
  .mark { font-family: var(--mono); white-space: pre; }
  .completed { color: var(--done); }
  .in-flight { color: var(--busy); font-weight: 600; }
  .not-started, .unknown { color: var(--waiting); }
  .wrong { color: var(--busy); }
  .isolate { unicode-bidi: isolate; }
  table { border-collapse: collapse; }
  th, td { text-align: left; padding: 0.15rem 0.8rem 0.15rem 0; vertical-align: top; }
  th { font-weight: 600; }
`;
