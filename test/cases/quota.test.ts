import { test } from "node:test";
import { startService } from "../support/service.ts";
import { casesOf, inThisProcess } from "../support/still-well.ts";
import { countedCases } from "./quota/counted.ts";
import { sharedCases } from "./quota/shared.ts";
import { waitCases } from "./quota/waits.ts";

test("what an account may use", async (t) => {
  const service = await startService(t);
  const caseOf = casesOf(t, inThisProcess(service));
  await countedCases(caseOf, service);
  await waitCases(caseOf, service);
  await sharedCases(caseOf, service);
});
