import { test } from "node:test";
import { roomy } from "../support/own-process.ts";
import { startService } from "../support/service.ts";
import { casesOf, inThisProcess } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lineCases } from "./imports/lines.ts";
import { tableCases } from "./imports/tables.ts";
import { openWorkplace } from "./imports/workplace.ts";
import { besideRequestsCases } from "./storage/beside-requests.ts";

test("what is imported, beside a service that runs", async (t) => {
  const started = await startService(t);
  const { key } = await started.newKey({ quotas: roomy });
  const service = { ...started, key };
  const folder = temporaryFolder(t);
  const workplace = openWorkplace(service.dataDir, folder);
  const caseOf = casesOf(t, inThisProcess(service));
  await tableCases(caseOf, workplace);
  await lineCases(caseOf, workplace);
  await besideRequestsCases(caseOf, service, workplace, folder);
});
