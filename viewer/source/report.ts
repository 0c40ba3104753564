// SPDX-License-Identifier: Apache-2.0
//
// The output of cairn report --json (docs/report.schema.json), and what its tables say of each other. Only the keys
// that views ask for by name are declared.
import { bytes, duration, grouped, quoted, visible } from "./words.js";

export type State = "not started" | "in flight" | "completed" | "unknown";

export interface Destruction {
  kind: string; native_handle: string; object: number | null; thread: number; thread_name: string; time: string | null;
  before_incident_ns: number | null; frame: number; queue: number | null; submission: number | null;
}
export interface Binding {
  point: string; slot: number; address: string | null; object: number | null; offset: number; state: string;
  destroyed_after_ns: number | null; since_submission: boolean; destruction: Destruction | null;
}
export interface Suspect {
  queue: number | null; execution: number; scope: number | null; after_marker: number | null; reason: string;
  words: string; binding: Binding | null;
}
export interface Scope {
  state: State; type: string; ordinal: number; call?: number; name: string; pipeline: number | null; depth: number;
  parent: number | null; begin: number; end: number | null; annotation: number | null;
}
export interface Execution {
  state: State; device: number | null; frame: number; queue: number | null; name: string; recording_id: number;
  submission_number: number | null; first_scope: number; scope_count: number; open: boolean; secondary: boolean;
}
export interface TracedObject {
  state: string; kind: string; name: string; name_cut: boolean; serial: number; created: string | null;
  destroyed: string | null; gpu_address: string; size: number;
}
export interface Owner {
  object: number; exact: boolean; offset: string; destroyed_after_fault_ns: number;
  destroyed_after_submission_ns: number; destruction: Destruction | null;
}
export interface Neighbour { object: number; distance: string; }
export interface Address {
  type?: string; address: string; state: string; first: string; last: string; owners: Owner[];
  owner_count: number; below: Neighbour | null; above: Neighbour | null;
}
export interface Fault {
  device: number | null; source: string; description: string; time: string | null; addresses: Address[];
  vendor_infos: { description: string; code: string; data: string }[];
}
export interface Sync {
  kind: "wait" | "signal"; queue: number | null; submission: number; native_handle: string; object: number | null;
  value: string; binary: boolean; fence: boolean; acquire: boolean; time: string | null;
}
export interface Wait { sync: number; state: string; signal: number | null; held_submission: number; cycle: number | null; }
export interface KernelLine {
  time: string; names_process: boolean; tells_fault: boolean; text: string; address: Address | null;
}
export interface ReportData {
  verdict: {
    kind: string; certainty: string; sentence: string; incident: number | null; cycle: number | null; wait: number | null;
    suspects: Suspect[]; last_finished: { queue: number | null; execution: number; scope: number | null }[];
  };
  process: { id: number; program: string; command_line: string; library_version: string; started: string | null; seen: string | null };
  incidents: { kind: string; time: string | null; sentence: string }[];
  devices: { name: string; driver: string; api: string; marker_mode: string; marker_mode_tells: string; word_memory_tells: string }[];
  queues: { device: number | null; type: string; name: string; submission_count: number; completed_submission: number }[];
  pipelines: { kind: string; name: string; shaders: Record<string, string> }[];
  verdicts: {
    queue: number | null; exact: boolean; unknown: boolean; reason: string;
    candidates: { execution: number; scope: number; bindings: Binding[] }[]; list_candidates: number[];
  }[];
  executions: Execution[];
  scopes: Scope[];
  annotations: { event_id: string; name: string }[];
  submissions: { queue: number | null; number: number; execution: number | null; time: string | null }[];
  threads: { id: number; name: string; ended: boolean; calls: { number: number; function: string; object: string; returned: boolean }[] }[];
  objects: TracedObject[];
  syncs: Sync[];
  waits: {
    queues: { queue: number | null; submitted: number; finished: number; first_unfinished: number; begun: boolean; held: boolean }[];
    waits: Wait[]; cycles: number[][];
  };
  faults: Fault[];
  kernel_log: { why_not: string; lines: KernelLine[] } | null;
  losses: string[];
}

export const marks: Record<State, string> = { completed: "[X]", "in flight": "[>]", "not started": "[ ]", unknown: "[?]" };

export class Report {
  private executionOfScope: Int32Array;
  private scopeOfCall = new Map<number, number>();

  constructor(readonly data: ReportData) {
    this.executionOfScope = new Int32Array(data.scopes.length).fill(-1);
    data.executions.forEach((execution, index) =>
      this.executionOfScope.fill(index, execution.first_scope, execution.first_scope + execution.scope_count));
    data.scopes.forEach((scope, index) => {
      if (scope.call !== undefined && !this.scopeOfCall.has(scope.call)) this.scopeOfCall.set(scope.call, index);
    });
  }

  executionOf(scope: number): number {
    return this.executionOfScope[scope] ?? -1;
  }
  // The work that a call recorded; undefined if none is known.
  scopeAt(call: number): number | undefined {
    return this.scopeOfCall.get(call);
  }

