// SPDX-License-Identifier: Apache-2.0
//
// The page of cairn triage in a real browser: docs/reference/cairn-triage.md, "The page".
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { appears, build, cairn, dataOf, deep, end, folder, go, open, pageWith, press, seriousFaults, serve, settle, source, startBrowser, stickingOut, stopBrowser, text, texts } from "./browser.mjs";

const golden = (name) => join(source, "tests/golden", name);
const crashes = join(folder, "crashes");
const grouped = (number) => number.toLocaleString("en-US");
const ready = ".title";

let html, data, groups;
before(async () => {
  mkdirSync(join(crashes, "below"), { recursive: true });
  // Three of one cause, and others.
  const dumps = { "a.cairn": "snapshot-v1", "below/it's \"b\" <b>.cairn": "snapshot-v1", "c.cairn": "snapshot-v1", "d.cairn": "snapshot-vulkan-v1", "e.cairn": "snapshot-d3d12-v1", "f.cairn": "snapshot-arguments-v1" };
  for (const [name, from] of Object.entries(dumps)) copyFileSync(golden(`${from}.cairn`), join(crashes, name));
  writeFileSync(join(crashes, "text.cairn"), "no dump");
  process.env.XDG_CACHE_HOME = join(folder, "cache");
  const page = join(folder, "triage.html");
  cairn("triage", "--html", page, crashes);
  html = readFileSync(page, "utf8");
  data = dataOf(html);
  ({ groups } = data.triage);
  await startBrowser();
});
after(stopBrowser);

// The page with 90 days of made-up counts, so that there is something to filter.
function many() {
  const last = 20_600, cells = (offset, every) => Array.from({ length: 90 }, (_, day) => [last - day, offset % 2, day < 30 ? 1 : 0, day % 7 ? "proven" : "one of", 1 + ((day * every + offset) % 5)]).filter((_, day) => day % every === 0);
  const made = structuredClone(data);
  made.programs = ["game", "editor"];
  made.library_versions = ["0.9.0", "1.0.0"];
  made.triage.dumps = 0;
  made.triage.groups.forEach((group, index) => {
    made.details[index].counts = cells(index, index + 1);
    group.count = made.details[index].counts.reduce((sum, [, , , , count]) => sum + count, 0);
    group.first_seen = new Date((last - 89) * 86_400_000).toISOString();
    group.last_seen = new Date(last * 86_400_000 + index).toISOString();
    made.triage.dumps += group.count;
  });
  made.triage.groups.at(-1).first_seen = made.triage.groups.at(-1).last_seen;
  return made;
}
const countOf = (cells) => cells.reduce((sum, cell) => sum + cell[4], 0);
const choose = (page, name, label) => page.$eval(deep(`select[name=${name}]`), (select, wanted) => {
  select.value = [...select.options].find((option) => option.textContent.startsWith(wanted)).value;
  select.dispatchEvent(new Event("change"));
}, label);

test("the page shows what --json says", async () => {
  assert.deepEqual(data.triage, JSON.parse(cairn("triage", "--json", crashes)));
  const { page, errors } = await open(pageWith(html, data, "groups.html"), { ready });
  assert.deepEqual(await texts(page, "td.count"), groups.map(({ count }) => grouped(count)));
  const titles = await texts(page, ".title"), rows = await texts(page, "tbody>tr");
  groups.forEach(({ signature }, index) => {
    assert.equal(titles[index], signature.path.slice(-2).join(" › ") || `${signature.kind} (${signature.cause})`);
    for (const said of [signature.kind, signature.cause, signature.device, signature.driver, ...signature.path]) assert(rows[index].includes(said), rows[index]);
  });
  assert.equal(await text(page, ".sum"), `${data.triage.dumps} dumps, ${groups.length} groups`);
  assert.match(await text(page, "details"), /1 file is without a report.*text\.cairn/s);

  await press(page, ".title");
  await appears(page, "cairn-triage-details .sentence");
  assert.equal((await text(page, "cairn-triage-details .sentence")).replaceAll("\n", " "), groups[0].example.sentence.replaceAll("\n", " "));
  const details = await text(page, "cairn-triage-details");
  for (const said of [groups[0].signature.id, groups[0].signature.device, ...groups[0].signature.path]) assert(details.includes(said), said);
  const files = await texts(page, "cairn-triage-details .files>li");
  assert.equal(files.length, 3);
  // The command is one that a shell takes as it is.
  assert.equal(await text(page, "cairn-command code"), `cairn report ${groups[0].example.file}`);
  assert.deepEqual(await stickingOut(page), []);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a name that a shell would change is quoted", async () => {
  const named = structuredClone(data);
  named.triage.groups[0].example.file = named.details[0].files[0].file = "-it's \"$(b)\".cairn";
  const { page } = await open(pageWith(html, named, "quoted.html"), { ready });
  await press(page, ".title");
  await appears(page, "cairn-command code");
  assert.equal(await text(page, "cairn-command code"), `cairn report './-it'\\''s "$(b)".cairn'`);
  await page.close();
});

