// SPDX-License-Identifier: Apache-2.0
//
// Below the timeline, in words: what queues and the CPU wait for, fences, markers of queues, the last calls of threads.
import { LitElement, css, html, nothing } from "lit";
import { rows } from "./evidence.js";
import type { Report, ReportData, Wait } from "./report.js";
import { linkTo } from "./selection.js";
import { shared } from "./style.js";
import { count, grouped, quoted, visible } from "./words.js";

const mostThreads = 64;
const shownCalls = 12;
type Thread = ReportData["threads"][number];
type Call = Thread["calls"][number];
type QueueMarker = ReportData["queue_markers"][number];

// Returns the calls of a thread, the newest first; repeated calls appear once.
function folded(calls: Call[]): { call: Call; times: number }[] {
  const found: { call: Call; times: number }[] = [];
  for (const call of [...calls].reverse()) {
    const last = found.at(-1);
    if (last?.call.returned && call.returned && last.call.function === call.function && last.call.object === call.object) ++last.times;
    else found.push({ call, times: 1 });
  }
  return found;
}

export class Queues extends LitElement {
  static override properties = { report: { attribute: false } };
  declare report: Report;
  static override styles = [shared, css`
    :host { margin-top: var(--s6); }
    .waits, .waits ul { list-style: none; }
    .waits { padding: 0; }
    .thread { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: var(--s2); margin: var(--s1) 0; }
    .thread > b { font-weight: 400; overflow-wrap: anywhere; }
    .calls { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 3px; }
    .calls > span { border: 1px solid var(--line); border-radius: var(--round); padding: 0 var(--s2); font-family: var(--mono); font-size: var(--small); overflow-wrap: anywhere; }
    .calls .open { border: 2px solid var(--busy); color: var(--busy); }
    summary { cursor: pointer; margin: var(--s1) 0; }
    .markers { font-family: var(--mono); font-size: 0.93em; white-space: pre-wrap; }
  `];

