// SPDX-License-Identifier: Apache-2.0
//
// node pictures.mjs FOLDER FILE...: pictures of all views of these files, as a page and as cairn view shows them, into
// FOLDER. tools/viewer-pictures runs it.
import { mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { appears, cairn, dataOf, deep, go, htmlOf, open, pageWith, press, rowsOf, settle, startBrowser, stickingOut, stopBrowser, view } from "./browser.mjs";

const [pictures, ...files] = process.argv.slice(2);
// To look at fewer: SIZES=1366x768 SCHEMES=dark
const sizes = (process.env.SIZES ?? "1366x768 3840x2160").split(" ").map((size) => size.split("x").map(Number));
const schemes = (process.env.SCHEMES ?? "light dark").split(" ");

// Steps for views that show their contents only after a while, or on request.
const ready = {
  calls: (page) => rowsOf(page, "cairn-calls"),
  state: async (page) => {
    // Images, or why there are none.
    while (!(await page.$(deep("cairn-state figure")))) {
      if (await page.$(deep("cairn-state [role=alert]"))) return;
      await settle(page);
    }
    while (await page.$(deep("cairn-thumbnail canvas:not([data-shown])"))) await settle(page);
    await press(page, "cairn-state figure button");
    await appears(page, "cairn-image .large[data-shown]");
  },
  // Once a session: it takes a minute, and the next page shows the answer.
  bisect: async (page, save) => {
    await appears(page, "cairn-bisect button:not([disabled])");
    if (await page.$(deep("cairn-bisect .answer"))) return;
    await press(page, "cairn-bisect button");
    await appears(page, "cairn-bisect progress[value]");
    await save("searching");
    await appears(page, "cairn-bisect .answer");
  },
};

async function take(address, name, place, leaveOut = []) {
  for (const [width, height] of sizes) {
    for (const scheme of schemes) {
      const { page, errors } = await open(address, { width, height, scheme });
      const views = await page.$$eval(deep("nav[aria-label=Views] a"), (links) => links.map((link) => new URLSearchParams(link.hash.slice(1)).get("view")));
      for (const each of views) {
        const save = (what) => page.screenshot({ path: join(pictures, `${name}-${what}-${width}-${scheme}.png`) });
        await go(page, new URLSearchParams({ view: each, ...place }).toString());
        if (!leaveOut.includes(each)) await ready[each]?.(page, save);
        await settle(page);
        await save(each);
        errors.push(...(await stickingOut(page)).map((what) => `${each} at ${width}: more than can be seen in ${what}`));
      }
      // The page shows the server's refusals, and the console reports them as well.
      for (const error of errors.filter((each) => !/status of [45]00/.test(each))) {
        console.error(`${name}: ${error}`);
        process.exitCode = 1;
      }
      await page.close();
    }
  }
}

// The calls of this name; none of a file without a trace.
function calls(file, name) {
  try {
    return cairn("calls", "--json", "--no-names", "--function", name, file).trim().split("\n").filter(Boolean).map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

mkdirSync(pictures, { recursive: true });
await startBrowser();
for (const file of files) {
  const name = basename(file, ".cairn");
  const html = htmlOf(file);
  const { report } = dataOf(html);
  const scope = report.verdict.suspects[0]?.scope ?? undefined;
  const place = scope === undefined ? {} : { scope };
  await take(pageWith(html, { ...dataOf(html), file: basename(file) }, `${name}.html`), name, place);

  const submitted = calls(file, "ExecuteCommandLists");
  if (!submitted.length) continue;
  const server = await view(file);
  // In what did not fail there is nothing to be searched for, and what was shown last says more than what ran by chance.
  const failed = ["GPU hang", "GPU fault", "device lost"].includes(report.verdict.kind);
  await take(server.address, `${name}-view`, failed ? { ...place, call: report.scopes[scope].call } : { call: submitted.at(-1).number }, failed ? [] : ["bisect"]);
  await server.ended;
}
await stopBrowser();
