// SPDX-License-Identifier: Apache-2.0
//
// A lane a queue. A column is a submission, in the order in which they were made: a file holds neither when the GPU
// began with one nor for how long it worked, so no length means time; the strip above (clock.ts) has what is known of
// it. Waits stand before a submission, signals behind it.
import { LitElement, css, html, nothing, svg, type TemplateResult } from "lit";
import "./clock.js";
import { empty } from "./empty.js";
import "./queues.js";
import type { Report, Sync, Wait } from "./report.js";
import { FollowsSelection, selection } from "./selection.js";
import { classes, completed, inFlight, marks, notStarted, unknown, type State } from "./states.js";
import { shared } from "./style.js";
import { count, seconds } from "./words.js";

interface Column {
  queue: number;           // -1: a list without a queue
  number: number;
  executions: number[];
  recycled: number;        // lists that are known no more: they had finished
  time: string | null;
  state: State;
}
interface Arrow { wait: number; from: number; to: number; fromLane: number; toLane: number; state: string; }

const laneHeight = 58;
const boxHeight = 26;
const letterWidth = 7.3;
const top = 26;
const mostArrows = 400;
const edge = 0.08;     // of a column, on either side of its box
const readable = 68;   // pixels a column, for its mark and number
const worst: State[] = [completed, unknown, notStarted, inFlight];

export class Timeline extends LitElement {
  static override properties = { report: { attribute: false }, from: { state: true }, to: { state: true }, width: { state: true } };
  declare report: Report;
  declare from: number;  // columns in sight; a fraction: a part of one
  declare to: number;
  declare width: number;
  private columns: Column[] = [];
  private lanes: number[] = [];              // queues; -1: without one; -2: the CPU
  private columnOf = new Map<string, number>();
  private arrows: Arrow[] = [];
  private readonly sizes = new ResizeObserver(() => this.measure());
  private measured = false;
  private drag: { x: number; from: number; to: number } | undefined;

  static override styles = [shared, css`
    :host { overflow: auto; height: 100%; }
    svg { display: block; border: 1px solid var(--line); border-radius: var(--round); touch-action: none; }
    svg text { fill: var(--text); font: 12px var(--mono); pointer-events: none; }
    svg .quiet { fill: var(--quiet); }
    .lane { stroke: var(--line); }
    .band { fill: var(--raised); }
    .box { stroke-width: 1.5; cursor: pointer; }
    .box.completed { fill: var(--ground); stroke: var(--done); }
    .box.in-flight { fill: var(--ground); stroke: var(--busy); stroke-width: 3; }
    .box.not-started { fill: var(--ground); stroke: var(--waiting); stroke-dasharray: 4 3; }
    .box.unknown { fill: var(--ground); stroke: var(--waiting); stroke-dasharray: 1 3; }
    .box.chosen { fill: var(--chosen); }
    .arrow { fill: none; stroke: var(--quiet); stroke-width: 1.2; }
    .arrow.wrong { stroke: var(--busy); stroke-width: 2; stroke-dasharray: 6 3; }
    .arrow.deadlock { stroke: var(--busy); stroke-width: 3; stroke-dasharray: none; }
    .head { fill: var(--quiet); } .head.wrong, .head.deadlock { fill: var(--busy); }
    svg .label { paint-order: stroke; stroke: var(--ground); stroke-width: 3; }
    svg .label.chosen { stroke: var(--chosen); }
    svg .alarm { fill: var(--busy); font-weight: 700; }
    .bar { display: flex; gap: var(--s2); align-items: center; flex-wrap: wrap; margin: var(--s3) 0 var(--s2); }
  `];

