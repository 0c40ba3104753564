// SPDX-License-Identifier: Apache-2.0
//
// What the tests share: cairn, a browser, and how one looks into a page that is made of shadow roots.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";

// As CMake names them.
export const { CAIRN_SOURCE_DIR: source, CAIRN_BINARY_DIR: build, CAIRN_CHROMIUM: chromium } = process.env;
export const load = createRequire(join(build, "viewer", "package.json"));

export const folder = mkdtempSync(join(tmpdir(), "cairn-viewer-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const cairn = (...words) =>
  execFileSync(join(build, "bin/cairn"), words, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });

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

// Opens an address; `errors` fills with what the console complains of.
export async function open(address, { width = 1366, height = 768, scheme = "light" } = {}) {
  const page = await browser.newPage();
  const errors = [];
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => { errors.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(address);
  await page.waitForSelector(deep("nav a"));
  return { page, errors };
}

// Once a view is drawn, rows in it as well.
export async function settle(page) {
  await page.evaluate(async () => {
    for (let turn = 0; turn < 3; ++turn) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  });
}
export async function go(page, hash) {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await page.waitForFunction((to) => location.hash === "#" + to, {}, hash);
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
export const press = (page, selector) => page.$eval(deep(selector), (element) => element.click());

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
