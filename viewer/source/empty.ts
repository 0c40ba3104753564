// SPDX-License-Identifier: Apache-2.0
//
// A view that has nothing to show: why, and what to do.
import { html, nothing, type TemplateResult } from "lit";
import "./copy.js";

export const empty = (title: string, why: unknown, command = ""): TemplateResult => html`<div class="empty card"><h2>${title}</h2><p>${why}</p>
  ${command ? html`<cairn-command command=${command}></cairn-command>` : nothing}</div>`;
