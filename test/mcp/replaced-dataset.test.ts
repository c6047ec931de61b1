import assert from "node:assert/strict";
import { test } from "node:test";
import type { ToolDependencies } from "#mcp/tool.ts";
import { makeTools } from "#mcp/tools.ts";
import { openAnswerCache } from "#gateway/answer-cache.ts";
import { openOperations } from "#gateway/read-operation.ts";
import { operations } from "#operations/index.ts";
import type { Explanation } from "#records/explanation.ts";
import type { ReadModel } from "#search/read-model.ts";
import { gp, signal } from "../datasets/published.ts";
import { modelOf } from "../support/dataset.ts";

/** One tool alone, on the dataset that `model` gives each time it is looked at. */
function toolOn(model: () => ReadModel, name: string, explain: ToolDependencies["explain"]) {
  const answering = {
    cache: openAnswerCache(0),
    operations,
    pageSizeMax: 100,
    publicUrl: null,
    model,
  };
  const tools = makeTools({
    gateway: {
      identify: () => assert.fail("a list looks up no key"),
      look: () => assert.fail("a list looks at no quota"),
      charge: () => assert.fail("a list charges no account without a key"),
      async counted(question, find, cost) {
        cost!(question, { minute: 1, hour: 1, day: 1 });
        return { asker: null, counted: null, result: await find(question) };
      },
    },
    ...answering,
    answers: openOperations(answering),
    changes: { list: () => [], stepPath: () => "", openStep: () => null },
    explain,
  });
  return tools.find((tool) => tool.name === name)!;
}

const caller = {
  key: null,
  client: { address: () => "", isForwarded: () => false, misplacedKey: () => undefined },
};

test("a list that is asked for while another dataset takes over is whole and of the one it names, whenever that happens", async (t) => {
  // So many that a dataset is not read for its lists in one go.
  const namesOf = (word: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${word} ${String(i).padStart(4, "0")}`);
  const datasetOf = async (names: string[]) => {
    const signals = names.map((name) => signal(`of ${name}`, { gps: [name] }));
    return { names, model: await modelOf(t, [...names.map((name) => gp(name)), ...signals]) };
  };
  const before = await datasetOf(namesOf("Before", 2500));
  const after = await datasetOf(namesOf("After", 2490));
  const versionOf = ({ model }: typeof before) => model.parts.version;
  assert.notEqual(versionOf(before), versionOf(after));

  let isOver = false;
  let replacedWhileRead = 0;
  /** The tool has looked at the dataset so often when it is replaced. */
  for (let looks = 1; !isOver; looks++) {
    let looked = 0;
    const model = () => (++looked > looks ? after : before).model;
    const list = toolOn(model, "list_gps", () => assert.fail("a list explains no record"));
    const given = { limit: 100, offset: 2450, signal_date_from: "2026-10", detail: "brief" };
    const { result } = await list.call(caller, given);
    assert.ok(result.kind === "answer");
    const { datasetVersion, content } = result.answer;
    const { data, pagination, meta } = JSON.parse(content);
    isOver = looked <= looks;
    const { names } = isOver ? before : after;
    assert.equal(datasetVersion, versionOf(isOver ? before : after), `after ${looks} looks`);
    assert.equal(meta.dataset_version, datasetVersion);
    assert.equal(pagination.total, names.length);
    assert.equal(pagination.has_more, false);
    const found = data.map(({ name }: { name: string }) => name);
    assert.deepEqual(found, names.slice(2450));
    if (!isOver && looks > 1) replacedWhileRead++;
  }
  assert.ok(replacedWhileRead > 0, "the dataset was read in one go");
});

test("an explanation may come after the memory of its dataset was freed", async (t) => {
  const model = await modelOf(t, [gp("a")]);
  const { version } = model.parts;
  const explain = toolOn(
    () => model,
    "explain",
    async () => {
      model.close();
      return { evidence: [] } as unknown as Explanation;
    },
  );
  const { result } = await explain.call(caller, { id: "gp_0" });
  assert.equal(result.kind === "answer" && result.answer.datasetVersion, version);
});
