import { test } from "node:test";
import { startService } from "../support/service.ts";
import { casesOf, inThisProcess } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lineCases } from "./imports/lines.ts";
import { tableCases } from "./imports/tables.ts";
import { valueCases } from "./imports/values.ts";
import { openWorkplace } from "./imports/workplace.ts";

test("what is imported, beside a service that runs", async (t) => {
  const started = await startService(t);
  const { key } = await started.newKey({ quotas: { minute: 10_000, hour: 10_000 } });
  const service = { ...started, key };
  const workplace = openWorkplace(service.dataDir, temporaryFolder(t));
  const caseOf = casesOf(t, inThisProcess(service));
  await tableCases(caseOf, workplace);
  await lineCases(caseOf, workplace);
  await valueCases(caseOf, service, workplace);
});
