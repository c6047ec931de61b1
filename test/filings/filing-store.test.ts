import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type AdvRow, type Firm, type FormD, openFilingStore } from "#filings/rows.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function openedStore(t: TestContext) {
  const folder = temporaryFolder(t);
  const store = openFilingStore(join(folder, "rows.sqlite"));
  t.after(() => store.close());
  return { folder, store };
}

const form = (accession: string, changes: Partial<FormD> = {}, hash = "h"): FormD =>
  ({
    accession,
    type: "D",
    fileNumber: "021-1",
    filedOn: "2026-06-30",
    issuers: [{ cik: "0000000007", name: "A", place: { addressHash: hash } }],
    industry: "Commercial",
    origin: { file: "a", line: 1 },
    ...changes,
  }) as unknown as FormD;

const accessions = (rows: Iterable<FormD>) => [...rows].map(({ accession }) => accession);

test("filings come by file number or else CIK, then by date and accession number, whatever the order in which they were added", (t) => {
  const all = [
    form("0000000001-26-000003", { fileNumber: null, filedOn: "2020-01-01" }),
    form("0000000001-26-000002", { fileNumber: "021-2", filedOn: "2019-01-01" }),
    form("0000000001-26-000005"),
    form("0000000001-26-000004"),
    form("0000000001-26-000006", { filedOn: "2026-01-01" }),
  ];
  const orders = [all, all.toReversed()].map((filings) => {
    const { store } = openedStore(t);
    for (const one of filings) assert.ok(store.addFormD(one, false));
    assert.deepEqual(store.seal(), {
      formD: 5,
      newest: { form_d: "2026-06-30", form_adv: null, firm_feed: null },
      unnumbered: 1,
      undated: 0,
      advisers: 0,
      firms: 0,
      withoutBase: 0,
    });
    return accessions(store.formD());
  });
  assert.deepEqual(
    orders[0],
    ["6", "4", "5", "2", "3"].map((end) => `0000000001-26-00000${end}`),
  );
  assert.deepEqual(orders[1], orders[0]);
});

test("of a filing that is there twice the quarter's is kept, and of two equals the same in any order and with any salt", (t) => {
  const accession = "0000000001-26-000001";
  type Added = readonly [industry: string, isQuarter: boolean, hash: string];
  const industryOf = (...added: Added[]) => {
    const { store } = openedStore(t);
    for (const [i, [industry, isQuarter, hash]] of added.entries())
      assert.equal(store.addFormD(form(accession, { industry }, hash), isQuarter), i === 0);
    store.seal();
    return [...store.formD()].map(({ industry }) => industry);
  };
  const quarter: Added = ["Quarter", true, "h"];
  const filing: Added = ["Filing", false, "h"];
  assert.deepEqual(industryOf(quarter, filing), ["Quarter"]);
  assert.deepEqual(industryOf(filing, quarter), ["Quarter"]);
  for (const isTurned of [false, true]) {
    const x: Added = ["X", true, isTurned ? "b" : "a"];
    const y: Added = ["Y", true, isTurned ? "a" : "b"];
    assert.deepEqual(industryOf(x, y), ["X"]);
    assert.deepEqual(industryOf(y, x), ["X"]);
  }
});

test("a filing without a date gets that of an index", (t) => {
  const { store } = openedStore(t);
  store.addFilingDate("0000000001-26-000001", "2026-05-02");
  store.addFilingDate("0000000001-26-000001", "2026-05-01");
  store.addFilingDate("0000000001-26-000002", "2026-05-01");
  store.addFormD(form("0000000001-26-000001", { filedOn: null }), false);
  store.addFormD(form("0000000001-26-000002"), false);
  store.addFormD(form("0000000001-26-000003", { filedOn: null }), false);
  assert.equal(store.seal().undated, 1);
  assert.deepEqual(
    [...store.formD()].map(({ accession, filedOn }) => [accession.at(-1), filedOn]),
    [
      ["3", null],
      ["1", "2026-05-01"],
      ["2", "2026-06-30"],
    ],
  );
});

