import { test } from "node:test";
import { startOwnProcess } from "../support/own-process.ts";
import { casesOf } from "../support/still-well.ts";
import { connectionCases } from "./parsing/connections.ts";
import { framingCases } from "./parsing/framing.ts";
import { pathCases } from "./parsing/paths.ts";

test("HTTP as it arrives, at a server in a process of its own", async (t) => {
  const service = await startOwnProcess(t);
  const caseOf = casesOf(t, service);
  await framingCases(caseOf, service);
  await pathCases(caseOf, service);
  await connectionCases(caseOf, service);
});