test("filters, orders and days; the address keeps them", async () => {
  const made = many();
  const { page, errors } = await open(pageWith(html, made, "many.html"), { ready });
  assert.equal((await page.$$(deep("cairn-triage-chart svg"))).length, 1);
  assert.deepEqual(await texts(page, ".new"), ["new"]);

  await choose(page, "sure", "proven");
  await settle(page);
  const proven = made.details.map(({ counts }) => countOf(counts.filter(([, , , sure]) => sure === "proven")));
  assert.deepEqual((await texts(page, "td.count")).sort(), proven.filter(Boolean).map(grouped).sort());
  await choose(page, "program", "editor");
  await settle(page);
  const editor = made.details.map(({ counts }) => countOf(counts.filter(([, program, , sure]) => sure === "proven" && program === 1))).filter(Boolean);
  assert.deepEqual((await texts(page, "td.count")).sort(), editor.map(grouped).sort());
  assert.match(await text(page, ".sum"), new RegExp(`^${grouped(countOf(editor.map((count) => [0, 0, 0, 0, count])))} of ${grouped(made.triage.dumps)} dumps, ${editor.length} of ${groups.length} groups$`));
  // A page that is loaded again shows the same.
  await page.waitForFunction(() => location.hash.includes("program=editor"));
  await page.reload();
  await page.waitForSelector(deep(ready));
  assert.equal((await texts(page, "td.count")).length, editor.length);
  await press(page, "button.clear");
  await settle(page);
  assert.equal((await texts(page, "td.count")).length, groups.length);

  // Days, by the fields and by a drag.
  const newest = 20_600, date = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);
  await page.$eval(deep("input[name=from]"), (input, value) => { input.value = value; input.dispatchEvent(new Event("change")); }, date(newest - 6));
  await settle(page);
  const week = made.details.map(({ counts }) => countOf(counts.filter(([day]) => day > newest - 7))).filter(Boolean);
  assert.deepEqual((await texts(page, "td.count")).sort(), week.map(grouped).sort());
  await press(page, "button.clear");
  await settle(page);
  const box = await (await page.$(deep("cairn-triage-chart .plot"))).boundingBox();
  await page.mouse.move(box.x + box.width - 40, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 4, box.y + 30);
  await page.mouse.up();
  await settle(page);
  await page.waitForFunction(() => location.hash.includes("to="));
  assert.match(await page.evaluate(() => location.hash), new RegExp(`from=\\d{4}-\\d\\d-\\d\\d&to=${date(newest)}`));

  await go(page, "kind=nothing+that+is+there");
  assert.match(await text(page, ".empty"), /No dump passes this filter/);
  await press(page, ".empty>p>button");
  await settle(page);
  await choose(page, "sort", "Newest cause");
  await settle(page);
  assert((await texts(page, ".title"))[0].includes("new"));
  assert.deepEqual(errors, []);
  await page.close();
});

test("by keyboard alone", async () => {
  const { page, errors } = await open(pageWith(html, many(), "keys.html"), { ready });
  const chosen = () => page.$$eval(deep("tbody>tr"), (rows) => rows.findIndex((row) => row.classList.contains("chosen")));
  assert.equal(await chosen(), -1);
  // A key that is held down makes no more addresses than a browser takes.
  for (let i = 0; i < 300; ++i) await page.keyboard.press(i % 2 ? "k" : "j");
  await settle(page);
  assert.equal(await chosen(), 0);
  await page.keyboard.press("Escape");
  for (const [key, row] of [["j", 0], ["ArrowDown", 1], ["k", 0], ["End", groups.length - 1], ["Home", 0], ["ArrowUp", 0]]) {
    await page.keyboard.press(key);
    await settle(page);
    assert.equal(await chosen(), row, key);
  }
  await page.keyboard.press("s");
  await settle(page);
  await page.waitForFunction(() => location.hash.includes("sort=last"));
  await page.keyboard.press("/");
  await page.keyboard.type(groups.at(-1).signature.id);
  await settle(page);
  assert.equal((await texts(page, "td.count")).length, 1);
  await page.keyboard.press("Escape");  // leaves the field
  await page.keyboard.press("c");
  await settle(page);
  assert.equal((await texts(page, "td.count")).length, groups.length);
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await chosen(), -1);
  await page.keyboard.press("?");
  await settle(page);
  assert.equal(await page.$eval(deep("dialog"), (dialog) => dialog.open), true);
  assert.deepEqual(errors, []);
  await page.close();
});

