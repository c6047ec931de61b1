import assert from "node:assert/strict";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { day, hour, noon } from "../support/control.ts";
import { deprecatedTheme, deprecatedVersion } from "../support/deprecations.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { cookiesOf, openInsideWorker, quotaRpcOver, tokenFor } from "../support/inside-worker.ts";
import { goodPassword } from "../support/people.ts";
import { fixedClock } from "../support/service.ts";
import { putRequests, request } from "../support/usage.ts";

test("the notices tell an account what it still uses of what is deprecated, and its request log finds those requests", async (t) => {
  const ended = { ...deprecatedVersion, since: "2025-10-01", sunset: "2026-11-20" };
  const deprecations = [ended, deprecatedTheme];
  const counters = openMemoryCounters({
    dir: null,
    clock: fixedClock(noon),
    onFault: assert.ifError,
  });
  const others = { deprecations, quotaRpc: quotaRpcOver(counters) };
  const worker = await openInsideWorker(t, {}, others);
  const email = "ada@example.org";
  await worker.post("/account/sign-up", { email });
  const token = tokenFor(worker.messages, email);
  const cookie = cookiesOf(await worker.post("/account/link", { token, password: goodPassword }));
  const read = async (path: string) =>
    (await worker.get(path, { headers: { cookie }, now: noon })).body
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ");
  const account = await worker.control.database
    .selectFrom("account")
    .select("number")
    .executeTakeFirstOrThrow();
  const used = (operation: string, at: number, requestId: string) =>
    putRequests(worker.place, [request({ account: account.number, operation, at, requestId })]);
  await used("fetch-gp", noon - hour, "req_plain");
  await used("fetch-gp?theme", noon - 40 * day, "req_old");
  assert.match(await read("/account/notices"), /Nothing needs you now/);

  await used("fetch-gp?theme", noon - 2 * hour, "req_theme");
  await used("v0/fetch-gp", noon - day, "req_v0a");
  await used("v0/fetch-signals", noon - day, "req_v0b");
  const words = await read("/account/notices");
  assert.match(words, /2 things need you/);
  assert.match(words, /2 requests of the last 30 days used every path under \/v0 ?, which ended/);
  assert.match(
    words,
    /1 request of the last 30 days used the parameter theme of \/fetch-gp ?, which ends .+\. Use tag ?, which finds themes too\. What changes/,
  );
  const found = await read("/account/requests?operation=fetch-gp%3Ftheme");
  assert.match(found, /req_theme|fetch-gp\?theme/);
  assert.doesNotMatch(found, /There is no such operation/);
  assert.match(await read("/account/requests?operation=fetch-gp%3Fmarket"), /There is no such op/);
});
