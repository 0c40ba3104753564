// SPDX-License-Identifier: Apache-2.0
//
// The states of work. build.mjs brings the words and marks of the report.
type Name = "not-started" | "in-flight" | "completed" | "unknown";
declare const WORK_STATES: Record<Name, { word: string; mark: string }>;

// The word, as the JSON has it and people read it.
export type State = string;
const table = WORK_STATES;
const byWord = <Value>(value: (name: Name) => Value) =>
  Object.fromEntries((Object.keys(table) as Name[]).map((name) => [table[name].word, value(name)])) as Record<State, Value>;

export const notStarted = table["not-started"].word, inFlight = table["in-flight"].word, completed = table.completed.word, unknown = table.unknown.word;
export const marks = byWord((name) => table[name].mark);
// Classes of style sheets.
export const classes: Record<State, string> = byWord((name) => name);
