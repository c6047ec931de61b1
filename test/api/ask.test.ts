import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ApiDependencies, openApi, type Outcome, type Question } from "#api/ask.ts";
import type { Client } from "#api/caller.ts";
import { readConfig } from "#config.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import type { Counters } from "#limits/counters.ts";
import { pageLinks } from "#http/operation-routes.ts";
import { openFailedKeys } from "#limits/failed-keys.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { json } from "#operations/formats.ts";
import { fetchGp } from "#operations/fetch-gp.ts";
import { fetchSignals } from "#operations/fetch-signals.ts";
import { operations } from "#operations/index.ts";
import { filters, type Operation, optional, type Query } from "#operations/operation.ts";
import { Problem } from "#problems.ts";
import { cast } from "../support/cast.ts";
import { modelOf, openCurrent } from "../support/dataset.ts";
import { fixedClock, startService } from "../support/service.ts";

const nobody: Client = {
  address: () => "192.0.2.7",
  isForwarded: () => false,
  misplacedKey: () => undefined,
};
const account = {
  id: "key_1",
  accountNumber: 7,
  quotas: { minute: 2, hour: null, day: null },
};

async function openTestApi(t: TestContext, otherwise: Partial<ApiDependencies> = {}) {
  const clock = fixedClock();
  const model = await modelOf(t, cast);
  const steps: string[] = [];
  const counters = openMemoryCounters({ dir: null, clock, onFault() {} });
  const api = openApi({
    operations,
    pageSizeMax: readConfig({}).pageSizeMax,
    cacheBytes: 1024 * 1024,
    accountUrl: null,
    verifyKey() {
      throw new Problem("api-key-invalid", "No.", { reason: "unknown" });
    },
    noteKeyUse: () => void steps.push("key"),
    failedKeys: openFailedKeys({ clock }),
    counters: {
      take(number, quotas) {
        steps.push("quota");
        return counters.take(number, quotas);
      },
      look: counters.look,
    },
    model() {
      steps.push("dataset");
      return model;
    },
    ...otherwise,
  });
  const ask = (text: string, more: Partial<Question> = {}) =>
    api.ask({
      caller: { account },
      operation: fetchGp,
      text,
      chooseFormat() {
        steps.push("format");
        return json;
      },
      ...more,
    });
  return { api, ask, steps };
}

const resultOf = async (outcome: Outcome | Promise<Outcome>) => (await outcome).result;
const codeOf = (result: Outcome["result"]) =>
  result.kind === "problem" ? result.problem.code : result.kind;

test("a question is checked in the order of the contract, and what is refused looks no further", async (t) => {
  const { ask, steps } = await openTestApi(t);
  assert.equal(codeOf(await resultOf(ask("gp_name=kkr"))), "answer");
  assert.deepEqual(steps.splice(0), ["quota", "format", "dataset"]);
  assert.equal(codeOf(await resultOf(ask("limit=0"))), "invalid-parameters");
  assert.deepEqual(steps.splice(0), ["quota", "format"]);
  assert.equal(codeOf(await resultOf(ask("gp_name=kkr"))), "quota-exceeded");
  assert.deepEqual(steps.splice(0), ["quota"]);
  const refused = ask("gp_name=kkr", { caller: { key: null, client: nobody } });
  assert.equal(codeOf(await resultOf(refused)), "api-key-missing");
  assert.deepEqual(steps.splice(0), []);
});

test("whatever is refused after the key still tells where the account stands", async (t) => {
  const { ask } = await openTestApi(t);
  const outcomes = [
    ask("limit=0"),
    ask("gp_name=kkr", { chooseFormat: () => undefined }),
    ask("gp_name=kkr"),
  ] as Outcome[];
  assert.deepEqual(
    outcomes.map(({ counted, result }) => [codeOf(result), counted?.status.windows[0]?.remaining]),
    [
      ["invalid-parameters", 1],
      ["not-acceptable", 0],
      ["quota-exceeded", 0],
    ],
  );
});