  constructor() {
    super();
    this.from = 0;
    this.to = 1;
    this.width = 900;
    new FollowsSelection(this, () => this.bringIntoSight());
  }
  override connectedCallback(): void {
    super.connectedCallback();
    this.sizes.observe(this);
  }
  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }
  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("report")) return;
    this.build();
    this.fit();
  }

  private build(): void {
    const { data } = this.report;
    this.columns = [];
    this.columnOf.clear();
    for (const submission of data.submissions) {
      const queue = submission.queue ?? -1;
      const key = `${queue}/${submission.number}`;
      let place = this.columnOf.get(key);
      if (place === undefined) {
        place = this.columns.length;
        this.columnOf.set(key, place);
        this.columns.push({ queue, number: submission.number, executions: [], recycled: 0, time: submission.time, state: completed });
      }
      const column = this.columns[place]!;
      if (submission.execution === null) {
        ++column.recycled;
        continue;
      }
      column.executions.push(submission.execution);
      const state = data.executions[submission.execution]!.state;
      if (worst.indexOf(state) > worst.indexOf(column.state)) column.state = state;
    }
    // Without a list nothing tells how far the GPU came in one; the program may have been told.
    for (const { queue, number, time } of data.empty_submissions) {
      const told = (data.queues[queue]?.completed_submission ?? 0) >= number;
      this.columns.push({ queue, number, executions: [], recycled: 0, time, state: told ? completed : unknown });
    }
    if (data.empty_submissions.length) {
      this.columns.sort((a, b) => (seconds(a.time) || 0) - (seconds(b.time) || 0));
      this.columns.forEach(({ queue, number }, place) => this.columnOf.set(`${queue}/${number}`, place));
    }
    this.lanes = data.queues.map((_, index) => index);
    if (this.columns.some((column) => column.queue === -1)) this.lanes.push(-1);
    if (data.syncs.some((sync) => sync.queue === null && !sync.acquire)) this.lanes.push(-2);
    this.arrows = data.waits.waits.flatMap((wait, index) => this.arrow(wait, index));
  }
  private arrow(wait: Wait, index: number): Arrow[] {
    const { syncs } = this.report.data;
    const to = syncs[wait.sync];
    const from = wait.signal === null ? undefined : syncs[wait.signal];
    if (!to || !from || (from.queue === null && from.acquire)) return [];
    return [{ wait: index, from: this.placeOf(from), to: this.placeOf(to), fromLane: this.laneOf(from), toLane: this.laneOf(to), state: wait.state }];
  }
  private laneOf(sync: Sync): number {
    return this.lanes.indexOf(sync.queue ?? -2);
  }
  // Returns the position in columns, at the edge where it belongs. The CPU's operations come behind
  // the work submitted by then.
  private placeOf(sync: Sync): number {
    if (sync.queue !== null) {
      const column = this.columnOf.get(`${sync.queue}/${sync.submission}`);
      if (column !== undefined) return column + (sync.kind === "wait" ? edge : 1 - edge);
    }
    const time = seconds(sync.time);
    if (Number.isNaN(time)) return this.columns.length;
    let low = 0, high = this.columns.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (seconds(this.columns[middle]!.time) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private measure(): void {
    this.width = Math.max(200, this.clientWidth - 2);
    if (!this.measured) this.fit();
    this.measured = true;
  }
  private x(column: number): number {
    return ((column - this.from) / (this.to - this.from)) * this.width;
  }
  private y(lane: number): number {
    return top + lane * laneHeight;
  }
  // The CPU's last waits come behind the last submission.
  private get end(): number {
    return Math.max(1, this.columns.length + (this.lanes.includes(-2) ? 0.4 : 0));
  }
  // The last ones, as wide as they can be read.
  private fit(): void {
    this.to = this.end;
    this.from = Math.max(0, this.to - Math.floor(this.width / readable));
    this.bringIntoSight();
  }
  private look(from: number, to: number): void {
    const all = this.end;
    const width = Math.max(1, Math.min(to - from, all));
    this.from = Math.max(0, Math.min(from, all - width));
    this.to = this.from + width;
  }
  private zoom(by: number, at = 0.5): void {
    const width = Math.max(1, (this.to - this.from) * by);
    const middle = this.from + (this.to - this.from) * at;
    this.look(middle - width * at, middle + width * (1 - at));
  }
  private chosenColumn(): number {
    const queue = selection.number("queue");
    const submission = selection.number("submission");
    if (queue !== undefined && submission !== undefined) return this.columnOf.get(`${queue}/${submission}`) ?? -1;
    const scope = selection.number("scope");
    const index = scope === undefined ? selection.number("execution") : this.report?.executionOf(scope);
    const execution = index === undefined ? undefined : this.report?.data.executions[index];
    return execution ? this.columnOf.get(`${execution.queue ?? -1}/${execution.submission_number}`) ?? -1 : -1;
  }
  private bringIntoSight(): void {
    const column = this.chosenColumn();
    if (column >= 0 && (column < this.from || column + 1 > this.to)) {
      const half = (this.to - this.from) / 2;
      this.look(column + 0.5 - half, column + 0.5 + half);
    }
  }
  private choose(place: number): void {
    const column = this.columns[place];
    if (!column) return;
    const execution = column.executions[0];
    selection.choose({ queue: String(column.queue), submission: String(column.number), ...(execution === undefined ? {} : { execution: String(execution) }) });
  }
  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const width = this.to - this.from;
    const chosen = this.chosenColumn();
    switch (event.key) {
      case "w": case "+": this.zoom(0.7); break;
      case "s": case "-": this.zoom(1 / 0.7); break;
      case "a": this.look(this.from - width / 5, this.to - width / 5); break;
      case "d": this.look(this.from + width / 5, this.to + width / 5); break;
      case "f": case "Enter": if (chosen >= 0) this.look(chosen - 1, chosen + 2); break;
      case "0": this.look(0, this.end); break;
      case "ArrowRight": this.choose(chosen < 0 ? Math.floor(this.from) : chosen + 1); break;
      case "ArrowLeft": this.choose(chosen < 0 ? Math.floor(this.from) : chosen - 1); break;
      case "ArrowDown": case "ArrowUp": this.chooseLane(chosen, event.key === "ArrowDown" ? 1 : -1); break;
      default: return;
    }
    event.preventDefault();
  }
  // The nearest submission of the next queue that has one.
  private chooseLane(from: number, step: number): void {
    if (from < 0) return this.choose(Math.floor(this.from));
    for (let lane = this.lanes.indexOf(this.columns[from]!.queue) + step; lane >= 0 && lane < this.lanes.length; lane += step) {
      for (let away = 1; away < this.columns.length; ++away) {
        for (const place of [from - away, from + away]) {
          if (this.columns[place]?.queue === this.lanes[lane]) return this.choose(place);
        }
      }
    }
  }
  private readonly wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) return;
    event.preventDefault();
    const width = this.to - this.from;
    if (event.ctrlKey) return this.zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX / this.width);
    const by = ((event.deltaX || event.deltaY) / this.width) * width;
    this.look(this.from + by, this.to + by);
  };
  private press(event: PointerEvent): void {
    this.drag = { x: event.clientX, from: this.from, to: this.to };
  }
  private move(event: PointerEvent): void {
    if (!this.drag || !(event.buttons & 1)) return;
    const by = ((this.drag.x - event.clientX) / this.width) * (this.drag.to - this.drag.from);
    this.look(this.drag.from + by, this.drag.to + by);
  }
  protected override firstUpdated(): void {
    this.renderRoot.querySelector("svg")?.addEventListener("wheel", this.wheel, { passive: false });
  }

  // Arrows stand between boxes and what is written on them.
  private boxes(): TemplateResult {
    const each = this.width / (this.to - this.from);
    const first = Math.floor(this.from), last = Math.min(this.columns.length, Math.ceil(this.to));
    if (each < 4) return svg`${this.narrowBoxes(first, last)}${this.lines()}`;
    return svg`${this.wideBoxes(first, last, each)}${this.lines()}${this.labels(first, last, each)}`;
  }
  // Several columns a bar, which shows the state of them that matters most.
  private narrowBoxes(first: number, last: number): TemplateResult[] {
    const found = new Map<string, { lane: number; x: number; state: State; place: number; lists: number }>();
    for (let place = first; place < last; ++place) {
      const column = this.columns[place]!;
      const x = Math.floor(this.x(place) / 4) * 4;
      const lane = this.lanes.indexOf(column.queue);
      const bar = found.get(`${lane}/${x}`);
      if (!bar) found.set(`${lane}/${x}`, { lane, x, state: column.state, place, lists: 1 });
      else if (++bar.lists && worst.indexOf(column.state) > worst.indexOf(bar.state)) Object.assign(bar, { state: column.state, place });
    }
    return [...found.values()].map((bar) => svg`<rect class="box ${classes[bar.state]}" x=${bar.x} y=${this.y(bar.lane) + 20} width="3" height=${boxHeight}
      @click=${() => this.choose(bar.place)}><title>${count(bar.lists, "submission")}; ${bar.state}</title></rect>`);
  }
  private wideBoxes(first: number, last: number, each: number): TemplateResult[] {
    const chosen = this.chosenColumn();
    return this.columns.slice(first, last).map((column, index) => svg`<rect class="box ${classes[column.state]} ${first + index === chosen ? "chosen" : ""}"
      x=${this.x(first + index + edge)} y=${this.y(this.lanes.indexOf(column.queue)) + 20} width=${each * (1 - 2 * edge)} height=${boxHeight} rx="3"
      data-column=${first + index} @click=${() => this.choose(first + index)} @dblclick=${() => this.look(first + index - 1, first + index + 2)}><title>${
        this.report.queue(column.queue < 0 ? null : column.queue)}, submission ${column.number}: ${column.state}; ${this.lists(column).slice(0, 8).join(", ")}${column.time ? `; submitted at ${column.time}` : ""}</title></rect>`);
  }
  private lists(column: Column): string[] {
    return [...column.executions.map((index) => this.report.list(index)), ...(column.recycled ? [count(column.recycled, "recycled list")] : []),
      ...(column.recycled || column.executions.length ? [] : ["no command lists"])];
  }
  private labels(first: number, last: number, each: number): TemplateResult[] {
    const letters = Math.floor((each * (1 - 2 * edge) - 8) / letterWidth);
    const chosen = this.chosenColumn();
    return this.columns.slice(first, last).map((column, index) => {
      const mark = marks[column.state], all = `${mark} ${column.number} ${this.lists(column).join(", ")}`;
      const label = [all.length > letters && letters > 14 ? all.slice(0, letters - 1) + "…" : all, `${mark} ${column.number}`, mark].find((text) => text.length <= letters);
      return label ? svg`<text class="label ${first + index === chosen ? "chosen" : ""}" x=${this.x(first + index + edge) + 4} y=${this.y(this.lanes.indexOf(column.queue)) + 37}>${label}</text>` : svg``;
    });
  }
  private lines(): TemplateResult[] {
    const inSight = this.arrows.filter((arrow) => Math.max(arrow.from, arrow.to) >= this.from && Math.min(arrow.from, arrow.to) <= this.to);
    // Deadlocks and endless waits are drawn last, over all others, and are never omitted for them.
    const rank = (arrow: Arrow) => (arrow.state === "deadlock" ? 2 : arrow.state === "satisfied" || arrow.state === "will be signalled" ? 0 : 1);
    return inSight.sort((a, b) => rank(a) - rank(b)).slice(-mostArrows).map((arrow) => {
      const kind = ["", "wrong", "deadlock"][rank(arrow)]!;
      const x1 = this.x(arrow.from), x2 = this.x(arrow.to);
      const same = arrow.fromLane === arrow.toLane;
      const y1 = this.y(arrow.fromLane) + 33, y2 = this.y(arrow.toLane) + 33;
      const bend = same ? -30 : 0;
      const middle = `${x1 + 24},${y1 + bend} ${x2 - 24},${y2 + bend}`;
      const sync = this.report.data.syncs[this.report.data.waits.waits[arrow.wait]!.sync]!;
      return svg`<g><path class="arrow ${kind}" d="M${x1},${y1} C${middle} ${x2},${y2}"></path><path class="head ${kind}" d="M${x2},${y2} l-8,-4 v8 z"></path>
        <title>wait for ${this.report.sync(sync)}: ${arrow.state}</title></g>`;
    });
  }
  // Waits that nothing ends, and to which no arrow leads.
  private alarms(): TemplateResult[] {
    const { syncs, waits } = this.report.data;
    return waits.waits.filter((wait) => wait.signal === null && (wait.state === "never signalled" || wait.state === "deadlock")).map((wait) => {
      const sync = syncs[wait.sync]!;
      const place = this.placeOf(sync), lane = this.laneOf(sync);
      return lane < 0 || place < this.from || place > this.to ? svg`` : svg`<g><text class="alarm" x=${Math.min(this.x(place), this.width - 20)} y=${this.y(lane) + 38} text-anchor="end">!</text><title>waits for ${this.report.sync(sync)}: ${wait.state}</title></g>`;
    });
  }
  private cpuMarks(): TemplateResult[] {
    const lane = this.lanes.indexOf(-2);
    if (lane < 0) return [];
    return this.report.data.syncs.filter((sync) => sync.queue === null && !sync.acquire).slice(-mostArrows).map((sync) => {
      const x = Math.min(this.x(this.placeOf(sync)), this.width - 8);
      return x < 0 ? svg`` : svg`<path class="head" d=${sync.kind === "wait" ? `M${x},${this.y(lane) + 25} v16 h3 v-16 z` : `M${x},${this.y(lane) + 25} l8,8 l-8,8 z`}><title>the CPU ${sync.kind}s: ${this.report.sync(sync)}${sync.time ? `, at ${sync.time}` : ""}</title></path>`;
    });
  }
  private times(): TemplateResult[] {
    const each = this.width / (this.to - this.from);
    const step = Math.max(1, Math.ceil(90 / each));
    const drawn: TemplateResult[] = [];
    let last: string | null = null;  // the same again would say that time stood still
    for (let place = Math.ceil(this.from / step) * step; place < Math.min(this.to, this.columns.length); place += step) {
      const time = this.columns[place]!.time;
      if (time && time !== last) drawn.push(svg`<text class="quiet" x=${this.x(place) + 2} y="17">${time}</text>`);
      last = time;
    }
    return drawn;
  }
  private laneName(lane: number): string {
    const name = lane === -2 ? "CPU: waits and signals" : this.report.queue(lane < 0 ? null : lane);
    const letters = Math.floor((this.width - 12) / letterWidth);
    return name.length > letters ? name.slice(0, letters - 1) + "…" : name;
  }

  override render() {
    const { syncs, threads } = this.report.data;
    if (!this.columns.length && !syncs.length && !threads.length) {
      return empty("Nothing was submitted", "The program had given no work to a queue, and called nothing that Cairn notes, when this file was written. Cairn sees the queues of programs that it watches:", "cairn run -- ./program");
    }
    const height = top + Math.max(1, this.lanes.length) * laneHeight;
    return html`<cairn-clock .report=${this.report} .submissions=${this.columns} .lanes=${this.lanes} .from=${this.from} .to=${this.to} .width=${this.width}
        @pick=${(event: CustomEvent<number>) => { const half = (this.to - this.from) / 2; this.look(event.detail + 0.5 - half, event.detail + 0.5 + half); }}></cairn-clock>
      <div class="bar">
        <button @click=${() => this.zoom(0.7)} aria-label="zoom in">+</button><button @click=${() => this.zoom(1 / 0.7)} aria-label="zoom out">−</button>
        <button @click=${() => this.look(0, this.end)}>All</button>
        <span class="quiet">${count(this.columns.length, "submission")}, in the order in which they were made; the strip above has them by the clock</span></div>
      <svg width=${this.width} height=${height} tabindex="0" role="group" aria-label="Submissions by queue" @keydown=${this.key} @pointerdown=${this.press} @pointermove=${this.move}>
        ${this.lanes.map((_, index) => svg`${index % 2 ? nothing : svg`<rect class="band" x="0" y=${this.y(index)} width=${this.width} height=${laneHeight}></rect>`}
          <line class="lane" x1="0" x2=${this.width} y1=${this.y(index)} y2=${this.y(index)}></line>`)}
        ${this.boxes()}${this.cpuMarks()}${this.alarms()}${this.times()}
        ${this.lanes.map((lane, index) => svg`<text class="quiet" x="6" y=${this.y(index) + 15}>${this.laneName(lane)}</text>`)}
      </svg>
      <cairn-queues .report=${this.report}></cairn-queues>`;
  }
}
customElements.define("cairn-timeline", Timeline);
