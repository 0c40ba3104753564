// SPDX-License-Identifier: Apache-2.0
//
// The output of cairn report --json (docs/formats/report.schema.json), and what its tables say of each other. Only the keys
// that views ask for by name are declared.
import type { State } from "./states.js";
import { bytes, count, duration, quoted, visible } from "./words.js";

// By the names of the text report, in the order in which they run.
export const stages: Record<string, string> = {
  AS: "amplification", MS: "mesh", VS: "vertex", HS: "hull", DS: "domain", GS: "geometry", PS: "pixel", CS: "compute", RT: "ray tracing",
};

export interface Thing { kind: string; native_handle: string; object: number | null; }
export interface Destruction extends Thing {
  cause: Thing | null; owner: Thing | null; thread: number; thread_name: string; time: string | null;
  before_incident_ns: number | null; frame: number; queue: number | null; submission: number | null;
}
export interface Binding {
  point: string; slot: number; address: string | null; object: number | null; offset: number; state: string;
  destroyed_after_ns: number | null; since_submission: boolean; destruction: Destruction | null;
  // For a descriptor set.
  unseen?: number; in_buffers?: boolean; pushed?: boolean; binding?: number | null; element?: number | null;
}
export interface Suspect {
  queue: number | null; execution: number; scope: number | null; after_marker: number | null; reason: string;
  words: string; binding: Binding | null; tied?: number;
}
export interface Scope {
  state: State; type: string; ordinal: number; call?: number; arguments?: { words: string }; name: string; pipeline: number | null; depth: number;
  parent: number | null; begin: number; end: number | null; annotation: number | null;
}
export interface Execution {
  state: State; device: number | null; frame: number; queue: number | null; name: string; recording_id: number;
  submission_number: number | null; first_scope: number; scope_count: number; run: number; open: boolean; reusable: boolean;
  secondary: boolean; dropped_count: number;
}
// A free entry has no other valid field.
export interface TracedObject {
  state: string; kind: string; name: string; name_cut: boolean; native_handle: string; serial: number; created: string | null;
  destroyed: string | null; gpu_address: string; size: number; description?: string; signalled?: string; waited?: string; completed?: string;
}
export interface Owner {
  object: number; exact: boolean; offset: string; destroyed_after_fault_ns: number;
  destroyed_after_submission_ns: number; destruction: Destruction | null;
}
export interface Neighbour { object: number; distance: string; }
// words and around: as the text says it.
export interface Address {
  words: string; around: string;
  type?: string; address: string; state: string; first: string; last: string; owners: Owner[];
  owner_count: number; below: Neighbour | null; above: Neighbour | null;
}
export interface Fault {
  device: number | null; source: string; result: number; description: string; time: string | null; addresses: Address[];
  vendor_infos: { description: string; code: string; data: string }[]; vendor_binary_bytes: number; vendor_binary_kept: boolean;
}
export interface Sync {
  kind: "wait" | "signal"; queue: number | null; submission: number; native_handle: string; object: number | null;
  value: string; binary: boolean; fence: boolean; present: boolean; acquire: boolean; time: string | null;
}
export interface Wait { sync: number; state: string; signal: number | null; held_submission: number; cycle: number | null; }
export interface KernelLine {
  time: string; names_process: boolean; tells_fault: boolean; text: string; address: Address | null;
}
export interface Device {
  name: string; driver: string; notes: string; vendor_id: number; device_id: number; api: string; marker_mode: string;
  marker_mode_tells: string; write_method: string; word_memory: string; word_memory_tells: string; frame: number;
  lists_dropped: number; destroyed: boolean; device_lost: boolean; device_lost_code: number;
  sources: { name: string; state: string; reason: string }[]; application: string; annotation_driver: string; annotations_forced: boolean;
}
export interface RawMarkerVerdict {
  queue: number | null; consistent: boolean; executions_left_out: number; candidate_count: number; likely_count: number;
  markers: { execution: number | null; pipe: string; slot: number; value: string; arrival: string }[];
  works: { execution: number; scope: number | null; after_marker: number; state: State; likely: boolean; reason: string }[];
}
// The first screen of the text, line by line: several rows may share a label, one behind the other.
export interface Step { command: string; effect: string; }
export interface Answer { headline: string; how_sure_in_words: string; rows: { label: string; text: string }[]; }
export interface Shader { hash: string; code: string; size: number; kept: boolean; }
export interface UserData { key: string; size_bytes: number; text: string | null; bytes: string | null; }
export interface ReportData {
  verdict: {
    answer: Answer; next: Step[]; send: Step[];
    kind: string; how_sure: string; sentence: string; incident: number | null; cycle: number | null; wait: number | null;
    suspects: Suspect[]; last_completed: { queue: number | null; execution: number; scope: number | null }[];
  };
  process: { id: number; program: string; command_line: string; library_version: string; started: string | null; seen: string | null };
  incidents: { kind: string; value: number; name: string; time: string | null; sentence: string }[];
  devices: Device[];
  queues: { device: number | null; type: string; name: string; submission_count: number; completed_submission: number }[];
  pipelines: { kind: string; name: string; shaders: Record<string, string>; shader_hashes: Record<string, string> }[];
  verdicts: {
    queue: number | null; exact: boolean; unknown: boolean; ends_unseen: boolean; reason: string;
    candidates: { execution: number; scope: number; annotation_scope: number | null; bindings: Binding[] }[]; list_candidates: number[];
    late_suspect: { execution: number; scope: number } | null;
  }[];
  executions: Execution[];
  scopes: Scope[];
  annotations: { event_id: string; name: string }[];
  user_data: UserData[];
  reported_event_ids: { event_id: string; state: string; annotation: number | null; scope: number | null }[];
  submissions: { queue: number | null; number: number; execution: number | null; time: string | null }[];
  empty_submissions: { queue: number; number: number; time: string | null }[];
  queue_markers: { queue: number | null; native_handle: string; kind: "begin" | "end" | "marker"; submissions_before: number; annotation: number | null }[];
  shaders: Shader[];
  threads: {
    id: number; name: string; ended: boolean; crashed: boolean;
    calls: { number: number; function: string; object: string; returned: boolean; arguments: { name: string; value: string }[] }[];
  }[];
  objects: TracedObject[];
  syncs: Sync[];
  waits: {
    queues: { queue: number | null; submitted: number; finished: number; first_unfinished: number; begun: boolean; held: boolean; first_wait: number; wait_count: number }[];
    waits: Wait[]; cycles: number[][]; cycle_words: string[]; cycles_left_out: number;
  };
  faults: Fault[];
  crash_addresses: (Address & { incident: number })[];
  memory: { device: number | null; result: number; words: string; heaps: { words: string }[] }[];
  freed_in_flight: { object: number; words: string }[];
  checkpoints: { queue: number | null; stage: string; relation: string; reason: string }[];
  raw_markers: { device: number | null; slot: number; value: string }[];
  raw_marker_verdicts: RawMarkerVerdict[];
  kernel_log: { why_not: string; lines: KernelLine[] } | null;
  losses: string[];
}

