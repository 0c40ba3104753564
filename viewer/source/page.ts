// SPDX-License-Identifier: Apache-2.0
//
// The page: reads its data, shows one view of it, and what is chosen beside it.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import "./bisect.js";
import "./calls.js";
import "./compare.js";
import { empty } from "./empty.js";
import { isAnyChosen } from "./facts.js";
import "./help.js";
import type { Help } from "./help.js";
import "./memory.js";
import { Report, type ReportData } from "./report.js";
import "./search.js";
import type { Search } from "./search.js";
import { FollowsSelection, linkTo, selection, views, type View } from "./selection.js";
import { isServed, stayOpen } from "./server.js";
import "./state.js";
import { shared } from "./style.js";
import "./timeline.js";
import "./tour.js";
import type { Tour } from "./tour.js";
import "./tree.js";
import "./verdict.js";
import "./why.js";
import { readWhy, type Why } from "./why_answer.js";
import { readData, turnScheme } from "./frame.js";
import { visible } from "./words.js";

// docs/reference/viewer.md describes it.
interface PageData { file: string; trace: boolean; other: string; markdown: string; why: string; report: ReportData | null; }

const titles: Record<View, string> = {
  verdict: "Verdict", why: "Why", timeline: "Timeline", tree: "Tree", calls: "Calls", state: "State", memory: "Memory", compare: "Compare", bisect: "Bisect", facts: "Facts",
};
// The views that need the file, or a device, behind the page.
const ofTrace: View[] = ["calls", "state", "compare", "bisect"];

class Page extends LitElement {
  static override properties = { data: { state: true }, failure: { state: true }, query: { state: true }, gone: { state: true } };
  declare data: PageData | undefined;
  declare failure: string;
  declare query: string;
  declare gone: boolean;  // the server has ended
  private report: Report | undefined;
  private why: Why | undefined;
  private whyNot = "";   // the answer of cairn why cannot be read
  private views: View[] = [];

  static override styles = [shared, css`
    :host { display: grid; grid-template: auto minmax(0, 1fr) / minmax(0, 1fr) auto; height: 100%; }
    header { grid-column: 1 / -1; display: flex; gap: var(--s1) var(--s4); align-items: center; padding: var(--s1) var(--s4); border-bottom: 1px solid var(--line); background: var(--raised); flex-wrap: wrap; }
    .file { font-weight: 600; max-width: 26ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .views { display: flex; overflow-x: auto; }
    .views a { padding: var(--s2) var(--s3); border-radius: var(--round) var(--round) 0 0; text-decoration: none; color: var(--quiet); white-space: nowrap; transition: color var(--soft), background var(--soft); }
    .views a:hover { color: var(--text); background: var(--over); }
    .views a[aria-current] { color: var(--text); box-shadow: inset 0 -2px var(--link); font-weight: 600; }
    cairn-search { flex: 1 1 10rem; max-width: 24rem; margin-left: auto; }
    main { overflow: auto; padding: var(--s4); min-width: 0; }
    aside { width: clamp(22rem, 22vw, 27rem); border-left: 1px solid var(--line); min-height: 0; overflow: hidden; background: var(--raised); }
    /* A narrow window has what is chosen below; one that is small as well, or enlarged, scrolls as a whole. */
    @media (max-width: 1000px) {
      :host { grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr); }
      aside { width: auto; max-height: 34vh; overflow: auto; border-left: 0; border-top: 1px solid var(--line); }
      aside.verdict { display: none; }  /* the verdict itself tells of the suspect that is chosen there */
    }
    @media (max-width: 640px), (max-height: 420px) {
      :host { display: block; height: auto; }
      main { overflow: visible; padding: var(--s2); }
      main > :not(cairn-verdict, cairn-why, p) { height: max(80vh, 24rem); }
    }
    @media print {
      :host { display: block; height: auto; }
      header > :not(.file), aside { display: none; }
      main { overflow: visible; padding: 0; }
    }
  `];

