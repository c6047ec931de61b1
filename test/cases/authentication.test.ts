import { test } from "node:test";
import { startService } from "../support/service.ts";
import { casesOf, inThisProcess } from "../support/still-well.ts";
import { keyPlaceCases } from "./authentication/key-places.ts";
import { keyCases } from "./authentication/keys.ts";
import { noKeyCases } from "./authentication/no-key.ts";
import { storeAwayCases } from "./authentication/store-away.ts";
import { failingCases, statusCases } from "./parsing/statuses.ts";

test("who asks, and what everybody is told", async (t) => {
  const started = await startService(t);
  const { key } = await started.newKey({ quotas: { minute: 10_000, hour: 10_000 } });
  const service = { ...started, key };
  // The thread of the account pages starts with the first request for one, and keeps its stores open.
  await service.get("/account/keys", { host: "localhost" });
  const caseOf = casesOf(t, inThisProcess(service));
  await keyCases(caseOf, service);
  await keyPlaceCases(caseOf, service);
  await noKeyCases(caseOf, service);
  await statusCases(caseOf, service);
  await storeAwayCases(caseOf, service);
  await failingCases(t, service);
});