test("a declared filter reaches the search, the links and the entity tag", async (t) => {
  Object.assign(filters, { vintage: { ...filters.tag, member: "vintage" } });
  t.after(() => Reflect.deleteProperty(filters, "vintage"));
  const asked: Query["filter"][] = [];
  const operation: Operation = {
    ...fetchSignals,
    filters: { ...fetchSignals.filters, vintage: optional } as Operation["filters"],
    select(model, query) {
      asked.push(query.filter);
      return fetchSignals.select(model, query);
    },
  };
  const { ask } = await openTestApi(t, { operations: [operation] });
  const answerTo = async (text: string) => {
    const caller = { account: { ...account, quotas: { ...account.quotas, minute: 9 } } };
    const result = await resultOf(ask(text, { operation, caller }));
    assert.ok(result.kind === "answer", codeOf(result));
    return result.answer;
  };
  const tags = new Set<string>();
  for (const text of ["", "vintage=2020", "vintage=2021", "vintage=2021&vintage=2020"])
    tags.add((await answerTo(text)).tag);
  assert.equal(tags.size, 4);
  assert.deepEqual(asked.at(-1), { name: undefined, vintage: ["2020", "2021"] });
  assert.match(
    pageLinks(await answerTo("vintage=2020&gp_name=kkr"), null),
    /^<\/fetch-signals\?gp_name=kkr&vintage=2020&limit=20&offset=0>; rel="first"/,
  );
});

test("a mistake of ours is an outcome too, with what was thrown", async (t) => {
  const mistake = new Error("out of order");
  const { ask } = await openTestApi(t, {
    model() {
      throw mistake;
    },
  });
  const { counted, result } = ask("gp_name=kkr") as Outcome;
  assert.ok(counted !== null && result.kind === "problem");
  assert.deepEqual([result.problem.code, result.cause], ["internal-error", mistake]);
});

test("the embedded counters and keys cost no promise", async (t) => {
  const { api, ask } = await openTestApi(t);
  assert.ok(!(ask("gp_name=kkr") instanceof Promise));
  assert.ok(!(api.identify("gpr_x", nobody) instanceof Promise));
});

test("counters and keys that are asked over a network give the same outcomes", async (t) => {
  const memory = openMemoryCounters({ dir: null, clock: fixedClock(), onFault() {} });
  const counters: Pick<Counters, "take" | "look"> = {
    take: async (number, quotas) => memory.take(number, quotas),
    look: async (number, quotas) => memory.look(number, quotas),
  };
  const far = await openTestApi(t, {
    counters,
    verifyKey: () => Promise.reject(new Problem("api-key-invalid", "No.", { reason: "unknown" })),
  });
  const near = await openTestApi(t);
  for (const text of ["gp_name=kkr", "limit=0", "gp_name=kkr"]) {
    const [one, other] = [await far.ask(text), await near.ask(text)];
    assert.deepEqual(one.counted, other.counted);
    assert.equal(codeOf(one.result), codeOf(other.result));
    const [seen, alsoSeen] = [await far.api.look({ account }), await near.api.look({ account })];
    assert.deepEqual(seen.counted, alsoSeen.counted);
    assert.deepEqual(
      seen.counted!.status.windows.map(({ remaining }) => remaining),
      one.counted!.status.windows.map(({ remaining }) => remaining),
    );
  }
  const refused = await far.api.identify("gpr_x", nobody);
  assert.ok(refused.key instanceof Problem);
});

test("a request that cannot be counted is refused, and known by its account", async (t) => {
  const { ask } = await openTestApi(t, {
    counters: {
      take: () => Promise.reject(new Error("The counters are away.")),
      look: () => Promise.reject(new Error("Nobody looks.")),
    },
  });
  const { asker, counted, result } = await ask("gp_name=kkr");
  assert.deepEqual([asker?.accountNumber, counted], [account.accountNumber, null]);
  assert.ok(result.kind === "problem");
  assert.deepEqual([result.problem.status, result.problem.members["reason"]], [503, "store_down"]);
});

test("a call over HTTP and a direct one give the same bytes", async (t) => {
  const { get, dataDir } = await startService(t);
  const model = openCurrent(openCatalogue(join(dataDir, "datasets")));
  const { ask } = await openTestApi(t, { model: () => model });
  for (const query of ["gp_name=northwind&limit=1", "gp_name=zzz"]) {
    const { text } = await get(`/fetch-gp?${query}`);
    const result = await resultOf(ask(query));
    assert.ok(result.kind === "answer");
    assert.equal(result.answer.body.toString(), text);
  }
});
