import assert from "node:assert/strict";
import { test } from "node:test";
import { listAudit } from "#store/audit.ts";
import { filesUnder } from "../../support/files-under.ts";
import { keysIn } from "../../support/key-forms.ts";
import { withControl } from "../../support/own-account.ts";
import { startService } from "../../support/service.ts";
import { hiddenFields, type Page, signedIn } from "../../support/user.ts";

test("C95 · a whole key stands in exactly one answer: not in its reload, not on the way back, in no list, audit entry, log line or file", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service);
  const answers: Page[] = [];
  const shown = (page: Page) => {
    answers.push(page);
    assert.equal(page.headers.get("cache-control"), "no-store");
    return keysIn(page.text);
  };
  const fieldsOf = async (path: string, action: string) =>
    hiddenFields((await ada.get(path)).text, action);

  const order = { ...(await fieldsOf("/account/keys", "/account/keys")), name: "a", expiry: "30" };
  const [key, ...more] = shown(await ada.post("/account/keys", order));
  assert.deepEqual(more, []);
  const reload = await ada.post("/account/keys", order);
  assert.equal(reload.status, 409);
  assert.deepEqual(shown(reload), []);
  assert.match(reload.text, /was made already.*shown once/s);
  const id = /\/account\/keys\/(key_\w+)/.exec(reload.text)![1]!;

  const path = `/account/keys/${id}`;
  const turn = { ...(await fieldsOf(path, `${path}/rotate`)), overlap: "3600000" };
  const [fresh] = shown(await ada.post(`${path}/rotate`, turn));
  assert.ok(fresh !== undefined && fresh !== key);
  assert.deepEqual(shown(await ada.post(`${path}/rotate`, turn)), []);

  for (const back of [
    "keys",
    `keys/${id}`,
    "usage",
    "requests",
    "requests.csv",
    "notices",
    "export",
    "settings",
  ])
    assert.deepEqual(shown(await ada.get(`/account/${back}`)), [], back);
  assert.equal(answers.filter(({ text }) => text.includes(key!)).length, 1);

  await service.get("/fetch-projects?limit=1", { "x-api-key": key! });
  const audit = await withControl(service, ({ database }) => listAudit(database, { limit: 1000 }));
  assert.ok(audit.some(({ action, subject }) => action === "key.created" && subject === id));
  assert.deepEqual(keysIn(JSON.stringify(audit)), []);
  assert.deepEqual(keysIn(service.log.join("")), []);
  await service.stop();
  for (const [file, bytes] of filesUnder(service.dataDir))
    for (const secret of [key!, fresh!]) assert.equal(bytes.includes(secret), false, file);
});
