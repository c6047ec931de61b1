import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { uploadPath, uploadType } from "#dashboard/messages.ts";
import { routes } from "#dashboard/screens/index.ts";
import { controlFile, usageFile } from "#store/sqlite-file.ts";
import { listed } from "../../support/awkward/words.ts";
import { browser } from "../../support/browser.ts";
import { createKey, orderKey } from "../../support/key-forms.ts";
import { accountOf } from "../../support/own-account.ts";
import { startService, type TestService } from "../../support/service.ts";
import { putRequests, request } from "../../support/usage.ts";
import {
  hiddenFields,
  openUser,
  signedIn,
  testPassword,
  type TestUser,
} from "../../support/user.ts";

/** Everything that is stored, row by row. */
function stored({ dataDir }: TestService): string {
  return [controlFile(dataDir), usageFile(dataDir)]
    .map((file) => {
      const database = new DatabaseSync(file, { readOnly: true });
      const tables = database.prepare("select name from sqlite_schema where type = 'table'").all();
      const rows = tables.map(({ name }) =>
        database.prepare(`select * from "${String(name)}"`).all(),
      );
      database.close();
      return JSON.stringify([tables, rows]);
    })
    .join();
}

/** With something in place of the names. */
const pathsWith = (method: "GET" | "POST") =>
  routes
    .filter((one) => one[method] !== undefined)
    .map(({ path }) => path.replaceAll(/\{\w+\}/g, "x1"));

const form = "application/x-www-form-urlencoded";
const forgeries: Readonly<Record<string, Record<string, string>>> = {
  "a form of another site": { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  "a form of a neighbour's": { "sec-fetch-site": "same-site" },
  "plain text of a browser that sends no fetch metadata": {
    "content-type": "text/plain",
    origin: "https://evil.example",
  },
  "no origin at all": {},
  "the origin null": { origin: "null" },
};

test("C90 · whatever does not come from our own pages is a 403 on every path that takes a form, and looking changes nothing", async (t) => {
  const service = await startService(t, { settings: { SIGN_UP: "open" } });
  const ada = await signedIn(service);
  const everyField = {
    email: "ada@example.org",
    password: "correct horse battery staple",
    name: "forged",
  };
  const before = stored(service);
  const paths = pathsWith("POST");
  assert.ok(paths.length > 20, String(paths.length));
  for (const path of paths)
    for (const [kind, headers] of Object.entries(forgeries)) {
      const cookie = Array.from(ada.cookies, ([name, value]) => `${name}=${value}`).join("; ");
      const answer = await fetch(service.url + path, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": form, ...headers, cookie },
        body: new URLSearchParams(everyField).toString(),
      });
      assert.equal(answer.status, 403, `${kind} to ${path}`);
      assert.deepEqual(answer.headers.getSetCookie(), [], path);
    }
  for (const path of paths) {
    const ofOthers = path === uploadPath ? form : `${uploadType}; boundary=x`;
    // A person may send 120 forms a minute, so one path is asked with all of these types.
    const noTypes = path === paths[0] ? ["text/", ";", '"'] : [];
    for (const type of ["text/plain", "application/json", ofOthers, "x", ...noTypes]) {
      const { status, text } = await ada.post(path, {}, { "content-type": type });
      assert.equal(status, 415, `${type} to ${path}`);
      assert.match(text, /<h1>The body is of a type that is not read here<\/h1>/);
    }
  }
  for (const path of pathsWith("GET")) {
    const { status } = await ada.get(`${path}?token=x&email=ada@example.org`);
    assert.ok(status < 500, `${path} ${status}`);
  }
  assert.equal(stored(service), before);
});

test("C90 · a form of ours is taken from browsers that send no fetch metadata but their origin", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service);
  const renamed = async (origin: string) => {
    const cookie = Array.from(ada.cookies, ([name, value]) => `${name}=${value}`).join("; ");
    const headers = { "content-type": form, origin, cookie };
    const init = { method: "POST", redirect: "manual", headers, body: "name=mine" } as const;
    return (await fetch(`${service.url}/account/settings/name`, init)).status;
  };
  assert.equal(await renamed(service.url), 303);
  assert.equal(await renamed(service.url.replace("127.0.0.1", "localhost")), 403);
  assert.equal(await renamed("http://127.0.0.1:1"), 403);
});

const image = `<img src=x onerror="document.title='run'">`;
const template = "{{7*7}}${7*7}";
const paths = ["keys", "usage", "requests", "notices", "members", "settings"];
const address = "{{7*7}}@example.org";

