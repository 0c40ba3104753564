// SPDX-License-Identifier: Apache-2.0
//
// What the tests share: cairn, a browser, and how one looks into a page that is made of shadow roots.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { workStates } from "../states.mjs";

export const inFlight = workStates["in-flight"].word, completed = workStates.completed.word;

// The variables that CMake sets.
export const { CAIRN_SOURCE_DIR: source, CAIRN_BINARY_DIR: build, CAIRN_CHROMIUM: chromium } = process.env;
export const load = createRequire(join(build, "viewer", "package.json"));

export const folder = mkdtempSync(join(tmpdir(), "cairn-viewer-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const cairn = (...words) =>
  execFileSync(join(build, "bin/cairn"), words, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, COLUMNS: "0" } });

let browser;
export async function startBrowser() {
  browser = await load("puppeteer-core").launch({
    executablePath: chromium,
    userDataDir: join(folder, "profile"),
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"],
  });
}
export const stopBrowser = () => browser?.close();

// Opens an address; `errors` fills with what the console complains of. `ready`: what is there once the page is drawn.
export async function open(address, { width = 1366, height = 768, scheme = "light", ready = "nav a" } = {}) {
  const page = await browser.newPage();
  const errors = [];
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(address);
  await page.waitForSelector(deep(ready));
  return { page, errors };
}

// Waits until a view and the rows in it are drawn.
export async function settle(page) {
  await page.evaluate(async () => {
    for (let turn = 0; turn < 3; ++turn) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  });
}
export async function go(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await settle(page);
}
// A selector whose steps lead into shadow roots.
export const deep = (selector) => selector.split(" ").map((step) => `>>> ${step}`).join(" ");
// The library's own wait does not see what changes in shadow roots.
export async function appears(page, selector) {
  while (!(await page.$(deep(selector)))) await settle(page);
}
export const text = (page, selector) => page.$eval(deep(selector), (element) => (element.shadowRoot ?? element).textContent);
export const texts = (page, selector) => page.$$eval(deep(selector), (elements) => elements.map((element) => element.textContent));
// All that stands on the page, also what is folded, as words: without signs, and small.
export const words = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}_/+]+/gu, " ").trim();
export const allWords = async (page) => words(await page.evaluate(() => {
  const found = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
    if (["STYLE", "SCRIPT"].includes(node.nodeName)) return;
    for (const each of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) walk(each);
  };
  walk(document.body);
  return found.join(" ");
}));
export const press = (page, selector) => page.$eval(deep(selector), (element) => element.click());

// Elements that hold more than can be seen and neither scroll nor say so by an ellipsis.
export const stickingOut = (page) => page.evaluate(() => {
  const found = [];
  const walk = (root) => {
    for (const each of root.querySelectorAll("*")) {
      const style = getComputedStyle(each);
      const says = ["auto", "scroll"].includes(style.overflowX) || style.textOverflow === "ellipsis";
      if (each instanceof HTMLElement && each.clientWidth && each.scrollWidth > each.clientWidth + 1 && style.display !== "inline" && !says) found.push(`${each.localName}.${each.className}: ${each.textContent.trim().slice(0, 60)}`);
      if (each.shadowRoot) walk(each.shadowRoot);
    }
  };
  walk(document);
  return found;
});

// Returns the faults that axe-core rates serious or critical.
export async function seriousFaults(page) {
  // The page's policy forbids this through the page.
  const client = await page.createCDPSession();
  await client.send("Runtime.evaluate", { expression: readFileSync(load.resolve("axe-core/axe.min.js"), "utf8") });
  await client.detach();
  return page.evaluate(async () => (await globalThis.axe.run()).violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => ({ id, help, where: nodes.slice(0, 4).map((node) => node.html.slice(0, 200)) })));
}

// ---- cairn view, cairn triage --serve ----

export const view = (...words) => serve("view", ...words);
export async function serve(...words) {
  const process = spawn(join(build, "bin/cairn"), [...words, "--no-browser"],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...globalThis.process.env, TMPDIR: folder, XDG_CACHE_HOME: join(folder, "cache") } });
  const [line] = await once(process.stdout, "data");
  // The printed address works once, and redirects to the page's own address, which works until the
  // command ends.
  const { headers } = await fetch(String(line).trim(), { redirect: "manual" });
  const address = new URL(headers.get("location"), String(line)).href;
  return { process, address, ended: once(process, "exit") };
}
// Ends it as ^C does: by itself it would wait some seconds for another page.
export async function end(server) {
  server.process.kill("SIGINT");
  await server.ended;
  assert.equal(server.process.exitCode, 0);
}
export const rowsOf = async (page, element) => {
  await page.waitForFunction((name) => {
    const find = (root) => root.querySelector(name) ?? [...root.querySelectorAll("*")].map((each) => each.shadowRoot && find(each.shadowRoot)).find(Boolean);
    const rows = find(document)?.shadowRoot?.querySelector("cairn-rows")?.shadowRoot?.querySelectorAll(".row");
    return rows?.length && ![...rows].some((row) => row.textContent.trim() === "…");
  }, {}, element);
  return texts(page, `${element} .row`);
};

// ---- Pages ----

const place = /(<script type="text\/plain" id="data">)([^<]*)/;
export const dataOf = (html) => JSON.parse(gunzipSync(Buffer.from(html.match(place)[2], "base64")).toString());
// The page `html` with other data, as a file.
export function pageWith(html, data, name) {
  const packed = gzipSync(Buffer.from(JSON.stringify(data))).toString("base64");
  const file = join(folder, name);
  writeFileSync(file, html.replace(place, (_, before) => before + packed));
  return "file://" + file;
}
export function htmlOf(dump, ...options) {
  const file = join(folder, "page.html");
  cairn("report", "--force", "--html", file, ...options, dump);
  return readFileSync(file, "utf8");
}
