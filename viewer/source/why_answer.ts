// SPDX-License-Identifier: Apache-2.0
//
// The output of cairn why --json (docs/formats/why.schema.json), as far as the page shows it. It comes from anybody, as a
// text: what is missing, or of another type, reads as empty.
export interface Count { runs: number; failed: number; otherwise: number; endless: number; }
export interface Excerpt { of: string; first_line: number; marked: number; lines: string[]; }
// In a shader, or a call, which has none.
export interface Place { place: string; number: string; record: string; inShader: boolean; excerpt: Excerpt | undefined; facts: [string, string][]; }
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

const said = (name: string, value: string): [string, string][] => (value ? [[name, value]] : []);

// What the GPU noted of a loop that was cut, or of an access that missed, value by value.
function facts(loop: Values): [string, string][] {
  const shader = [text(loop["stage"]) && `${text(loop["stage"])} shader`, text(loop["dxbc"]) && `DXBC ${text(loop["dxbc"])}`, text(loop["shader"]) && `SPIR-V ${text(loop["shader"])}`].filter(Boolean).join(", ");
  const shared = [...said("shader", shader), ...said("pipeline", text(loop["pipeline"])), ...said("function", text(loop["function"]))];
  if (loop["cuts"] !== undefined) {
    // A constant, and a value without a name, stand for themselves.
    const side = (of: string): string => {
      const name = text(loop[of]), value = text(loop[`${of}_value`]);
      return value && name && Number(name) !== Number(value) ? `${name} = ${value}` : value;
    };
    const condition = [text(loop["left"]) || text(loop["left_value"]), text(loop["comparison"]), text(loop["right"]) || text(loop["right_value"])].join(" ");
    return [...shared, ["executions", grouped(loop["executions"])], ["reached the cut", grouped(loop["cuts"])], ["most trips", grouped(loop["most_trips"])],
      ...said("the first", text(loop["first"])), ...said("condition", text(loop["comparison"]) && condition), ...said("its values", [side("left"), side("right")].filter(Boolean).join(", ")),
      ["enough alone", loop["alone"] === true ? "yes" : "not seen"]];
  }
  if (loop["set"] !== undefined || loop["binding"] !== undefined || loop["indices"] !== undefined) {
    const indices = list(loop["indices"]).map(object).map(({ kind, index, bound }) => `${text(kind)} ${number(index)} of ${number(bound)}`);
    return [...shared, ...said("access", text(loop["kind"])), ["binding", `set ${number(loop["set"])}, binding ${number(loop["binding"])}`], ...said("pointer", text(loop["pointer"])),
      ["missed", grouped(loop["misses"])], ...said("the first", text(loop["first"])), ...said("its indices", indices.join(", "))];
  }
  return [...shared, ...said("access", `${text(loop["kind"])} of ${grouped(loop["bytes"])} bytes`), ...said("pointer", text(loop["pointer"])), ["missed", grouped(loop["misses"])],
    ...said("the first", text(loop["first"])), ...said("address", text(loop["address"])),
    ...said("buffer before it", text(loop["buffer"]) && `${text(loop["buffer"])}, ${grouped(loop["buffer_bytes"])} bytes`)];
}

// What was noted of a call whose counts were limited.
function callFacts(call: Values): [string, string][] {
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
    const noted = [...list(of["loops"]), ...list(of["accesses"])].map(object).find((each) => each["shader"] === shown["shader"] && each["index"] === shown["index"]);
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
