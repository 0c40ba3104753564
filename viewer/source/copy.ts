// SPDX-License-Identifier: Apache-2.0
//
// A command with a button that copies it.
import { LitElement, css, html } from "lit";
import { shared } from "./style.js";
import { visible } from "./words.js";

// Copies a text; returns false where pages may not.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export class Command extends LitElement {
  static override properties = { command: {}, said: { state: true } };
  declare command: string;
  declare said: string;
  static override styles = [shared, css`
    :host { display: flex; align-items: flex-start; gap: var(--s2); }
    code { flex: 1; background: var(--ground); border: 1px solid var(--line); border-radius: var(--round); padding: var(--s1) var(--s2); overflow-wrap: anywhere; user-select: all; }
    button { white-space: nowrap; }
  `];
  constructor() {
    super();
    this.command = "";
    this.said = "";
  }
  private async copy(): Promise<void> {
    if (await copyText(this.command)) {
      this.said = "Copied";
      return;
    }
    // To be copied by hand.
    const range = document.createRange();
    range.selectNodeContents(this.renderRoot.querySelector("code")!);
    getSelection()?.removeAllRanges();
    getSelection()?.addRange(range);
    this.said = "Press Ctrl+C";
  }
  override render() {
    return html`<code>${visible(this.command, 4000)}</code><button @click=${this.copy} aria-label="Copy ${visible(this.command, 200)}"><span role="status">${this.said || "Copy"}</span></button>`;
  }
}
customElements.define("cairn-command", Command);
