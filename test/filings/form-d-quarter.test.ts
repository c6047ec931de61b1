import assert from "node:assert/strict";
import { test } from "node:test";
import { type QuarterFiles, readFormDQuarter } from "#filings/form-d.ts";
import { openPlaces } from "#filings/places.ts";
import type { FormD } from "#filings/rows.ts";
import { filingOf, person } from "../sponsors/form-d.ts";
import { oneFiling, quarterFiles, together } from "./quarter.ts";

/** Reads tables from chunks of a few bytes each. */
async function read(files: Record<string, string>, chunkBytes = 7) {
  const tables = Object.fromEntries(
    Object.entries(files).map(([name, content]) => {
      const bytes = Buffer.from(content);
      const open = async function* () {
        for (let at = 0; at < bytes.length; at += chunkBytes)
          yield bytes.subarray(at, at + chunkBytes);
      };
      return [name.replace(".tsv", ""), { shown: name, size: bytes.length, open }];
    }),
  ) as unknown as QuarterFiles;
  const filings: FormD[] = [];
  const skipped: string[] = [];
  const rejected = await readFormDQuarter(
    tables,
    "2026q2_d.zip",
    openPlaces("salt"),
    (one) => void (typeof one === "string" ? skipped.push(one) : filings.push(one)),
  );
  return { filings, skipped, rejected };
}

const place = { city: "Orlando", state: "FL", country: "US", zip: "32801" };

test("a filing is put together from the six tables, trimmed, without quoting, and without streets and phone numbers", async () => {
  const { filings, skipped } = await read(quarterFiles(oneFiling("0001900013-26-000001")));
  assert.deepEqual(skipped, []);
  const [filing] = filings;
  const { addressHash } = filing!.issuers[0]!.place;
  assert.notEqual(addressHash, null);
  const clarification = "President of Briar Capital LLC, the Manager of the Issuer";
  const ann = person("Ann", 'Smith "Annie', clarification, {
    roles: ["executive_officer", "director"],
  });
  const expected = filingOf({
    name: "Briar Fund I, LP",
    accession: "0001900013-26-000001",
    fileNumber: "021-400013",
    filedOn: "2026-06-30",
    sicCode: "6798",
    origin: { file: "FORMDSUBMISSION.tsv", line: 2 },
    industry: "Pooled Investment Fund",
    fundType: "Other Investment Fund",
    isPooledTicked: true,
    exemptions: ["06b", "3C", "3C.5"],
    firstSaleOn: "2026-06-20",
    isIndefinite: true,
    soldUsd: 788_172_352,
    minimumUsd: 50_000,
    investorCount: 12,
    persons: [ann],
    recipients: [{ name: "Broker One", broker: null }],
    signatures: [{ signer: "Ann Smith", title: "Manager" }],
  });
  const issuer = {
    cik: "0001900013",
    name: "Briar Fund I, LP",
    previousNames: ["Old Briar Fund, LP"],
    place: { ...place, addressHash, firmInStreet: "BRIAR CAPITAL LLC" },
  };
  assert.deepEqual(filings, [{ ...expected, issuers: [issuer] }]);
  assert.doesNotMatch(JSON.stringify(filings), /Home Street|MAPLE AVE|555-0100/);
});

test("only live filings of Form D count, and each is read once", async () => {
  const filing = oneFiling("0001900013-26-000001");
  const changed = (accession: string, FORMDSUBMISSION: Record<string, string>) =>
    oneFiling(accession, undefined, { FORMDSUBMISSION });
  const rows = together(
    filing,
    changed("0001900013-26-000002", { TESTORLIVE: "TEST" }),
    changed("0001900013-26-000003", { SUBMISSIONTYPE: "1-A" }),
    { FORMDSUBMISSION: filing.FORMDSUBMISSION! },
    { ...oneFiling("0001900013-26-000004"), ISSUERS: [] },
    { ...oneFiling("0001900013-26-000005"), OFFERING: [] },
    changed("0001900013-26-000006", { SUBMISSIONTYPE: "D/A  ", FILING_DATE: "30-JUN-26" }),
  );
  const { filings, skipped } = await read(quarterFiles(rows), 4096);
  assert.deepEqual(
    filings.map(({ accession, type, filedOn }) => `${accession} ${type} ${filedOn}`),
    ["0001900013-26-000001 D 2026-06-30", "0001900013-26-000006 D/A 2026-06-30"],
  );
  assert.deepEqual(skipped.toSorted(), ["no_issuer", "no_offering", "other_form", "test", "twice"]);
});

test("without the column TESTORLIVE every filing counts", async () => {
  const files = quarterFiles(oneFiling("0001900013-26-000001"), { without: ["TESTORLIVE"] });
  const { filings } = await read(files);
  assert.equal(filings.length, 1);
});

test("a street that a filer wrote into the words on a role is in no row", async () => {
  const files = quarterFiles(oneFiling("0001900013-26-000001"));
  const persons = files["RELATEDPERSONS.tsv"]!.replace("the Issuer", "the Issuer, 12 Elm Street");
  const { filings } = await read({ ...files, "RELATEDPERSONS.tsv": persons });
  assert.doesNotMatch(JSON.stringify(filings), /Elm/);
});

test("a row with too many cells is left out", async () => {
  const [one, other] = ["1", "2"].map((end) => oneFiling(`0001900013-26-00000${end}`));
  const files = quarterFiles(together(one!, other!));
  const persons = files["RELATEDPERSONS.tsv"]!.replace("Ann\t", "Ann\t\t");
  const { rejected, filings } = await read({ ...files, "RELATEDPERSONS.tsv": persons });
  assert.deepEqual(rejected, [{ file: "RELATEDPERSONS.tsv", count: 1, firstLine: 2 }]);
  const counts = filings.map(({ persons: { length } }) => length);
  assert.deepEqual(counts, [0, 1]);
});

test("a row without an end is refused before it fills the memory", async () => {
  const files = quarterFiles(oneFiling("0001900013-26-000001"));
  for (const [endless, line] of [
    ["x".repeat(2 ** 22), 3],
    [`${"x".repeat(2 ** 10)}\n`.repeat(2 ** 11), 1026],
  ] as const)
    await assert.rejects(
      read({ ...files, "SIGNATURES.tsv": files["SIGNATURES.tsv"] + endless }, 65_536),
      new RegExp(`SIGNATURES\\.tsv:${line}: is longer than 1048576 characters`),
    );
});

test("the primary issuer comes first", async () => {
  const rows = oneFiling("0001900013-26-000001");
  const [issuer] = rows.ISSUERS!;
  const other = { ...issuer!, ENTITYNAME: "B", IS_PRIMARYISSUER_FLAG: "NO", CIK: "2" };
  const first = { ...issuer!, ENTITYNAME: "A" };
  const { filings } = await read(quarterFiles({ ...rows, ISSUERS: [other, first] }));
  const issuers = filings[0]!.issuers.map(({ name, cik }) => `${name} ${cik}`);
  assert.deepEqual(issuers, ["A 0001900013", "B 0000000002"]);
});
