// SPDX-License-Identifier: Apache-2.0
//
// The output of cairn why --json (docs/formats/why.schema.json), as far as the page shows it. It comes from anybody, as a
// text: what is missing, or of another type, reads as empty.
export interface Count { runs: number; failed: number; otherwise: number; endless: number; }
export interface Excerpt { of: string; first_line: number; marked: number; lines: string[]; }
// In a shader, or a call, which has none.
export interface Place { place: string; number: string; record: string; inShader: boolean; excerpt: Excerpt | undefined; facts: Facts; }
export interface Cause { heading: string; verdict: string; sentence: string; counts: string[]; places: Place[]; behind: string[]; }
export interface Experiment { words: string; verdict: string; why: string; changes: number; with: Count; without: Count; }
export interface Why {
  headline: string; none: string; causes: Cause[]; notTheCause: string[]; doesNotApply: string[]; doubts: string[];
  experiments: Experiment[]; devices: string[]; driver: string; runs: string; command: string; markdown: string;
}

type Values = Record<string, unknown>;
const object = (value: unknown): Values => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
const texts = (value: unknown): string[] => list(value).map(text);
const grouped = (value: unknown): string => number(value).toLocaleString("en-US");

function count(value: unknown): Count {
  const { runs, failed, otherwise, endless } = object(value);
  return { runs: number(runs), failed: number(failed), otherwise: number(otherwise), endless: number(endless) };
}

function excerpt(value: unknown): Excerpt | undefined {
  const { of, first_line, marked, lines } = object(value);
  const all = texts(lines);
  return all.length ? { of: text(of), first_line: number(first_line), marked: number(marked), lines: all } : undefined;
}

type Facts = [string, string][];
const said = (name: string, value: string): Facts => (value ? [[name, value]] : []);

// Of the shader that has the loop, the access or the binding.
function shaderFacts(note: Values): Facts {
  const shader = [text(note["stage"]) && `${text(note["stage"])} shader`, text(note["dxbc"]) && `DXBC ${text(note["dxbc"])}`, text(note["shader"]) && `SPIR-V ${text(note["shader"])}`].filter(Boolean).join(", ");
  return [...said("shader", shader), ...said("pipeline", text(note["pipeline"])), ...said("function", text(note["function"]))];
}

const descriptor = (note: Values): string => `set ${number(note["set"])}, binding ${number(note["binding"])}`;

// What the GPU noted of a loop that was cut, value by value.
function loopFacts(loop: Values): Facts {
  // A constant, and a value without a name, stand for themselves.
  const side = (of: string): string => {
    const name = text(loop[of]), value = text(loop[`${of}_value`]);
    return value && name && Number(name) !== Number(value) ? `${name} = ${value}` : value;
  };
  const condition = [text(loop["left"]) || text(loop["left_value"]), text(loop["comparison"]), text(loop["right"]) || text(loop["right_value"])].join(" ");
  return [...shaderFacts(loop), ["executions", grouped(loop["executions"])], ["reached the cut", grouped(loop["cuts"])], ["most trips", grouped(loop["most_trips"])],
    ...said("the first", text(loop["first"])), ...said("condition", text(loop["comparison"]) && condition), ...said("its values", [side("left"), side("right")].filter(Boolean).join(", ")),
    ["enough alone", loop["alone"] === true ? "yes" : "not seen"]];
}

// What it noted of an access that missed.
function accessFacts(access: Values): Facts {
  const miss: Facts = [...said("pointer", text(access["pointer"])), ["missed", grouped(access["misses"])], ...said("the first", text(access["first"]))];
  if (access["set"] !== undefined || access["binding"] !== undefined || access["indices"] !== undefined) {
    const indices = list(access["indices"]).map(object).map(({ kind, index, bound }) => `${text(kind)} ${number(index)} of ${number(bound)}`);
    return [...shaderFacts(access), ...said("access", text(access["kind"])), ["binding", descriptor(access)], ...miss, ...said("its indices", indices.join(", "))];
  }
  return [...shaderFacts(access), ...said("access", `${text(access["kind"])} of ${grouped(access["bytes"])} bytes`), ...miss, ...said("address", text(access["address"])),
    ...said("buffer before it", text(access["buffer"]) && `${text(access["buffer"])}, ${grouped(access["buffer_bytes"])} bytes`)];
}

// Of a binding that was empty. Push constants have no number.
function bindingFacts(binding: Values): Facts {
  return [...shaderFacts(binding), ...said("kind", text(binding["kind"])), ...said("name", text(binding["name"])),
    ...said("binding", binding["set"] === undefined && binding["binding"] === undefined ? "" : descriptor(binding)),
    ...said("location", binding["location"] === undefined ? "" : grouped(binding["location"]))];
}

// By the name of a cause: the list of its experiment in which its places are, and their facts.
const notes = new Map<string, [string, (note: Values) => Facts]>([["loops", ["loops", loopFacts]], ["bounds", ["accesses", accessFacts]], ["bindings", ["bindings", bindingFacts]]]);

// What was noted of a call whose counts were limited.
function callFacts(call: Values): Facts {
  const counts = (value: unknown): string => list(value).map(number).join(", ");
  const times = number(call["limited"]);
  return [...said("command", text(call["command"])), ...said("label", text(call["label"])), ["indirect", call["indirect"] === true ? "yes, the GPU read the counts from a buffer" : "no"],
    ...said("first counts", counts(call["counts"])), ...said("last limited to", counts(call["limited_to"])), ["limited", `${grouped(times)} ${times === 1 ? "time" : "times"}`]];
}

// Throws what is wrong with it.
export function readWhy(json: string): Why {
  const answer = object(JSON.parse(json));
  if (answer["format"] !== "cairn-why" || answer["version"] !== 1) throw new Error("it is no answer of cairn why that this page knows");
  const words = object(answer["answer"]);
  const experiments = list(answer["experiments"]).map(object);
  const place = (name: string, value: unknown, position: number): Place => {
    const shown = object(value);
    const of = experiments.find((each) => each["name"] === name) ?? {};
    const told = { place: text(shown["place"]), number: text(shown["number"]), record: text(shown["record"]) };
    if (shown["shader"] === undefined) {  // the calls are in the order of the places
      const call = list(of["calls"])[position];
      return { ...told, inShader: false, excerpt: undefined, facts: call === undefined ? [] : callFacts(object(call)) };
    }
    const [key, facts] = notes.get(name) ?? ["", () => []];
    const noted = list(of[key]).map(object).find((each) => each["shader"] === shown["shader"] && each["index"] === shown["index"]);
    return { ...told, inShader: noted !== undefined, excerpt: excerpt(noted?.["excerpt"]), facts: noted ? facts(noted) : [] };
  };
  return {
    headline: text(words["headline"]), none: text(words["none"]), notTheCause: texts(words["not_the_cause"]), doesNotApply: texts(words["does_not_apply"]),
    doubts: texts(words["doubts"]), runs: text(words["runs"]), command: text(words["command"]), markdown: text(words["markdown"]),
    devices: texts(answer["devices"]), driver: text(answer["driver"]),
    causes: list(words["causes"]).map(object).map((cause) => ({
      heading: text(cause["heading"]), verdict: text(cause["verdict"]), sentence: text(cause["sentence"]), counts: texts(cause["counts"]), behind: texts(cause["behind"]),
      places: list(cause["places"]).map((each, position) => place(text(cause["name"]), each, position)),
    })),
    experiments: experiments.map((each) => ({
      words: text(each["words"]), verdict: text(each["verdict"]), why: text(each["why"]), changes: number(each["changes"]), with: count(each["with"]), without: count(each["without"]),
    })),
  };
}