// Kinds of verdicts without a culprit: the work was running when something else ended the program.
export const withoutCulprit = ["killed", "exited", "CPU fault", "nothing wrong"];
// The incidents, as the times of other events are counted from them.
const moments: Record<string, string> = { "device lost": "the loss", hang: "the hang was noticed", exited: "the exit" };
// Points with at most one binding.
const unslotted = ["depth stencil", "index buffer", "indirect arguments", "source", "destination"];

export class Report {
  private executionOfScope: Int32Array;
  private scopeOfCall = new Map<number, number>();
  private objectOfHandle = new Map<string, number>();
  private runs = new Map<string, number>();  // executions of a recording

  // `markdown`: the answer for a bug tracker, as cairn report --markdown prints it.
  constructor(readonly data: ReportData, readonly markdown: string) {
    this.executionOfScope = new Int32Array(data.scopes.length).fill(-1);
    data.executions.forEach((execution, index) =>
      this.executionOfScope.fill(index, execution.first_scope, execution.first_scope + execution.scope_count));
    data.scopes.forEach((scope, index) => {
      if (scope.call !== undefined && !this.scopeOfCall.has(scope.call)) this.scopeOfCall.set(scope.call, index);
    });
    // Executions share scopes, and several have work of one call: what the verdict names is meant, the first suspect most.
    for (const { execution: index, scope } of [...data.verdict.suspects].reverse()) {
      const execution = data.executions[index];
      if (scope === null || !execution) continue;
      this.executionOfScope.fill(index, execution.first_scope, execution.first_scope + execution.scope_count);
      const call = data.scopes[scope]?.call;
      if (call !== undefined) this.scopeOfCall.set(call, scope);
    }
    for (const { device, recording_id: id } of data.executions) this.runs.set(`${device}/${id}`, (this.runs.get(`${device}/${id}`) ?? 0) + 1);
    // Ranks objects that had the same address: the living one first, else the youngest.
    const rank = (object: TracedObject) => (object.state === "alive" ? 2 ** 53 : object.serial);
    data.objects.forEach((object, index) => {
      if (object.state === "free") return;
      const other = this.objectOfHandle.get(object.native_handle);
      if (other === undefined || rank(object) >= rank(data.objects[other]!)) this.objectOfHandle.set(object.native_handle, index);
    });
  }

