import { test } from "node:test";
import { hasOutside } from "../outside/outside.ts";
import { assertNoViolation, checkAnswers } from "../support/random-requests.ts";

test("Prism finds no answer to 5,000 random requests that openapi.json does not describe", async (t) => {
  if (!hasOutside(t, "@stoplight/prism-cli")) return;
  const seed = Number(process.env["SEED"] ?? 1);
  t.diagnostic(`seed ${seed}`);
  assertNoViolation(await checkAnswers(t, seed, 5000), 5000);
});
