import assert from "node:assert/strict";
import { test as onFile } from "node:test";
import { browser } from "../support/browser.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openPages } from "../support/record-pages.ts";

const suggest = (name: string, text: string) =>
  `/account/browse/suggest?${new URLSearchParams({ name, text }).toString()}`;

test("suggestions are known values, the likeliest first, free of charge", async (t) => {
  const { user } = await openPages(t);
  const ask = async (name: string, text: string) =>
    JSON.parse((await user.get(suggest(name, text))).text) as string[];
  assert.deepEqual(await ask("gp_name", "nor"), ["Northwind Residential Partners"]);
  assert.deepEqual(await ask("gp_name", "stone"), [
    "Stonehaven Realty",
    "Blackstone Ridge Capital",
  ]);
  assert.deepEqual(await ask("gp_name", "n"), []);
  assert.deepEqual(await ask("market", "dal"), ["Dallas, TX"]);
  assert.deepEqual(await ask("market", "fort worht"), ["Fort Worth", "Fort Worth, TX"]);
  assert.deepEqual(await ask("tag", "re"), ["reg_d_506c", "retail", "core"]);
  assert.deepEqual(await ask("theme", "BUILD to"), ["build_to_rent"]);
  assert.deepEqual(await ask("type", "new_o"), ["new_offering"]);
  for (const name of ["limit", "__proto__", ""]) assert.deepEqual(await ask(name, "a"), []);
  assert.match((await user.get("/account/usage/quota")).text, /"used":"0 of 60"/);
});

test("without records there are no suggestions", async (t) => {
  const { user } = await openPages(t, { records: null });
  assert.equal((await user.get(suggest("gp_name", "kkr"))).text, "[]");
});

onFile("with a script suggestions appear while one types", async (t) => {
  const chrome = await browser(t);
  if (chrome === null) return;
  const { service, user } = await openPages(t);
  const page = await chrome.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  await page
    .context()
    .addCookies(Array.from(user.cookies, ([name, value]) => ({ name, value, url: service.url })));
  await page.goto(`${service.url}/account/browse`);
  await page.locator('[name="gp_name"]').fill("societe");
  const options = page.locator("#gp-names option");
  await options.waitFor({ state: "attached" });
  assert.equal(await options.getAttribute("value"), "Société Générale Immobilier");
  await page.locator('[name="gp_name"]').press("Enter");
  await page.getByRole("heading", { name: /^1 GP/ }).waitFor();
  assert.deepEqual(faults, []);
});
