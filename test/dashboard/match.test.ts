import assert from "node:assert/strict";
import { test } from "node:test";
import { namesMax } from "#operations/match.ts";
import { filesUnder } from "../support/files-under.ts";
import { openPages, setMinuteQuota, usedOf } from "../support/record-pages.ts";
import type { TestUser } from "../support/user.ts";

const path = "/browse/match";
const boundary = "a-boundary-of-this-test";

interface List {
  names?: string;
  file?: { name: string; text: string };
  format?: "page" | "csv";
}

/** Sends a list as the form of the page does. */
function send(user: TestUser, { names = "", file, format = "page" }: List) {
  const fields = Object.entries({ names, format }).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const upload = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${file?.name ?? ""}"\r\nContent-Type: text/csv\r\n\r\n${file?.text ?? ""}\r\n`;
  return user.sendBody(path, `${fields.join("")}${upload}--${boundary}--\r\n`, {
    "content-type": `multipart/form-data; boundary=${boundary}`,
  });
}

test("a list is matched as a page or as CSV, pasted or sent as a file, for one request for each started 100 names", async (t) => {
  const { user: ada } = await openPages(t);
  const page = await send(ada, {
    names: "northwind residential partners llc\nNobody Of This Name",
  });
  assert.equal(page.status, 200);
  assert.match(page.text, /Sure 1 · Probable 0 · Unsure 0 · No match 1/);
  assert.match(
    page.text,
    /<a href="\/browse\/gps\/gp_\w+" title="Northwind Residential Partners"\s*>Northwind Residential Partners/,
  );
  assert.equal(await usedOf(ada), "1 of 60");
  const names = `Name;City\nNorthwind Residential Partners;\n${"=Nobody;\n".repeat(100)}`;
  const csv = await send(ada, { file: { name: "mine.csv", text: names }, format: "csv" });
  assert.equal(csv.headers.get("content-disposition"), 'attachment; filename="matches.csv"');
  const [, first, second] = csv.text.split("\r\n");
  assert.match(
    first!,
    /^Northwind Residential Partners,,,,,sure,gp_\w+,Northwind Residential Partners/,
  );
  assert.match(second!, /^'=Nobody,,,,,none,,/);
  assert.equal(await usedOf(ada), "3 of 60");
});

test("a list that cannot be matched is a page that says why and keeps what was pasted, and counts nothing", async (t) => {
  const { user: ada } = await openPages(t);
  for (const [list, fault] of [
    [{}, /contains no names/],
    [{ names: "a", file: { name: "b.csv", text: "b" } }, /either names or a file, not both/],
    [{ names: "x\n".repeat(namesMax + 1) }, /at most 5000 names; split/],
    [{ file: { name: "big.csv", text: "x".repeat(1024 * 1024 + 1) } }, /larger than 1 MiB/],
    [{ file: { name: "<b>.csv", text: "\0" } }, /&lt;b&gt;\.csv: is not text/],
    [{ names: 'name\n"<i>' }, /quote that is never closed[^]*name\n&#34;&lt;i&gt;<\/textarea/],
  ] as const) {
    const refused = await send(ada, list);
    assert.equal(refused.status, 400, String(fault));
    assert.match(refused.text, fault);
  }
  const cut = await ada.sendBody(path, `--${boundary}\r\nContent-Disp`, {
    "content-type": `multipart/form-data; boundary=${boundary}`,
  });
  assert.equal(cut.status, 400);
  const large = await send(ada, { names: "x".repeat(1.25 * 1024 * 1024) });
  assert.equal(large.status, 413);
  assert.equal(await usedOf(ada), "0 of 60");
});

test("a list that costs more than is left of the quota is refused before it is matched, and comes back with the time when there is room", async (t) => {
  const { service, user: ada } = await openPages(t);
  await setMinuteQuota(service, 2);
  await send(ada, { names: "x" });
  const names = "x\n".repeat(101);
  const refused = await send(ada, { names });
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  assert.match(refused.text, /The match counts as 2 requests[^]*Try again at\s*<time/);
  assert.ok(refused.text.includes(`${names}</textarea>`));
});

test("a list that is sent while there are no records comes back", async (t) => {
  const { user: ada } = await openPages(t, { records: null });
  const refused = await send(ada, { names: "Northwind" });
  assert.equal(refused.status, 503);
  assert.match(refused.text, /role="alert"[^]*Northwind<\/textarea>/);
});

test("a list counts as no more requests than the smallest quota has, so that any list can be matched", async (t) => {
  const { service, user: ada } = await openPages(t);
  await setMinuteQuota(service, 2);
  assert.equal((await send(ada, { names: "x\n".repeat(1001) })).status, 200);
  assert.equal(await usedOf(ada), "2 of 2");
});

test("no name of a list is kept in the data folder or logged", async (t) => {
  const { service, user: ada } = await openPages(t);
  const name = "Zebulon Quartermain Holdings";
  for (const format of ["page", "csv"] as const)
    assert.match((await send(ada, { names: name, format })).text, /Zebulon/);
  await send(ada, { names: `name\n"${name}` });
  assert.doesNotMatch(service.log.join("\n"), /zebulon/i);
  const files = filesUnder(service.dataDir);
  assert.ok(files.length > 3);
  for (const [file, bytes] of files)
    assert.doesNotMatch(bytes.toString("latin1"), /zebulon/i, file);
});