  executionOf(scope: number): number {
    return this.executionOfScope[scope] ?? -1;
  }
  // The work that a call recorded; undefined if none is known.
  scopeAt(call: number): number | undefined {
    return this.scopeOfCall.get(call);
  }

  // Direct3D's words for queues and lists are not Vulkan's.
  private isVulkan(device: number | null): boolean { return device !== null && this.data.devices[device]?.api === "vulkan"; }
  listWord(device: number | null): string { return this.isVulkan(device) ? "command buffer" : "command list"; }
  queue(index: number | null): string {
    if (index === null) return "lists without a queue";
    const queue = this.data.queues[index];
    if (!queue) return `queue ${index}`;
    return `queue ${index}${queue.name ? " " + quoted(queue.name) : ""} (${this.isVulkan(queue.device) ? queue.type.replace("direct", "graphics").replace("copy", "transfer") : queue.type})`;
  }
  list(index: number): string {
    const execution = this.data.executions[index]!;
    const repeated = execution.reusable || execution.run > 1 || this.runs.get(`${execution.device}/${execution.recording_id}`)! > 1;
    return (execution.name ? quoted(execution.name) : `${this.listWord(execution.device)} ${execution.recording_id}`) + (repeated ? `, execution ${execution.run}` : "") +
      (execution.open ? ", still being recorded" : "") + (execution.dropped_count ? `, ${count(execution.dropped_count, "marker")} dropped` : "");
  }
  scope(index: number): string {
    const scope = this.data.scopes[index]!;
    if (scope.type === "PASS" && scope.name) return visible(scope.name);
    return scope.type + (scope.ordinal ? ` #${scope.ordinal}` : "") + (scope.arguments ? ` ${scope.arguments.words}` : "") + (scope.name ? `: ${quoted(scope.name)}` : "");
  }
  // Returns the EventID and name of a scope's annotation; empty if it has none.
  eventId(scope: number | null): string {
    const annotation = scope === null ? null : this.data.scopes[scope]?.annotation ?? null;
    const found = annotation === null ? undefined : this.data.annotations[annotation];
    return found && Number(found.event_id) ? `EventID ${found.event_id}, ${quoted(found.name)}` : "";
  }
  pipeline(index: number): string {
    const pipeline = this.data.pipelines[index];
    if (!pipeline) return `pipeline ${index + 1}`;
    const shaders = Object.keys(stages).flatMap((stage) => {
      const name = pipeline.shaders[stage] ?? "", hash = pipeline.shader_hashes[stage] ?? "";
      const words = [visible(name), hash && !name.includes(hash) ? `(${hash})` : ""].filter(Boolean);
      return words.length ? [`${stage}: ${words.join(" ")}`] : [];
    });
    return [pipeline.kind, "pipeline", pipeline.name ? quoted(pipeline.name) : pipeline.kind ? "" : String(index + 1),
      shaders.length ? `[ ${shaders.join(" | ")} ]` : ""].filter(Boolean).join(" ");
  }
  object(index: number | null): string {
    if (index === null) return "an unknown object";
    const object = this.data.objects[index];
    if (!object || object.state === "free") return `object ${index}`;
    if (!object.name && object.description) return `${object.description} #${object.serial}`;
    return `${object.kind} ${object.name ? quoted(object.name) : object.serial}${object.name_cut ? " (name cut)" : ""}`;
  }
  objectAt(handle: string): number | undefined {
    return this.objectOfHandle.get(handle);
  }
  handle(handle: string): string {
    const object = this.objectAt(handle);
    return object === undefined ? handle : this.object(object);
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
  // Work that a suspect, or what follows from raw markers, names.
  work(execution: number, scope: number | null, after: number | null): string {
    const path = this.path(execution, scope);
    if (scope !== null) return path;
    return `${path} > (${after === null ? "work outside of markers" : after === 0 ? "what was recorded before marker 1" : `what was recorded behind marker ${after}`})`;
  }
  candidate(scope: number) {
    for (const verdict of this.data.verdicts) {
      const found = verdict.candidates.find((candidate) => candidate.scope === scope);
      if (found) return found;
    }
    return undefined;
  }
  private thing(thing: Thing): string {
    return thing.object !== null && this.data.objects[thing.object]?.name ? this.object(thing.object) : `${thing.kind} ${thing.native_handle}`;
  }
  howItEnded(kind: string, destruction: Destruction | null): string {
    const end = (of: string) => (of === "device memory" ? "freed" : "destroyed");
    const cause = destruction?.cause;
    return cause ? `, whose ${this.thing(cause)} was ${end(cause.kind)}` : `, ${end(kind)}`;
  }
  destroyedBy(destruction: Destruction | null): string {
    if (!destruction) return "";
    const thread = destruction.thread_name ? `thread ${quoted(destruction.thread_name)} (${destruction.thread})` : `thread ${destruction.thread}`;
    const before = destruction.before_incident_ns;
    const behind = destruction.submission === null ? "" : `, behind submission ${destruction.submission} of queue ${destruction.queue}`;
    const first = this.data.incidents.find(({ kind, time }) => kind !== "requested" && time !== null)?.kind;
    return `, by ${thread}${before === null ? "" : `, ${duration(before)} ${before < 0 ? "after" : "before"} ${moments[first ?? ""] ?? "the end"}`}, in frame ${destruction.frame}${behind}`;
  }
  binding(binding: Binding): string {
    const after = binding.destroyed_after_ns;
    const when = (after ? ` ${duration(after)} ${after < 0 ? "before" : "after"} ${binding.since_submission ? "the submission" : "this report"}` : "") + this.destroyedBy(binding.destruction);
    if (binding.unseen !== undefined) return this.descriptor(binding, when);
    const isCount = binding.point === "indirect arguments" && binding.slot === 1;
    const place = isCount ? "count of indirect commands" : unslotted.includes(binding.point) ? binding.point : `${binding.point} ${binding.slot}`;
    if (binding.state === "replaced") return `${place}: an object that was destroyed long before`;
    if (binding.object === null) {
      return `${place}: ${binding.address === null ? binding.state : `address ${binding.address}, which belongs to no known object`}`;
    }
    const what = `${place}: ${this.object(binding.object)}${binding.offset ? ` + 0x${binding.offset.toString(16)}` : ""}`;
    return binding.state === "destroyed" ? what + this.howItEnded(this.data.objects[binding.object]?.kind ?? "", binding.destruction) + when : what;
  }
  private descriptor(binding: Binding, when: string): string {
    const place = `descriptor set ${binding.slot}`;
    if (binding.binding == null) {
      if (binding.pushed) return `${place}: pushed descriptors, which are not looked into`;
      if (binding.in_buffers) return `${place}: in a descriptor buffer, which is not looked into`;
      return `${place}: ${count(binding.unseen!, "descriptor")}, in arrays that may be partially bound or are large, not looked into`;
    }
    const { destruction } = binding;
    const what = destruction ? this.thing(destruction) + (destruction.owner ? ` of ${this.thing(destruction.owner)}` : "") + this.howItEnded(destruction.kind, destruction) : binding.state;
    return `${place} binding ${binding.binding}${binding.element ? `[${binding.element}]` : ""}: ${what}${when}`;
  }
  sync(sync: Sync): string {
    const what = sync.object !== null ? this.object(sync.object) : `${sync.fence ? "fence" : "semaphore"} ${sync.native_handle}`;
    return sync.binary || sync.fence ? what : `${what} to reach ${BigInt(sync.value)}`;
  }
  size(index: number): string {
    const object = this.data.objects[index];
    return object ? bytes(object.size) : "a size that is not known";
  }
}
