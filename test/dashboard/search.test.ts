import assert from "node:assert/strict";
import { test } from "node:test";
import { browser } from "../support/browser.ts";
import { headingOf, openPages, pathOf, textOf, usedOf, wordsOf } from "../support/record-pages.ts";
import type { Page, TestUser } from "../support/user.ts";

const search = (text: string) => `/search?${new URLSearchParams({ q: text }).toString()}`;

/** The rows of each section of the page, as words, by the section's heading. */
const sectionsOf = ({ text }: Page) =>
  Object.fromEntries(
    Array.from(
      text.matchAll(/<section class="of-\w+">\s*<h2>(.*?)<\/h2>(.*?)<\/section>/gs),
      ([, head, body]) => [
        head!,
        Array.from(body!.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs), ([, row]) => wordsOf(row!)),
      ],
    ),
  );

/** The list of suggestions, and its options: where each leads, and its words. */
async function suggest(user: TestUser, text: string) {
  const list = (await user.get(search(text).replace("?", "/suggest?"))).text;
  const options = list.matchAll(/<a\s+href="([^"]*)"[^>]*role="option"[^>]*>(.*?)<\/a\s*>/gs);
  return { text: list, options: Array.from(options, ([, href, words]) => [href, textOf(words!)]) };
}

test("one field finds GPs, people and projects, each kind with its total and a link to all", async (t) => {
  const { user } = await openPages(t);
  const stone = await user.get(search("stone"));
  assert.equal(headingOf(stone), "2 results for “stone”");
  assert.deepEqual(
    sectionsOf(stone)["2 GPs"]!.map((row) => row.split(" – ")[0]!.trim()),
    ["Stonehaven Realty", "Blackstone Ridge Capital"],
  );
  assert.match(stone.text, /<a href="\/browse\/gps\?gp_name=stone">All 2 GPs<\/a>/);
  const [ana] = sectionsOf(await user.get(search("müller")))["1 person"]!;
  assert.match(ana!, /Ana Müller.*Northwind|Ana Müller.*Blackstone/);
  const alder = await user.get(search("alder"));
  assert.match(alder.text, /<a href="\/browse\/projects\?name=alder">All 1 project<\/a>/);
  assert.equal(headingOf(await user.get("/browse/projects?name=alder")).split(" ")[0], "1");
  assert.match((await user.get("/search")).text, /Type part of the name/);
});

test("a name that nothing has leads to similar ones", async (t) => {
  const { user } = await openPages(t);
  const { text } = await user.get(search("ana mueler"));
  assert.match(text, /No GP, person or project has this name/);
  const { text: near } = await user.get(search("ana muler"));
  assert.match(near, /Did you mean\s*<a href="\/search\?q=ana\+muller">ana muller<\/a>/);
  const hostile = await user.get(search('"><script>alert(1)</script>'));
  assert.doesNotMatch(hostile.text, /<script>alert/);
});

test("suggestions are records of each kind, the likeliest first, free of charge", async (t) => {
  const { user } = await openPages(t);
  const one = await suggest(user, "nor");
  assert.deepEqual(one.options, [
    [pathOf("gp", "northwind"), "Northwind Residential PartnersDallas, TX3 signals"],
  ]);
  assert.match(one.text, /role="group" aria-label="GPs"/);
  assert.match(one.text, /1 result\s+<a href="\/search\?q=nor">/);
  const people = (await suggest(user, "an")).options.map(([, words]) => words);
  assert.ok(people.some((words) => /^Ana Müller.*2 GPs$/.test(words!)));
  const [project] = (await suggest(user, "zeta")).options;
  assert.equal(project![0], pathOf("project", "zeta"));
  assert.equal((await suggest(user, "n")).text, "");
  assert.match((await suggest(user, "zzzz")).text, /0 results/);
  assert.equal(await usedOf(user), "0 of 60");
});

test("with a script suggestions are a list that the keyboard moves through", async (t) => {
  const chrome = await browser(t);
  if (chrome === null) return;
  const { service, user } = await openPages(t);
  const page = await chrome.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page
    .context()
    .addCookies(Array.from(user.cookies, ([name, value]) => ({ name, value, url: service.url })));
  await page.goto(`${service.url}/search`);
  await page.locator("h1").click();
  await page.keyboard.press("/");
  await page.keyboard.type("stone");
  const field = page.getByRole("banner").getByRole("combobox");
  const options = page.getByRole("banner").getByRole("option");
  await options.first().waitFor();
  assert.equal(await field.getAttribute("aria-expanded"), "true");
  assert.match(await page.locator("header .suggestions p").innerText(), /2 results/);
  await field.press("ArrowDown");
  await field.press("ArrowDown");
  const chosen = page.locator('[role="option"][aria-selected="true"]');
  assert.match(await chosen.innerText(), /Blackstone Ridge Capital/);
  assert.equal(await field.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
  await field.press("Escape");
  assert.equal(await options.first().isVisible(), false);
  await field.fill("stoneh");
  await options.first().waitFor();
  await field.press("ArrowDown");
  await field.press("Enter");
  await page.getByRole("heading", { name: "Stonehaven Realty", level: 1 }).waitFor();
  assert.deepEqual(faults, []);
});
