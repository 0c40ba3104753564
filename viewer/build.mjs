// SPDX-License-Identifier: Apache-2.0
//
// node build.mjs FOLDER: makes the pages, a file each, with places left for what they show (@DATA@) and for whom they may
// ask (@SERVER@); src/reader/page fills them in. esbuild is in PATH, and finds packages by NODE_PATH.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { workStates } from "./states.mjs";

const folder = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];

const bundle = (entry) =>
  execFileSync("esbuild", [join(folder, entry), "--bundle", "--minify", `--define:WORK_STATES=${JSON.stringify(workStates)}`, "--target=es2022", "--charset=utf8",
    "--legal-comments=none", "--log-level=warning"], { encoding: "utf8", maxBuffer: 1 << 26, cwd: folder }).trim();
const hash = (text) => "sha256-" + createHash("sha256").update(text).digest("base64");

const pages = {
  "page.html": { source: "source/page.ts", ELEMENT: "cairn-page", INSTEAD: "cairn report FILE" },
  "triage.html": { source: "source/triage.ts", ELEMENT: "cairn-triage", INSTEAD: "cairn triage FOLDER" },
};
const style = bundle("page.css");
for (const [name, { source, ...words }] of Object.entries(pages)) {
  const script = bundle(source);
  // A text must neither end its element, nor contain a place that is filled in later.
  for (const text of [script, style]) {
    if (/<\/(script|style)|<!--|@(DATA|SERVER)@/i.test(text)) throw new Error("the bundle cannot stand inside of a page");
  }
  const parts = { ...words, SCRIPT_HASH: hash(script), STYLE_HASH: hash(style), STYLE: style, SCRIPT: script };
  const page = readFileSync(join(folder, "page.html"), "utf8")
    .replace(/@([A-Z_]+)@/g, (place, part) => parts[part] ?? place);
  writeFileSync(join(out, name), page);
}
