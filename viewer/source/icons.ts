// SPDX-License-Identifier: Apache-2.0
//
// Icons for kinds of objects: drawn by strokes in the colour of the text, on 16 by 16. Words stand beside each; to those who
// hear the page an icon is nothing.
import { css, svg, type TemplateResult } from "lit";

const shapes = {
  queue: svg`<path d="M2 4h8M2 8h8M2 12h8M12 5l2.5 3-2.5 3"/>`,
  list: svg`<path d="M3.5 2h9v12h-9zM6 5.5h4M6 8h4M6 10.5h2.5"/>`,
  pipeline: svg`<circle cx="3.5" cy="8" r="1.75"/><circle cx="12.5" cy="8" r="1.75"/><path d="M5.25 8h5.5M8.5 5.75 10.75 8 8.5 10.25"/>`,
  buffer: svg`<path d="M1.75 5h12.5v6H1.75zM5 5v6M8 5v6M11 5v6"/>`,
  texture: svg`<path d="M2 2.5h12v11H2zM2 11l3.5-4 3 3 2-2 3.5 3.5"/><circle cx="10.5" cy="5.5" r="1"/>`,
  heap: svg`<path d="M2 10.5h12v3H2zM2 6.5h12v3H2zM2 2.5h12v3H2z"/>`,
  fence: svg`<path d="M4 2v12M4 3h8l-2 2.5L12 8H4"/>`,
  frame: svg`<path d="M2 3.5h12v9H2zM2 6h12M5 3.5V6M8 3.5V6M11 3.5V6"/>`,
  pass: svg`<path d="M2 4.5h4.5l1.5 2h6v6.5H2z"/>`,
  work: svg`<path d="M4.5 3 12.5 8l-8 5z"/>`,
} as const;
export type Kind = keyof typeof shapes;

export const icon = (kind: Kind): TemplateResult<2 | 1> => svg`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.25" stroke-linejoin="round" stroke-linecap="round">${shapes[kind]}</svg>`;

// Of words for objects: those of reports ("texture", "command queue") and names of interfaces ("ID3D12Fence #7").
const kinds: [RegExp, Kind][] = [
  [/queue/i, "queue"], [/command ?(list|buffer|allocator|pool)/i, "list"], [/pipeline|root ?signature|shader|state ?object/i, "pipeline"], [/heap|memory|descriptor/i, "heap"],
  [/buffer|acceleration/i, "buffer"], [/texture|image|swap ?chain/i, "texture"], [/fence|semaphore|event/i, "fence"],
];
export const iconOf = (words: string): TemplateResult<2 | 1> | "" => {
  const found = kinds.find(([pattern]) => pattern.test(words));
  return found ? icon(found[1]) : "";
};

export const iconStyle = css`
  .icon { width: 1em; height: 1em; vertical-align: -0.125em; color: var(--quiet); flex: none; }
`;