  private signaller(wait: Wait) {
    const { syncs } = this.report.data;
    const signal = wait.signal === null ? undefined : syncs[wait.signal];
    if (!signal) return "something that is not known";
    if (signal.queue === null) return signal.acquire ? "the presentation engine" : "the CPU";
    return html`<a href=${linkTo({ view: "timeline", queue: String(signal.queue), submission: String(signal.submission) })}>submission ${signal.submission} of ${this.report.queue(signal.queue)}</a>`;
  }
  private wait(wait: Wait) {
    const sync = this.report.data.syncs[wait.sync]!;
    const alarm = wait.state !== "satisfied" && wait.state !== "will be signalled";
    const what = sync.object === null ? this.report.sync(sync) : html`<a class="isolate" href=${linkTo({ view: "timeline", object: String(sync.object) })}>${this.report.sync(sync)}</a>`;
    const why = {
      satisfied: html`which has come`, "will be signalled": html`which comes from ${this.signaller(wait)}`,
      blocked: html`which would come from ${this.signaller(wait)}, which is held back`, deadlock: html`which would come from ${this.signaller(wait)}: a deadlock`,
      "never signalled": html`which nothing submitted so far signals`,
    }[wait.state] ?? html`whose signal is not known: records that old are not kept`;
    return html`<li class=${wait.state === "deadlock" || wait.state === "never signalled" ? "wrong" : ""}>${alarm ? "! " : "– "}${
      wait.held_submission ? `submission ${wait.held_submission}: ` : sync.present ? "a present: " : ""}${what}, ${why}</li>`;
  }
  private waits() {
    const { waits, syncs } = this.report.data;
    if (!syncs.length) return nothing;
    const satisfied = waits.waits.filter(({ state }) => state === "satisfied").length;
    return html`<h2>Waits</h2>
      ${waits.cycle_words.map((words) => html`<p class="wrong">! ${visible(words, 4000)}</p>`)}
      ${waits.cycles_left_out ? html`<p class="wrong">! More deadlocks, too many or too long to list: ${waits.cycles_left_out}.</p>` : nothing}
      <ul class="waits">${waits.queues.map((queue) => html`<li>${queue.queue === null ? "the CPU waits" : html`${this.report.queue(queue.queue)}: ${
        queue.first_unfinished ? `submission ${queue.first_unfinished} of ${queue.submitted} ${queue.begun ? "has begun" : queue.held ? "is held back" : "may run"}`
          : queue.held ? "all work has completed, and it waits" : "all work has completed"}`}
        ${rows(waits.waits.slice(queue.first_wait, queue.first_wait + queue.wait_count), (wait) => this.wait(wait))}</li>`)}</ul>
      <p class="quiet">${satisfied === waits.waits.length ? "Nothing waits for a signal that has not come. " : ""}${count(waits.waits.length, "wait")}, ${grouped(satisfied)} satisfied</p>`;
  }
  private fences() {
    const fences = this.report.data.objects.flatMap(({ completed, signalled, waited, state }, index) => (completed === undefined || state === "free" || this.report.data.objects[index]!.kind !== "fence" ? []
      : [{ index, state, completed: BigInt(completed), signalled: BigInt(signalled ?? 0), waited: BigInt(waited ?? 0) }]));
    if (!fences.length) return nothing;
    const unfinished = (fence: (typeof fences)[number]) => fence.completed < fence.signalled || fence.completed < fence.waited;
    return html`<h2>Fences</h2>${rows([...fences.filter(unfinished), ...fences.filter((fence) => !unfinished(fence))], (fence) => html`<li>
      <a class="isolate" href=${linkTo({ view: "memory", object: String(fence.index) })}>${this.report.object(fence.index)}</a>: completed ${fence.completed}, signalled ${fence.signalled}, waited for ${fence.waited}${
        fence.waited > fence.signalled && fence.waited > fence.completed ? html`<span class="wrong">; ! no signal of that value was seen</span>` : unfinished(fence) ? html`<span class="wrong">; ! not seen to have come</span>` : nothing}${
        fence.state === "destroyed" ? ", destroyed" : ""}</li>`)}`;
  }
  private markersOfQueue(markers: QueueMarker[]) {
    const { annotations } = this.report.data;
    const open: number[] = [];
    const lines: { depth: number; index: number }[] = [];
    markers.forEach((marker, index) => {
      if (marker.kind === "end") return void open.pop();
      lines.push({ depth: open.length, index });
      if (marker.kind === "begin") open.push(index);
    });
    const first = markers[0]!;
    return html`<li>${first.queue === null ? this.report.handle(first.native_handle) : this.report.queue(first.queue)}<div class="markers">${lines.slice(-64).map(({ depth, index }) => {
      const marker = markers[index]!, annotation = marker.annotation === null ? undefined : annotations[marker.annotation];
      return html`<div>${"  ".repeat(Math.min(depth, 32))}${marker.kind === "marker" ? "marker" : "event"} ${quoted(annotation?.name ?? "")}${
        annotation && Number(annotation.event_id) ? `, EventID ${annotation.event_id}` : ""}, before submission ${marker.submissions_before + 1}${open.includes(index) ? html`<span class="in-flight">, open</span>` : nothing}</div>`;
    })}</div></li>`;
  }
  private queueMarkers() {
    const { queue_markers: markers } = this.report.data;
    if (!markers.length) return nothing;
    const queues = new Map<string, QueueMarker[]>();
    for (const marker of markers) {
      const others = queues.get(marker.native_handle);
      if (others) others.push(marker);
      else queues.set(marker.native_handle, [marker]);
    }
    return html`<h2>Markers of queues</h2><ul>${[...queues.values()].map((of) => this.markersOfQueue(of))}</ul>`;
  }
  private thread(thread: Thread) {
    const ended = this.report.data.incidents.some(({ kind }) => kind === "signal" || kind === "exited");
    const made = thread.calls.at(-1)?.number ?? 0;
    const calls = folded(thread.calls);
    const draw = ({ call, times }: (typeof calls)[number]) => html`<span class=${call.returned ? "" : "open"}>${call.returned ? "" : "! "}${visible(call.function || "unknown function", 200)}${
        call.arguments.length && times === 1 ? `(${call.arguments.map(({ name, value }) => `${visible(name, 100)} = ${visible(value, 100)}`).join(", ")})` : ""}${
        Number(call.object) ? html` <span class="quiet">of <span class="isolate">${this.report.handle(call.object)}</span></span>` : nothing}${times > 1 ? html` <b>×${times}</b>` : nothing}${call.returned ? "" : ended ? ": never returned" : ": has not returned"}</span>`;
    return html`<div class="thread"><b>thread ${thread.id}${thread.name ? ` ${quoted(thread.name)}` : ""}${thread.ended ? ", ended" : ""}${thread.crashed ? ", crashed" : ""}<br><span class="quiet">${made ? count(made, "call") : "no calls"}</span></b>
      <div class="calls">${calls.slice(0, shownCalls).map(draw)}${calls.length > shownCalls ? html`<details><summary>${calls.length - shownCalls} before them</summary><div class="calls">${calls.slice(shownCalls).map(draw)}</div></details>` : nothing}</div></div>`;
  }
  private threads() {
    const { threads } = this.report.data;
    if (!threads.length) return nothing;
    const urgent = ({ crashed, calls }: Thread) => (crashed ? 2 : 0) + (calls.some((call) => !call.returned) ? 1 : 0);
    const order = [...threads].sort((a, b) => urgent(b) - urgent(a));
    return html`<h2>Last calls, the newest first</h2><p class="quiet">Calls have an order and no times; one that has not returned has a !</p>
      ${order.slice(0, mostThreads).map((thread) => this.thread(thread))}${order.length > mostThreads ? html`<p class="quiet">${order.length - mostThreads} more in Facts</p>` : nothing}`;
  }
  override render() {
    return html`${this.waits()}${this.fences()}${this.queueMarkers()}${this.threads()}`;
  }
}
customElements.define("cairn-queues", Queues);
