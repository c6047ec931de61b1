import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { routes } from "#dashboard/screens/index.ts";
import { controlFile, usageFile } from "#store/sqlite-file.ts";
import { startService, type TestService } from "../../support/service.ts";
import { signedIn } from "../../support/user.ts";

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
  for (const path of paths)
    for (const type of ["text/plain", "application/json", "multipart/form-data; boundary=x", "x"]) {
      const { status, text } = await ada.post(path, {}, { "content-type": type });
      assert.equal(status, 415, `${type} to ${path}`);
      assert.match(text, /<h1>The body is of a type that is not read here<\/h1>/);
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
