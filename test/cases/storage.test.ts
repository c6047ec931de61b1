import { test } from "node:test";
import { roomy, startOwnProcess } from "../support/own-process.ts";
import { startService } from "../support/service.ts";
import { casesOf, inThisProcess } from "../support/still-well.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { besideRequestsCases, slowReaderCase } from "./storage/beside-requests.ts";
import { clockCases } from "./storage/clocks.ts";
import { damagedDatasetCases } from "./storage/damaged.ts";
import { schemaCases } from "./storage/schemas.ts";
import { killedImportCases } from "./storage/killed.ts";
import { noRoomCases } from "./storage/no-room.ts";
import { outOfRoomCases } from "./storage/out-of-room.ts";
import { serverKilledCase } from "./storage/server-killed.ts";
import { silentClientCases } from "./storage/silent-clients.ts";

test("imports beside a service", async (t) => {
  const started = await startService(t);
  const { key } = await started.newKey({ quotas: roomy });
  const service = { ...started, key };
  const folder = temporaryFolder(t);
  const caseOf = casesOf(t, inThisProcess(service));
  await killedImportCases(caseOf, service, folder);
  await outOfRoomCases(caseOf, service, folder);
  await besideRequestsCases(caseOf, service, folder);
});

slowReaderCase();
damagedDatasetCases();
schemaCases();
clockCases();

test("a server in a process of its own, at the end of what it may have, and killed", async (t) => {
  const server = await startOwnProcess(t);
  const caseOf = casesOf(t, server);
  await silentClientCases(t, caseOf, server);
  const assertCounted = await noRoomCases(caseOf, server);
  await serverKilledCase(t, server, assertCounted);
});
