import assert from "node:assert/strict";
import { test } from "node:test";
import { mintId } from "#datasets/draft-record.ts";
import { cast } from "../support/cast.ts";
import { temporaryCatalogue } from "../support/dataset.ts";
import { day, documents, gp, importDaily, principal, rows } from "./published.ts";

const idsOf = (catalogue: ReturnType<typeof temporaryCatalogue>) =>
  rows(catalogue, "select kind, source_id, public_id from canonical order by 1, 2");

test("ids are minted once from a source's own id and the same in every dataset, whatever the order of the lines", async (t) => {
  const [one, other] = [temporaryCatalogue(t), temporaryCatalogue(t)];
  await importDaily(one, cast, [...cast, gp("another")]);
  await importDaily(other, cast.toReversed());
  const { public_id: kkr } = idsOf(one).find(({ source_id }) => source_id === "kkr")!;
  assert.equal(kkr, mintId("gp", "own", "kkr"));
  assert.deepEqual(
    idsOf(one).filter(({ source_id }) => source_id !== "another"),
    idsOf(other),
  );
});

test("ids that were once published are minted for ever", () => {
  assert.equal(mintId("gp", "own", "northwind"), "gp_xiwvz670pob5cm13");
  assert.equal(mintId("signal", "sec_form_d", "0001912345-26-000001"), "sg_sewdmfsgaoh6f5fe");
});

test("one id of a source in four kinds and two sources gives eight ids", () => {
  const kinds = ["gp", "principal", "signal", "project"] as const;
  const ids = kinds.flatMap((kind) => ["a", "b"].map((source) => mintId(kind, source, "7")));
  assert.equal(new Set(ids).size, 8);
  for (const id of ids) assert.match(id, /^(gp|pr|sg|pj)_[0-9a-z]{16}$/);
});

test("a record keeps its id when its content changes, and has it again when it comes back after being left out", async (t) => {
  const catalogue = temporaryCatalogue(t);
  const idsNow = () =>
    ["gp", "principal"].map((kind) => documents(catalogue, kind).map(({ id }) => id));
  const all = [gp("a"), gp("b"), principal("p", ["a"])];
  await importDaily(catalogue, all);
  const before = idsNow();
  await importDaily(catalogue, [gp("b")], all);
  assert.deepEqual(idsNow(), before);
  const changed = gp("a", { legal_name: "Other", updated_at: new Date(day(2)).toISOString() });
  await importDaily(catalogue, [changed, ...all.slice(1)]);
  assert.deepEqual(idsNow(), before);
});