/** Somebody whose every text is hostile: address, account, keys. */
async function hostile(service: TestService): Promise<{ eve: TestUser; ids: string[] }> {
  const eve = await signedIn(service, { email: address, accountName: `"><script>1</script>` });
  const ids: string[] = [];
  for (const name of [image, template]) ids.push((await createKey(eve, { name })).id);
  const { number: account } = await accountOf(service, address);
  await putRequests(
    service.dataDir,
    ids.map((key) => request({ account, key, query: image, at: service.clock.now() - 1000 })),
  );
  return { eve, ids };
}

test("C92 · labels and addresses that would be markup or templates are shown as text, and no script but ours could run", async (t) => {
  const service = await startService(t);
  const { eve, ids } = await hostile(service);
  const pages = [...paths, ...ids.map((id) => `keys/${id}`)];
  for (const path of pages) {
    const { status, text, headers } = await eve.get(`/account/${path}`);
    assert.equal(status, 200, path);
    assert.doesNotMatch(text, /<img src=x|<script>|>49|49@/, path);
    assert.match(text, /&#34;&gt;&lt;script&gt;/, path);
    const policy = headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|data:(?!;)[^;]*script/);
  }
  const { text } = await eve.get("/account/keys");
  assert.ok(text.includes("&lt;img src=x onerror=&#34;document.title=&#39;run&#39;&#34;&gt;"));
  assert.ok(text.includes(template));
  // A long address may break before its @.
  assert.ok(text.replaceAll("<wbr />", "").includes(address));

  const long = image.repeat(250);
  const refused = await orderKey(eve, { name: long });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /at most 100 characters/);
  assert.doesNotMatch(refused.text, /<img src=x/);
  for (const email of [image, long, `${image}@example.org`]) {
    const again = await openUser(service).post("/account/sign-in", { email, password: "no" });
    assert.equal(again.status, 401);
    assert.doesNotMatch(again.text, /<img src=x/);
    assert.match(again.text, /&lt;img src=x/);
  }
});

test("C92 · in a browser nothing of it runs", async (t) => {
  const chromium = await browser(t);
  if (chromium === null) return;
  const service = await startService(t);
  const { eve, ids } = await hostile(service);
  const context = await chromium.newContext();
  await context.addCookies(
    Array.from(eve.cookies, ([name, value]) => ({ name, value, url: service.url })),
  );
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("console", (message) => void errors.push(message.text()));
  page.on("pageerror", (error) => void errors.push(error.message));
  for (const path of [...paths, `keys/${ids[0]}`]) {
    await page.goto(`${service.url}/account/${path}`);
    assert.match(await page.title(), / · gp-records$/, path);
    assert.equal(await page.locator("img:not([src^='/assets/icon.'])").count(), 0, path);
  }
  assert.deepEqual(errors, []);
});

const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

test("C94 · no other site reads the account pages or frames them, and signing in leads to our own pages alone", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service);
  const paths = routes.map(({ path }) => path.replaceAll(/\{\w+\}/g, "x1"));
  for (const path of new Set([...paths, "/account/nowhere"])) {
    const page = await ada.get(path, evil);
    const cors = [...page.headers.keys()].filter((name) => name.startsWith("access-control-"));
    assert.deepEqual(cors, [], path);
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /frame-ancestors 'none'/, path);
    assert.match(policy, /default-src 'none'/, path);
    assert.equal(page.headers.get("cache-control"), "no-store", path);
    assert.equal(page.headers.get("referrer-policy"), "no-referrer", path);
  }
  const preflight = await fetch(`${service.url}/account/keys`, {
    method: "OPTIONS",
    headers: { ...evil, "access-control-request-method": "POST" },
  });
  assert.equal(preflight.headers.get("access-control-allow-origin"), null);

  const user = openUser(service);
  const elsewhere = listed(`
    https://evil.example //evil.example /\\evil.example /account//evil.example /account/../../evil
    /accountant javascript:alert(1)
  `);
  for (const next of [...elsewhere, "/account\r\nSet-Cookie: x=1", ""]) {
    const { text } = await user.get(`/account/sign-in?next=${encodeURIComponent(next)}`);
    assert.equal(hiddenFields(text, "/account/sign-in")["next"], "/browse/gps", next);
    const fields = { email: "ada@example.org", password: testPassword, next };
    const { status, location } = await user.post("/account/sign-in", fields);
    assert.deepEqual([status, location], [303, "/browse/gps"], next);
  }
  const fields = { email: "ada@example.org", password: testPassword, next: "/account/usage" };
  assert.equal((await user.post("/account/sign-in", fields)).location, "/account/usage");
});