  constructor() {
    super();
    this.failure = "";
    this.query = "";
    this.gone = false;
    new FollowsSelection(this);
  }
  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("keydown", (event) => this.key(event));
    readData<PageData>().then((data) => {
      this.report = data.report ? new Report(data.report, data.markdown) : undefined;
      this.readWhy(data.why);
      this.views = views.filter((view) => (view === "why" ? data.why : ofTrace.includes(view) ? data.trace && isServed : data.report));
      this.data = data;
      document.title = `${visible(data.file, 80)}${data.report ? `: ${data.report.verdict.kind}` : data.why ? ": why" : ""}`;
      if (new URLSearchParams(location.hash.slice(1)).has("tour")) void this.updateComplete.then(() => this.tour?.begin());
      if (isServed) void stayOpen().catch(() => (this.gone = true)).then(() => (this.gone = true));
    }).catch((error: Error) => (this.failure = error.message));
  }
  private readWhy(text: string): void {
    if (!text) return;
    try {
      this.why = readWhy(text);
    } catch (error) {
      this.whyNot = (error as Error).message;
    }
  }
  // A link to a call alone leads to what is known of it.
  private get view(): View {
    const call = selection.number("call");
    if (selection.view && this.views.includes(selection.view)) return selection.view;
    if (call === undefined) return this.views[0] ?? "verdict";
    return this.views.includes("calls") ? "calls" : "tree";
  }
  // The call that recorded the culprit of the verdict.
  private get culprit(): number | undefined {
    const scope = this.report?.data.verdict.suspects[0]?.scope;
    return scope == null ? undefined : this.report!.data.scopes[scope]?.call;
  }
  protected override willUpdate(): void {
    const call = selection.number("call");
    if (!this.report || call === undefined || selection.place.scope !== undefined) return;
    const scope = this.report.scopeAt(call);
    if (scope !== undefined) selection.choose({ view: this.view, call: String(call), scope: String(scope) });
  }
  private key(event: KeyboardEvent): void {
    const inField = event.composedPath().some((each) => each instanceof HTMLInputElement || each instanceof HTMLSelectElement);
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape" && inField) (event.composedPath()[0] as HTMLElement).blur();
    if (inField) return;
    const view = this.views[Number(event.key) - 1];
    if (view) selection.choose({ view });
    else if (event.key === "/") this.renderRoot.querySelector<Search>("cairn-search")?.focusField();
    else if (event.key === "?") this.showHelp();
    else return;
    event.preventDefault();
  }
  private showHelp(): void {
    this.renderRoot.querySelector<Help>("cairn-help")?.open();
  }
  private get tour(): Tour | null {
    return this.renderRoot.querySelector("cairn-tour");
  }
  private main(): TemplateResult {
    switch (this.view) {
      case "why": return this.why ? html`<cairn-why .why=${this.why}></cairn-why>` : empty("This answer is damaged", html`It cannot be read: ${visible(this.whyNot, 2000)}. Ask again:`, "cairn why --json -- PROGRAM");
      case "calls": return html`<cairn-calls></cairn-calls>`;
      case "state": return html`<cairn-state .culprit=${this.culprit} .report=${this.report}></cairn-state>`;
      case "compare": return html`<cairn-compare file=${this.data!.file} other=${this.data!.other}></cairn-compare>`;
      case "bisect": return html`<cairn-bisect></cairn-bisect>`;
    }
    const report = this.report!;
    switch (this.view) {
      case "timeline": return html`<cairn-timeline .report=${report}></cairn-timeline>`;
      case "tree": return html`<cairn-tree .report=${report} query=${this.query}></cairn-tree>`;
      case "memory": return html`<cairn-memory .report=${report} query=${this.query}></cairn-memory>`;
      case "facts": return html`<cairn-facts .report=${report} query=${this.query}></cairn-facts>`;
      default: return html`<cairn-verdict .report=${report} .why=${this.why} ?trace=${this.views.includes("calls")}></cairn-verdict>`;
    }
  }
  override render() {
    if (this.failure) return html`<main>${empty("This page is damaged", html`Its data cannot be read: ${visible(this.failure)}. Write the page again from its file:`, "cairn report FILE.cairn --html PAGE.html")}</main>`;
    if (!this.data) return html`<main>…</main>`;
    return html`<header>
        <span class="file isolate" title=${visible(this.data.file)}>${visible(this.data.file, 80)}</span>
        <nav class="views" aria-label="Views">${this.views.map((view, index) => html`<a href=${linkTo({ ...selection.place, view })} title="Key ${index + 1}" aria-current=${view === this.view ? "page" : nothing}>${titles[view]}</a>`)}</nav>
        <cairn-search .report=${this.report} ?trace=${this.views.includes("calls")} @query=${(event: CustomEvent<string>) => (this.query = event.detail)}></cairn-search>
        <button @click=${this.showHelp} aria-label="Help">?</button>
        <button @click=${turnScheme} aria-label="Dark or light">◐</button>
      </header>
      <main>${this.gone ? html`<p class="wrong" role="alert">cairn view has ended: nothing more can be asked.</p>` : nothing}${this.main()}</main>
      ${this.report && this.view !== "compare" && this.view !== "bisect" && this.view !== "why" && isAnyChosen(this.report) ? html`<aside class=${this.view} aria-label="Selection"><cairn-chosen .report=${this.report}></cairn-chosen></aside>` : nothing}
      <cairn-help .views=${this.views} .titles=${titles} @tour=${() => this.tour?.begin()}></cairn-help>
      <cairn-tour .report=${this.report} .views=${this.views}></cairn-tour>`;
  }
}
customElements.define("cairn-page", Page);
