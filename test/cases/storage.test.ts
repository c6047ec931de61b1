import { test } from "node:test";
import { startOwnProcess } from "../support/own-process.ts";
import { casesOf } from "../support/still-well.ts";
import { slowReaderCase } from "./storage/beside-requests.ts";
import { clockCases } from "./storage/clocks.ts";
import { damagedDatasetCases } from "./storage/damaged.ts";
import { noRoomCases } from "./storage/no-room.ts";
import { serverKilledCase } from "./storage/server-killed.ts";
import { silentClientCases } from "./storage/silent-clients.ts";

slowReaderCase();
damagedDatasetCases();
clockCases();

test("a server in a process of its own, at the end of what it may have, and killed", async (t) => {
  const server = await startOwnProcess(t);
  const caseOf = casesOf(t, server);
  await silentClientCases(t, caseOf, server);
  const assertCounted = await noRoomCases(caseOf, server);
  await serverKilledCase(t, server, assertCounted);
});
