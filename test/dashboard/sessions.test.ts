import assert from "node:assert/strict";
import { test as onFile } from "node:test";
import { StoreFault } from "#store/domain-error.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { openInsideWorker } from "../support/inside-worker.ts";
import { startService } from "../support/service.ts";
import { openUser, signedIn, testPassword } from "../support/user.ts";

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

test("a person sees the browsers they are signed in with, ends one of them or all, and never somebody else's", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service);
  const bob = await signedIn(service, { email: "bob@example.org" });
  const other = openUser(service);
  const fields = { email: "ada@example.org", password: testPassword };
  await other.post("/account/sign-in", fields, { "user-agent": firefox });

  const { text } = await ada.get("/account/sessions");
  // The third is the one that was signed in by signing up.
  assert.match(text, /You are signed in with 3 browsers/);
  assert.match(text, /127\.0\.0\.1/);
  const [, id = ""] = /Firefox on Linux.*?name="session" value="(se_\w+)"/s.exec(text) ?? [];
  const foreign = await bob.post("/account/sessions", { session: id });
  assert.equal(foreign.status, 404);
  assert.equal((await other.get("/account/settings")).status, 200);

  const ended = await ada.post("/account/sessions", { session: id });
  assert.equal(ended.location, "/account/sessions?done=ended");
  assert.equal((await other.get("/account/settings")).status, 401);
  assert.match((await ada.get("/account/sessions")).text, /You are signed in with 2 browsers/);
  assert.equal((await ada.post("/account/sessions", { session: id })).status, 404);

  const everywhere = await ada.post("/account/sign-out-everywhere", {});
  assert.equal(everywhere.location, "/account/sign-in?done=everywhere");
  assert.equal((await ada.get("/account/sessions")).status, 401);
  assert.equal((await bob.get("/account/sessions")).status, 200);
});

test("after signing in one comes back to the requested page, and never to one that only takes forms", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service);
  await ada.post("/account/sign-out", {});
  const asked = await ada.get("/account/sessions");
  assert.match(asked.text, /name="next" value="\/account\/sessions"/);
  const late = await ada.post("/account/sign-out-everywhere", {});
  assert.match(late.text, /name="next" value="\/account"/);
});

onFile("to whoever signs in a store that is away is not named", async (t) => {
  const inTurn = () =>
    Promise.reject(new StoreFault("busy", "/var/lib/gp-records/control.sqlite is locked."));
  const { post } = await openInsideWorker(t, {}, { passwords: { inTurn } });
  const fields = { email: "ada@example.org", password: testPassword };
  const { status, body } = await post("/account/sign-in", fields);
  assert.equal(status, 503);
  assert.match(body, /cannot read or write its accounts at the moment/);
  assert.doesNotMatch(body, /control\.sqlite/);
});