  queue(index: number | null): string {
    if (index === null) return "lists without a queue";
    const queue = this.data.queues[index];
    if (!queue) return `queue ${index}`;
    return `queue ${index}${queue.name ? " " + quoted(queue.name) : ""} (${queue.type})`;
  }
  list(index: number): string {
    const execution = this.data.executions[index]!;
    return execution.name ? quoted(execution.name) : `command list ${execution.recording_id}`;
  }
  scope(index: number): string {
    const scope = this.data.scopes[index]!;
    if (scope.type === "PASS" && scope.name) return visible(scope.name);
    return scope.type + (scope.ordinal ? ` ${scope.ordinal}` : "") + (scope.name ? `: ${quoted(scope.name)}` : "");
  }
  pipeline(index: number): string {
    const pipeline = this.data.pipelines[index];
    if (!pipeline) return `pipeline ${index + 1}`;
    const shaders = Object.entries(pipeline.shaders).map(([stage, shader]) => `${stage}: ${visible(shader)}`);
    return [pipeline.kind, "pipeline", pipeline.name ? quoted(pipeline.name) : pipeline.kind ? "" : String(index + 1),
      shaders.length ? `[ ${shaders.join(" | ")} ]` : ""].filter(Boolean).join(" ");
  }
  object(index: number | null): string {
    if (index === null) return "an unknown object";
    const object = this.data.objects[index];
    if (!object) return `object ${index}`;
    return `${object.kind} ${object.name ? quoted(object.name) : object.serial}`;
  }
  // From the list to the scope: the scopes around it, outermost first, and itself.
  around(scope: number): number[] {
    const path: number[] = [];
    for (let next: number | null = scope; next !== null && path.length < 256; next = this.data.scopes[next]?.parent ?? null) {
      path.unshift(next);
    }
    return path;
  }
  path(execution: number, scope: number | null): string {
    const start = `frame ${this.data.executions[execution]!.frame}: ${this.list(execution)}`;
    return [start, ...(scope === null ? [] : this.around(scope).map((each) => this.scope(each)))].join(" > ");
  }
  bindingsOf(scope: number): Binding[] {
    for (const verdict of this.data.verdicts) {
      const found = verdict.candidates.find((candidate) => candidate.scope === scope);
      if (found) return found.bindings;
    }
    return [];
  }
  destroyedBy(destruction: Destruction | null): string {
    if (!destruction) return "";
    const thread = destruction.thread_name ? `thread ${quoted(destruction.thread_name)} (${destruction.thread})` : `thread ${destruction.thread}`;
    const before = destruction.before_incident_ns;
    const behind = destruction.submission === null ? "" : `, behind submission ${destruction.submission} of ${this.queue(destruction.queue)}`;
    return `, by ${thread}${before === null ? "" : `, ${duration(before)} ${before < 0 ? "behind" : "before"} what was noticed first`}, in frame ${destruction.frame}${behind}`;
  }
  binding(binding: Binding): string {
    const place = `${binding.point} ${binding.slot}`;
    if (binding.object === null) {
      return `${place}: ${binding.address === null ? binding.state : `address ${binding.address}, ${binding.state === "unknown" ? "which belongs to no known object" : binding.state}`}`;
    }
    const offset = binding.offset ? ` + 0x${binding.offset.toString(16)}` : "";
    if (binding.state === "alive") return `${place}: ${this.object(binding.object)}${offset}`;
    const after = binding.destroyed_after_ns;
    const when = after === null || after === 0 ? "" : ` ${duration(after)} ${after < 0 ? "before" : "after"} the ${binding.since_submission ? "submission" : "report"}`;
    return `${place}: ${this.object(binding.object)}${offset}, ${binding.state}${when}${this.destroyedBy(binding.destruction)}`;
  }
  sync(sync: Sync): string {
    const what = sync.object !== null ? this.object(sync.object) : `${sync.fence ? "fence" : "semaphore"} ${sync.native_handle}`;
    return sync.binary || sync.fence ? what : `${what} to reach ${BigInt(sync.value)}`;
  }
  size(index: number): string {
    const object = this.data.objects[index];
    return object ? bytes(object.size) : "a size that is not known";
  }
  commands(file: string): { what: string; command: string }[] {
    const first = this.data.verdict.suspects[0];
    const call = first?.scope == null ? undefined : this.data.scopes[first.scope]?.call;
    const name = /^[\w./+-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
    const all = [{ what: "everything as text", command: `cairn report --all ${name}` }];
    if (call !== undefined) {
      all.push({ what: `the calls around call ${grouped(call)}`, command: `cairn calls --around ${call} ${name}` },
        { what: "what was bound there", command: `cairn state --call ${call} ${name}` },
        { what: "play it again", command: `cairn replay ${name}` },
        { what: "find the call without which it does not fail", command: `cairn bisect ${name}` });
    } else {
      const words = this.data.process.command_line || this.data.process.program || "./program";
      all.push({ what: "the same with marks around each draw, if the mode tells too little", command: `cairn run --breadcrumbs full -- ${visible(words, 200)}` },
        { what: "find the work without which it does not fail", command: `cairn bisect -- ${visible(words, 200)}` });
    }
    return all;
  }
  // The answer, to be pasted into a bug.
  markdown(file: string): string {
    const lines = [`**${this.data.verdict.sentence}**`, ""];
    this.data.verdict.suspects.slice(0, 4).forEach((suspect, index) => {
      lines.push(`${index + 1}. \`${this.path(suspect.execution, suspect.scope)}\` (${suspect.words})`);
      const pipeline = suspect.scope === null ? null : this.data.scopes[suspect.scope]!.pipeline;
      if (pipeline !== null) lines.push(`   \`${this.pipeline(pipeline)}\``);
    });
    for (const incident of this.data.incidents) lines.push(`- ${incident.sentence}`);
    for (const device of this.data.devices) lines.push(`- ${device.name}, ${device.driver}`);
    lines.push("", `\`cairn report ${file}\``, "");
    return lines.join("\n");
  }
}
