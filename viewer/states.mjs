// SPDX-License-Identifier: Apache-2.0
//
// The states of work by name ("in-flight": also a class of the page), with their words and marks, from where the report
// takes them.
import { readFileSync } from "node:fs";

const header = new URL("../src/reader/report/work_states.h", import.meta.url);
const row = /\{WorkState::k(\w+), "([^"]+)", "([^"]+)"\}/g;
const kebab = (name) => name.replace(/(?<=.)[A-Z]/g, (letter) => "-" + letter).toLowerCase();

export const workStates = Object.fromEntries(
  [...readFileSync(header, "utf8").matchAll(row)].map(([, name, word, mark]) => [kebab(name), { word, mark }]));