const base = (filingId: string, crd: string, filedOn: string, legalName = "Acme") =>
  ({ kind: "base", filingId, filing: { filingId, crd, filedOn, legalName } }) as AdvRow;
const fund = (filingId: string, referenceId: string, name: string) =>
  ({ kind: "funds", filingId, referenceId, fund: { name } }) as AdvRow;

test("an adviser's filings come together, oldest first, each with its schedules once, whatever their order", (t) => {
  const rows: AdvRow[] = [
    base("1000", "20", "2026-01-01"),
    base("999", "20", "2026-01-01"),
    base("998", "20", "2025-01-01"),
    base("500", "9", "2026-01-01"),
    fund("1000", "r1", "Fund 1"),
    fund("1000", "r2", "Fund 2"),
    { kind: "partners", filingId: "1000", referenceId: "r2", name: "GP 2" },
    { kind: "formDFiles", filingId: "1000", referenceId: "r1", fileNumber: "021-1" },
    { kind: "formDFiles", filingId: "999", referenceId: "r1", fileNumber: "021-2" },
    { kind: "ciks", filingId: "1000", cik: "0000000001" },
    { kind: "owners", filingId: "500", owner: { name: "SMITH, ANN" } } as AdvRow,
    fund("1", "r", "Orphan"),
  ];
  for (const added of [rows, rows.toReversed()]) {
    const { store } = openedStore(t);
    for (const row of added) assert.ok(store.addAdv(row));
    for (const row of added) assert.equal(store.addAdv(row), row.kind !== "base");
    const { advisers, withoutBase } = store.seal();
    assert.deepEqual([advisers, withoutBase], [4, 1]);
    const found = [...store.advisers()];
    assert.deepEqual(
      found.map((filings) => filings.map(({ filingId }) => filingId)),
      [["500"], ["998", "999", "1000"]],
    );
    assert.deepEqual(found[0]![0]!.owners, [{ name: "SMITH, ANN" }]);
    const { funds, ciks } = found[1]![2]!;
    assert.deepEqual(ciks, ["0000000001"]);
    assert.deepEqual(funds, [
      { name: "Fund 1", partnerNames: [], formDFiles: ["021-1"] },
      { name: "Fund 2", partnerNames: ["GP 2"], formDFiles: [] },
    ]);
  }
});

test("a firm is as the newest feed has it, whatever the order of the feeds, and counts as no filing", (t) => {
  const firm = (crd: string, filedOn: string, legalName: string) =>
    ({ crd, filedOn, legalName }) as Firm;
  const fed = [
    [firm("20", "2026-03-01", "Old"), "2026-11-26"],
    [firm("20", "2026-02-01", "New"), "2026-11-27"],
    [firm("9", "2026-03-01", "B"), "2026-11-27"],
    [firm("9", "2026-03-01", "A"), "2026-11-27"],
  ] as const;
  for (const added of [fed, fed.toReversed()]) {
    const { store } = openedStore(t);
    for (const [one, day] of added) store.addFirm(one, day);
    const { advisers, firms, newest } = store.seal();
    assert.deepEqual([advisers, firms, newest.firm_feed], [0, 2, "2026-11-27"]);
    assert.equal(newest.form_adv, null);
    const names = [...store.firms()].map(({ legalName }) => legalName);
    assert.deepEqual(names, ["A", "New"]);
    assert.deepEqual([...store.advisers()], []);
    assert.equal(store.firmOf("20")?.legalName, "New");
    assert.equal(store.firmOf("21"), undefined);
  }
});

test("the file is private, replaces what a killed import left, and is gone at the end", (t) => {
  const { folder, store } = openedStore(t);
  const path = join(folder, "rows.sqlite");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  store.addFilingDate("0000000001-26-000001", "2026-06-30");
  // No journal lies beside it.
  assert.deepEqual(readdirSync(folder), ["rows.sqlite"]);
  store.close();
  assert.deepEqual(readdirSync(folder), []);
  writeFileSync(path, "left by a killed import");
  const next = openFilingStore(path);
  assert.equal(next.seal().formD, 0);
  next.close();
  assert.ok(!existsSync(path));
});
