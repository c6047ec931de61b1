import { test } from "node:test";
import { startService } from "../support/service.ts";
import { casesOf, inThisProcess } from "../support/still-well.ts";
import { pageNumberCases } from "./parameters/page-numbers.ts";
import { queryNameCases } from "./parameters/query-names.ts";
import { querySearchCases } from "./parameters/query-search.ts";
import { queryTextCases } from "./parameters/query-texts.ts";
import { records } from "./parameters/records.ts";

test("what is asked for in a query", async (t) => {
  const started = await startService(t, { records });
  const { key } = await started.newKey({ quotas: { minute: 10_000, hour: 10_000 } });
  const service = { ...started, key };
  const caseOf = casesOf(t, inThisProcess(service));
  await pageNumberCases(caseOf, service);
  await queryNameCases(caseOf, service);
  await querySearchCases(caseOf, service);
  await queryTextCases(caseOf, service);
});