test("served: a click opens the report, and new dumps appear", async () => {
  const here = join(folder, "served");
  mkdirSync(here);
  for (const name of ["snapshot-v1", "snapshot-vulkan-v1"]) copyFileSync(golden(`${name}.cairn`), join(here, `${name}.cairn`));
  utimesSync(join(here, "snapshot-v1.cairn"), 1e9, 1e9);
  const server = await serve("triage", "--serve", here);
  const { page, errors } = await open(server.address, { ready });
  const before = JSON.parse(cairn("triage", "--json", here));
  assert.deepEqual(await texts(page, "td.count"), before.groups.map(({ count }) => String(count)));
  for (const index of [0, 1]) {
    const { file, sentence } = before.groups[index].example;
    await page.$$eval(deep("td.act>a"), (links, at) => links[at].click(), index);
    await page.waitForSelector(deep("#headline"));
    assert.equal(await text(page, "#headline"), JSON.parse(cairn("report", "--json", file)).verdict.answer.headline);
    assert(sentence.length > 0);
    await page.goBack();
    await page.waitForSelector(deep(ready));
  }
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForSelector(deep("#headline"));
  await page.goBack();
  await page.waitForSelector(deep(ready));

  copyFileSync(golden("snapshot-v1.cairn"), join(here, "another.cairn"));
  await page.reload();
  await page.waitForSelector(deep(ready));
  assert.match(await text(page, ".sum"), /^3 dumps, 2 groups$/);
  rmSync(join(here, "another.cairn"));
  await press(page, "header>button");
  await page.waitForFunction(() => document.querySelector("cairn-triage")?.shadowRoot.querySelector(".sum")?.textContent.startsWith("2 dumps"));
  assert.deepEqual(errors, []);
  await page.close();
  await server.ended;
  assert.equal(server.process.exitCode, 0);
});

test("an empty folder says what to do, and fills", async () => {
  const here = join(folder, "empty");
  mkdirSync(here);
  const server = await serve("triage", "--serve", here);
  const { page, errors } = await open(server.address, { ready: ".empty" });
  assert.match(await text(page, ".empty"), /No report is here yet.*cairn run/s);
  copyFileSync(golden("snapshot-v1.cairn"), join(here, "a.cairn"));
  await page.reload();
  await page.waitForSelector(deep(ready));
  assert.deepEqual(errors, []);
  await page.close();
  await end(server);
});

test("a hostile page shows text and runs nothing", async () => {
  const evil = "<img src=x onerror=alert(1)>\u202e\u0000</script><script>alert(2)</script>";
  const made = many();
  made.place = evil;
  made.programs = [evil];
  made.triage.unreadable_count = 3;
  made.triage.unreadable = [{ file: evil, reason: evil.repeat(1000) }];
  const [first, second, third] = made.triage.groups;
  Object.assign(first.signature, { kind: evil, cause: evil, path: [evil, "n".repeat(4 << 20), evil], device: evil, driver: evil, shaders: [evil] });
  Object.assign(first.example, { file: `${evil}\n; rm -rf /`, sentence: evil });
  made.details[0].files = [{ file: first.example.file, seen: null, number: 0 }];
  second.first_seen = second.last_seen = null;
  made.details[1].counts = [[-1, 0, 0, "proven", 1], [0, 9, 9, evil, 1e15], [46_000, 0, 0, "proven", 3]];
  third.signature.path = [];
  made.details.length = 2;
  const { page, errors } = await open(pageWith(html, made, "hostile.html") + `#kind=${encodeURIComponent(evil)}`, { ready });
  await page.keyboard.press("j");
  await appears(page, "cairn-triage-details .sentence");
  const details = await text(page, "cairn-triage-details");
  assert(details.includes("<img src=x onerror=alert(1)>\\u{202e}\\u{0}"));
  assert.match(details, /cannot be pasted/);
  assert.equal((await page.$$(deep("img, script[src]"))).length, 0);
  await page.keyboard.press("c");
  await settle(page);
  assert.deepEqual(await stickingOut(page), []);
  assert.deepEqual(errors, []);
  await page.close();
});

test("axe-core finds nothing serious, dark and light", async () => {
  for (const scheme of ["light", "dark"]) {
    const { page } = await open(pageWith(html, many(), "axe.html"), { ready, scheme });
    await page.keyboard.press("j");
    await settle(page);
    assert.deepEqual(await seriousFaults(page), []);
    await go(page, "text=nothing+has+this+name");
    assert.deepEqual(await seriousFaults(page), []);
    await page.close();
  }
});

test("pictures; nothing is cut off", async () => {
  const pictures = join(build, "viewer/pictures");
  mkdirSync(pictures, { recursive: true });
  for (const [width, height] of [[480, 800], [760, 900], [1024, 768], [1366, 768], [3840, 2160]]) {
    for (const scheme of ["light", "dark"]) {
      const { page, errors } = await open(pageWith(html, many(), "pictures.html"), { ready, width, height, scheme });
      await page.keyboard.press("j");
      await settle(page);
      await page.screenshot({ path: join(pictures, `triage-${width}-${scheme}.png`) });
      assert.deepEqual(await stickingOut(page), [], `${width} ${scheme}`);
      assert.deepEqual(errors, []);
      await page.close();
    }
  }
});
