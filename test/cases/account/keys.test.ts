import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { test } from "node:test";
import { listAudit } from "#store/audit.ts";
import { requirePerson } from "#accounts/people.ts";
import { listed } from "../../support/awkward/words.ts";
import { filesUnder } from "../../support/files-under.ts";
import { createKey, keysIn, orderRotation, shownKey } from "../../support/key-forms.ts";
import { accountOf, withControl } from "../../support/own-account.ts";
import { startService } from "../../support/service.ts";
import { hiddenFields, type Page, signedIn } from "../../support/user.ts";

test("C40 · a key that is revoked by the page is refused from the next request on, also on a connection that is kept busy", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service);
  const { id, key } = await createKey(ada);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const sockets = new Set<unknown>();
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const url = `${service.url}/fetch-projects?limit=1`;
      const sent = get(url, { agent, headers: { "x-api-key": key } }, (answer) => {
        sockets.add(answer.socket.localPort);
        answer.resume().on("end", () => resolve(answer.statusCode!));
      });
      sent.on("error", reject);
    });

  assert.equal(await ask(), 200);
  let isRevoked = false;
  const after: number[] = [];
  const busy = (async () => {
    while (after.length < 3) {
      const isAfter = isRevoked;
      const status = await ask();
      if (isAfter) after.push(status);
    }
  })();
  const path = `/account/keys/${id}`;
  const { status, location } = await ada.submit(path, `${path}/revoke`);
  isRevoked = true;
  await busy;
  assert.deepEqual([status, location], [303, `${path}?done=revoked`]);
  assert.deepEqual(after, [401, 401, 401]);
  assert.equal(sockets.size, 1);
  const again = await ada.post(`${path}/revoke`, {});
  assert.equal(again.status, 303);
  const { text } = await ada.get(path);
  assert.match(text, /revoked <time/);
  assert.doesNotMatch(text, /Revoke key|Rotate key/);
});

test("C41 · a key that is rotated by the page works beside the new one until the stated moment, on one quota, and not a second longer", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service);
  const old = await createKey(ada, { name: "nightly", expiry: "30" });
  const fresh = shownKey(await orderRotation(ada, old.id, "3600000"));
  assert.notEqual(fresh.key, old.key);
  assert.match(fresh.page.text, /The old key works until 2026-11-21 10:00:00 UTC/);
  assert.match(fresh.page.text, /<time datetime="2026-12-21T09:00:00.000Z"/);

  const ask = async ({ key }: { key: string }) => {
    const answer = await service.get("/fetch-projects?limit=1", { "x-api-key": key });
    const left = /"minute";r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1];
    return [answer.status, left ?? answer.body.code];
  };
  assert.deepEqual(await ask(old), [200, "59"]);
  assert.deepEqual(await ask(fresh), [200, "58"]);
  service.clock.advance(3599);
  assert.deepEqual(await ask(old), [200, "59"]);
  service.clock.advance(1);
  assert.deepEqual(await ask(old), [401, "api-key-expired"]);
  assert.deepEqual(await ask(fresh), [200, "58"]);
});

test("C41 · a key is rotated once: another time, and with any other overlap, it is refused and no key is shown", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service);
  const { id } = await createKey(ada);
  const path = `/account/keys/${id}`;
  const send = async (fields: Record<string, string>) => {
    const page = await ada.post(`${path}/rotate`, fields);
    assert.deepEqual(keysIn(page.text), []);
    return page.status;
  };
  const form = "A".repeat(43);
  for (const overlap of ["", "1", "-1", "604800001", "1e9", "NaN"])
    assert.equal(await send({ form, overlap }), 400, overlap);
  assert.equal(await send({ overlap: "0" }), 400);
  assert.equal((await ada.post(`${path}/rotate`, { form, overlap: "0" })).status, 200);
  assert.equal(await send({ form, overlap: "0" }), 409);
  assert.equal(await send({ form: "B".repeat(43), overlap: "0" }), 409);
});

test("C93 · the key of another account is a 404 like one that never was, nothing happens to it, and the audit log has who asked", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service, { email: "ada@example.org" });
  const eve = await signedIn(service, { email: "eve@example.org" });
  const { id, key } = await createKey(ada, { name: "secret project" });

  const form = "A".repeat(43);
  const ways = (of: string) => [
    () => eve.get(`/account/keys/${of}`),
    () => eve.post(`/account/keys/${of}/revoke`, {}),
    () => eve.post(`/account/keys/${of}/rotate`, { form, overlap: "0" }),
    () => eve.post(`/account/keys/${of}/rename`, { name: "mine" }),
  ];
  const never = ways("key_0000000000000000");
  for (const [i, ask] of ways(id).entries()) {
    const foreign = await ask();
    assert.equal(foreign.status, 404);
    const unknown = await never[i]!();
    assert.equal(foreign.status, unknown.status);
    assert.equal(foreign.text, unknown.text.replaceAll("key_0000000000000000", id));
    assert.doesNotMatch(foreign.text, /secret project/);
  }

  assert.equal((await service.get("/fetch-projects?limit=1", { "x-api-key": key })).status, 200);
  assert.match((await ada.get(`/account/keys/${id}`)).text, /<h1>secret project</);
  const entries = await withControl(service, async ({ database }) => {
    const { id: actor } = await requirePerson(database, "eve@example.org");
    return listAudit(database, { actor, action: "key.foreign", limit: 10 });
  });
  const { id: asker } = await accountOf(service, "eve@example.org");
  const noted = entries.map(({ account, subject }) => [account, subject]);
  assert.deepEqual(noted, Array(never.length).fill([asker, id]));
});

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
  assert.match(reload.text, /has already been created.*shown once/s);
  const id = /\/account\/keys\/(key_\w+)/.exec(reload.text)![1]!;

  const path = `/account/keys/${id}`;
  const turn = { ...(await fieldsOf(path, `${path}/rotate`)), overlap: "3600000" };
  const [fresh] = shown(await ada.post(`${path}/rotate`, turn));
  assert.ok(fresh !== undefined && fresh !== key);
  assert.deepEqual(shown(await ada.post(`${path}/rotate`, turn)), []);

  const others = listed("usage requests requests.csv notices export settings");
  for (const back of ["keys", `keys/${id}`, ...others])
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
