import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { readConfig } from "#config.ts";
import { openAnswerCache, type SentBody } from "#gateway/answer-cache.ts";
import {
  type Caller,
  type Client,
  type GatewayDependencies,
  openGateway,
  type Outcome,
} from "#gateway/gateway.ts";
import { openOperations } from "#gateway/read-operation.ts";
import type { ReadDependencies } from "#gateway/reads.ts";
import type { LiveKey } from "#keys/key-verifier.ts";
import type { Counters } from "#limits/counters.ts";
import { failedKeys, openKeyedLimit } from "#limits/keyed-limit.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { quotaProblem } from "#limits/quota-problem.ts";
import { fetches } from "#operations/fetches.ts";
import { json } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { Problem } from "#problems.ts";
import { cast } from "../support/cast.ts";
import { modelOf } from "../support/dataset.ts";
import { clockOf, openWorld, second } from "../support/limits-world.ts";
import { fixedClock } from "../support/service.ts";

const nobody: Client = {
  address: () => "192.0.2.7",
  isForwarded: () => false,
  misplacedKey: () => undefined,
};
const account: LiveKey = {
  id: "key_1",
  accountNumber: 7,
  hint: "gpr_test",
  quotas: { minute: 2, hour: null, day: null },
  mayReadChanges: true,
  isDemo: false,
};

async function openTestGateway(
  t: TestContext,
  otherwise: Partial<GatewayDependencies & ReadDependencies> = {},
) {
  const clock = fixedClock();
  const model = await modelOf(t, cast);
  const gateway = openGateway({
    accountUrl: null,
    isSignUpOpen: false,
    verifyKey() {
      throw new Problem("api-key-invalid", "No.", { reason: "unknown" });
    },
    noteKeyUse() {},
    failedKeys: openKeyedLimit([failedKeys], clock),
    counters: openMemoryCounters(clock),
    ...otherwise,
  });
  const answers = openOperations({
    operations,
    pageSizeMax: readConfig({}).pageSizeMax,
    publicUrl: null,
    cache: openAnswerCache(1024 * 1024),
    model: () => model,
    ...otherwise,
  });
  const ask = (text: string, caller: Caller = { key: account, client: nobody }) =>
    gateway.counted({ caller }, () => answers.find(fetches.gp, text, json));
  return { gateway, ask };
}

type Answered = Outcome<SentBody>;
const codeOf = (result: Answered["result"]) =>
  result.kind === "problem" ? result.problem.code : result.kind;

test("who sends no key is told how to get one here", async (t) => {
  const told = async (service: Partial<GatewayDependencies>) => {
    const { ask } = await openTestGateway(t, service);
    const { result } = await ask("gp_name=kkr", { key: null, client: nobody });
    return result.kind === "problem" ? result.problem.message : "";
  };
  const accountUrl = "https://gp.example/account";
  assert.match(await told({}), /ask the operator of this service for one\.$/);
  assert.match(await told({ accountUrl }), /sign in at https:\/\/gp\.example\/account and create/);
  assert.match(
    await told({ accountUrl, isSignUpOpen: true }),
    /sign up at https:\/\/gp\.example\/account\/sign-up and create one\.$/,
  );
});

test("a mistake of ours is an outcome too, with what was thrown", async (t) => {
  const mistake = new Error("out of order");
  const { ask } = await openTestGateway(t, {
    model() {
      throw mistake;
    },
  });
  const { counted, result } = ask("gp_name=kkr") as Answered;
  assert.ok(counted !== null && result.kind === "problem");
  assert.deepEqual([result.problem.code, result.cause], ["internal-error", mistake]);
});

test("the embedded counters and keys cost no promise", async (t) => {
  const { gateway, ask } = await openTestGateway(t);
  assert.ok(!(ask("gp_name=kkr") instanceof Promise));
  assert.ok(!(gateway.identify("gpr_x", nobody) instanceof Promise));
});

test("counters and keys that are asked over a network give the same outcomes", async (t) => {
  const memory = openMemoryCounters(fixedClock());
  const counters: Pick<Counters, "take" | "look"> = {
    take: async (number, quotas) => memory.take(number, quotas),
    look: async (number, quotas) => memory.look(number, quotas),
  };
  const far = await openTestGateway(t, {
    counters,
    verifyKey: () => Promise.reject(new Problem("api-key-invalid", "No.", { reason: "unknown" })),
  });
  const caller = { key: account, client: nobody };
  const near = await openTestGateway(t);
  for (const text of ["gp_name=kkr", "limit=0", "gp_name=kkr"]) {
    const [one, other] = [await far.ask(text), await near.ask(text)];
    assert.deepEqual(one.counted, other.counted);
    assert.equal(codeOf(one.result), codeOf(other.result));
    const [seen, alsoSeen] = [await far.gateway.look(caller), await near.gateway.look(caller)];
    assert.deepEqual(seen.counted, alsoSeen.counted);
    const [left, leftBefore] = [seen, one].map(({ counted }) =>
      counted!.status.windows.map(({ remaining }) => remaining),
    );
    assert.deepEqual(left, leftBefore);
  }
  const refused = await far.gateway.identify("gpr_x", nobody);
  assert.ok(refused.key instanceof Problem);
});

test("a request that cannot be counted is refused, and known by its account and its key", async (t) => {
  const noteKeyUse = t.mock.fn<GatewayDependencies["noteKeyUse"]>();
  const { ask } = await openTestGateway(t, {
    noteKeyUse,
    counters: {
      take: () => Promise.reject(new Error("The counters are away.")),
      look: () => Promise.reject(new Error("Nobody looks.")),
    },
  });
  const { asker, counted, result } = await ask("gp_name=kkr");
  assert.deepEqual([asker?.accountNumber, counted], [account.accountNumber, null]);
  assert.equal(noteKeyUse.mock.callCount(), 1);
  assert.ok(result.kind === "problem");
  assert.deepEqual([result.problem.status, result.problem.members["reason"]], [503, "store_down"]);
});

test("what is kept takes no more memory than its bytes, and is compressed once for all who ask meanwhile", async () => {
  const cache = openAnswerCache(1024 * 1024);
  const answer: SentBody = {
    tag: 'W/"1-a"',
    datasetVersion: "1",
    body: Buffer.from("stone ".repeat(300)),
    encoded: {},
    headers: "",
  };
  cache.add(answer);
  for (const encoding of ["br", "gzip"] as const) {
    const compressing = cache.bodyOf(answer, encoding);
    assert.equal(cache.bodyOf(answer, encoding), compressing);
    const body = await compressing;
    assert.equal(body.buffer.byteLength, body.length, encoding);
  }
  const { body } = cache.find(answer.tag)!;
  assert.equal(body.buffer.byteLength, body.length);
  assert.equal(body.toString(), "stone ".repeat(300));
});

test("where several quotas are used up, the one that decides the wait is named, and one request and one second are spoken of as one", () => {
  for (const [seconds, quotas, message, violated] of [
    [
      10,
      { minute: 4, hour: 1000, day: 4 },
      "All 4 requests of this day are used. Try again in 86,390 seconds.",
      ["minute", "day"],
    ],
    [
      59,
      { minute: 1, hour: 5, day: 5 },
      "The one request allowed per minute has been used. Try again in 1 second.",
      ["minute"],
    ],
  ] as const) {
    const world = openWorld();
    const counters = openMemoryCounters(clockOf(world));
    while (counters.take(1, quotas).admitted);
    world.now += seconds * second;
    const problem = quotaProblem(counters.take(1, quotas));
    assert.equal(problem.message, message);
    assert.deepEqual(problem.members["violated-policies"], violated);
  }
});
