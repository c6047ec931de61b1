import { test } from "node:test";
import { hasOutside } from "../outside/outside.ts";
import { assertNoViolation, checkAnswers } from "../support/random-requests.ts";

test("Prism finds no answer to 500 random requests that openapi.json does not describe", async (t) => {
  if (!hasOutside(t, "@stoplight/prism-cli")) return;
  assertNoViolation(await checkAnswers(t, 20261123, 500), 500);
});
