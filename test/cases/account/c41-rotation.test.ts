import assert from "node:assert/strict";
import { test } from "node:test";
import { createKey, keysIn, orderRotation, shownKey } from "../../support/key-forms.ts";
import { startService } from "../../support/service.ts";
import { signedIn } from "../../support/user.ts";

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
