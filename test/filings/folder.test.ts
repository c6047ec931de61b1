import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test, type TestContext } from "node:test";
import { readFilings } from "#filings/folder.ts";
import { ImportFault } from "#importers/import-fault.ts";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { firmFeed } from "./firm-feed.ts";
import { oneFiling, quarterFiles } from "./quarter.ts";
import { primaryDocument, submission } from "./submission.ts";
import { writtenZip } from "./zip.ts";

/** Writes files into a folder of their own, and returns it. */
function writtenFolder(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

async function read(t: TestContext, paths: readonly string[], salt = "salt") {
  const scratchFile = join(temporaryFolder(t), "rows.sqlite");
  const { filings, report } = await readFilings(paths, { scratchFile, salt });
  t.after(() => filings.close());
  const rows = {
    formD: [...filings.formD()],
    advisers: [...filings.advisers()],
    firms: [...filings.firms()],
    corrections: filings.corrections,
  };
  return { rows, report, filings };
}

const index = `Description:  Daily Index
Form Type   Company Name      CIK         Date Filed  File Name
---------------------------------------------------------------
10-K        Acme  D  Corp     1700009     20260702    edgar/data/1700009/0001700009-26-000001.txt
D           Larch Street LLC  1700001     20260702    edgar/data/1700001/0001700001-26-000002.txt
`;
const master = `CIK|Company Name|Form Type|Date Filed|File Name
--------------------------------------------------------------------------------
1700001|Larch Street LLC|D|2026-07-02|edgar/data/1700001/0001700001-26-000002.txt
`;
const zips = "89501,32031,Reno,NV,Washoe County,H1\n";
const areas = 'cbsacode,cbsatitle,fipsstatecode,fipscountycode\n39900,"Reno, NV",32,31\n';
const corrections = '{"gp":"crd:1","is":"Acme","why":"w"}\n';

const fedAs = (name: string) =>
  firmFeed("2026-11-27", [{ Info: `FirmCrdNb="9" LegalNm="${name}"`, Filing: 'Dt="2026-11-01"' }]);
const feedName = "IA_FIRM_SEC_Feed_11_27_2026.xml.gz";

/** Writes one file of every kind under names that say nothing, and returns the folder. */
async function everything(t: TestContext): Promise<string> {
  const folder = writtenFolder(t, {
    "a.dat": submission("0001700001-26-000001"),
    "deep/000170000126000002/x.dat": primaryDocument,
    "b.dat": index,
    "c.dat": master,
    "d.dat": zips,
    "e.dat": areas,
    "f.dat": corrections,
    "g.dat": fedAs("B"),
    [feedName]: gzipSync(fedAs("A")),
    ...quarterFiles(oneFiling("0001900013-26-000002", "Briar Fund II, LP"), {
      folder: "2026Q1_d/",
    }),
    "notes.md": "# Notes",
    "bare.xml": primaryDocument,
    "denied.idx":
      '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>',
    "error.html": "<!DOCTYPE html><p>403",
    "annual.txt": submission("0001700001-26-000009", "10-K"),
    "2026Q1_d/FORMD_metadata.json": "{}",
    empty: "",
  });
  const quarter = quarterFiles(oneFiling("0001900013-26-000001"), { folder: "2026Q2_d/" });
  await writtenZip(folder, "z.dat", quarter);
  await writtenZip(folder, "adv.dat", {
    "IA_ADV_Base_A_20260701_20260731.csv":
      "FilingID,DateSubmitted,1A,1B1,1C-Legal,1C-Business,1C-New Name,1D,1E1,1F1-Street 1,1F1-Street 2,1F1-City,1F1-State,1F1-Country,1F1-Postal,1P,5F2c\n" +
      '7,07/10/2026 04:20:33 PM,"ACME, LLC",Acme,,,,801-12345,123,1 Larch Street,,Reno,NV,United States,89501,,1000\n',
    "IA_ADV_Base_B_20260701_20260731.csv": "FilingID,3A\n7,LLC\n",
  });
  await writtenZip(folder, "photos.zip", { "a.jpg": "x" });
  await writtenZip(folder, "book.xlsx", { "xl/workbook.xml": "<x/>" });
  return folder;
}

test("every file is recognised by its content, and what is none of these is listed with the reason", async (t) => {
  const folder = await everything(t);
  symlinkSync(join(folder, "a.dat"), join(folder, "link"));
  const { rows, report, filings } = await read(t, [folder]);
  assert.deepEqual(report.files, {
    form_d_quarter: 2,
    form_d_filing: 2,
    adv: 1,
    firm_feed: 2,
    corrections: 1,
    zip_county: 1,
    county_cbsa: 1,
    edgar_index: 2,
  });
  assert.deepEqual(
    rows.formD.map(({ accession, fileNumber, filedOn }) => [accession, fileNumber, filedOn]),
    [
      ["0001900013-26-000001", "021-400013", "2026-06-30"],
      ["0001900013-26-000002", "021-400013", "2026-06-30"],
      ["0001700001-26-000001", "021-999999", "2026-07-01"],
      ["0001700001-26-000002", null, "2026-07-02"],
    ],
  );
  assert.deepEqual(
    rows.advisers.map(([filing]) => [filing!.crd, filing!.legalName]),
    [["123", "ACME, LLC"]],
  );
  assert.deepEqual(
    [report.formD, report.advisers, report.firms, report.unnumbered, report.undated],
    [4, 1, 1, 1, 0],
  );
  assert.deepEqual(report.skipped, {});
  assert.deepEqual(rows.corrections, [
    { kind: "is", gp: "crd:1", name: "Acme", why: "w", file: join(folder, "f.dat"), line: 1 },
  ]);
  assert.equal(filings.geography.marketOf(rows.formD[3]!.issuers[0]!.place), "Reno, NV");
  const reasons = report.leftOut.map(({ file, reason }) => [file.slice(folder.length + 1), reason]);
  assert.deepEqual(Object.fromEntries(reasons), {
    link: "is a symbolic link; name the file or folder that it points to",
    "2026Q1_d/FORMD_metadata.json": "is neither a filing nor another file that imports use",
    "annual.txt": 'is a filing of form "10-K", not of Form D',
    "bare.xml":
      "has no accession number in a header or in its path; name its folder after the number, such as 0001234567-25-000001",
    "denied.idx":
      "is a web page, or an error message of the site it came from; download the file again",
    "book.xlsx": "is a workbook; save its sheet as CSV",
    "photos.zip": "is an archive without tables of Form D or Form ADV; unpack it",
    empty: "is empty",
    "error.html":
      "is a web page, or an error message of the site it came from; download the file again",
    "notes.md": "is neither a filing nor another file that imports use",
  });
});

test("rows do not depend on the order of the paths, nor on the salt but for hashes", async (t) => {
  const folder = await everything(t);
  const names = `z.dat f.dat a.dat deep 2026Q1_d b.dat adv.dat ${feedName} d.dat e.dat g.dat`
    .split(" ")
    .map((name) => join(folder, name));
  const withoutHashes = (rows: object) =>
    JSON.stringify(rows).replaceAll(/"addressHash":"[^"]+"/g, "");
  const { rows } = await read(t, names);
  const { rows: reversed } = await read(t, [...names.toReversed(), names[0]!]);
  assert.deepEqual(reversed, rows);
  const { rows: salted } = await read(t, names, "other");
  assert.notDeepEqual(salted, rows);
  assert.equal(withoutHashes(salted), withoutHashes(rows));
});

test("a quarter whose tables are named by a relative and by an absolute path is one quarter", async (t) => {
  const folder = writtenFolder(t, quarterFiles(oneFiling("0001900013-26-000001")));
  const { report } = await read(t, [relative(".", folder), join(folder, "ISSUERS.tsv")]);
  assert.deepEqual(report.files, { form_d_quarter: 1 });
});

test("a filing that is named from within its folder has the folder's accession number", async (t) => {
  const folder = writtenFolder(t, { "0001700001-26-000002/primary_doc.xml": primaryDocument });
  const before = process.cwd();
  t.after(() => process.chdir(before));
  process.chdir(join(folder, "0001700001-26-000002"));
  assert.equal((await read(t, ["primary_doc.xml"])).report.formD, 1);
});

const refused = (t: TestContext, paths: readonly string[], message: RegExp) =>
  assert.rejects(read(t, paths), { name: "ImportFault", message });

test("a recognised file that is damaged is refused by name with the next step, and leaves no file behind", async (t) => {
  const files = quarterFiles(oneFiling("0001900013-26-000001"));
  const { "SIGNATURES.tsv": _, ...five } = files;
  const undated = index.replace("20260702    edgar/data/1700001", "            edgar/data/1700001");
  for (const [written, words] of [
    [five, /SSION\.tsv: is part of a Form D quarter without SIGNATURES\.tsv; download the quarter/],
    [{ "form.idx": undated }, /form\.idx:5: has no date/],
    [
      { ...files, "copy.tsv": files["ISSUERS.tsv"]! },
      /copy\.tsv: is a second ISSUERS table besides .*ISSUERS\.tsv; remove/,
    ],
  ] as const)
    await refused(t, [writtenFolder(t, written)], words);
  const feed = gzipSync(fedAs("A"));
  const spoilt = Buffer.from(feed);
  spoilt[feed.length - 6]! ^= 1;
  for (const [bytes, words] of [
    [
      feed.subarray(0, -30),
      /gz: is damaged or cut off \(unexpected end of file\); download it again/,
    ],
    [spoilt, /gz: is damaged or cut off \(incorrect data check\); download it again/],
    [gzipSync(fedAs(`A"/>${"<a/>".repeat(2 ** 20)}<a b="`)), /gz: .* 200 times .* zip bomb does/],
    [gzipSync("<a/>"), /gz:1: begins with "a", not IAPDFirmSECReport; download it again/],
  ] as const)
    await refused(t, [writtenFolder(t, { [feedName]: bytes })], words);
  const zip = await writtenZip(temporaryFolder(t), "q.zip", five);
  await refused(t, [zip], /q\.zip: is part of a Form D quarter without SIGNATURES\.tsv/);
  const scratchFile = join(temporaryFolder(t), "rows.sqlite");
  await assert.rejects(readFilings([zip], { scratchFile, salt: "s" }));
  assert.ok(!existsSync(scratchFile));
});

test("a table that can no longer be read is refused by name", async (t) => {
  const rows = Array.from({ length: 1000 }, (_, i) => `1,${i + 1}\n`);
  const last = { "adv/IA_1D3_CIK.csv": `FilingID,CIK\n${rows.join("")}` };
  const folder = writtenFolder(t, { ...quarterFiles({}), ...last });
  const scratchFile = join(temporaryFolder(t), "rows.sqlite");
  const onRow = () => rmSync(join(folder, "ISSUERS.tsv"));
  await assert.rejects(readFilings([folder], { scratchFile, salt: "s", onRow }), {
    name: "ImportFault",
    message: /ISSUERS\.tsv: there is no such file; check the path$/,
  });
});

test("paths that are not there are refused, all by name", async (t) => {
  const folder = temporaryFolder(t);
  await refused(
    t,
    [join(folder, "a"), folder, join(folder, "b")],
    /\/a: there is no such file or folder; check the path\n {2}.*\/b: there is no such/,
  );
});

test("a file whose name is not in UTF-8, and so cannot be opened by it, is refused with what to do", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xe9])]), "");
  await refused(t, [folder], /\/\ufffd: has a name that is not in UTF-8; rename it/);
});

test("a quarter of headers alone, and what is no file, are left out with the next step", async (t) => {
  const folder = temporaryFolder(t);
  const members = quarterFiles({}, { folder: "2026Q3_d/" });
  const archive = await writtenZip(folder, "2026q3_d.zip", members);
  const tables = join(writtenFolder(t, quarterFiles({})), "/");
  const { report } = await read(t, [archive, tables, "/dev/null"]);
  assert.deepEqual(report.files, {});
  const headers = "is a Form D quarter without filings; download it again";
  const reasons = Object.fromEntries(report.leftOut.map(({ file, reason }) => [file, reason]));
  assert.deepEqual(reasons, {
    [archive]: headers,
    [join(tables, "FORMDSUBMISSION.tsv")]: headers,
    "/dev/null": "is a pipe, a socket or a device; save its output to a file",
  });
});

test("corrections that cannot be read are refused, rather than left out without an effect", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "corrections.ndjson");
  writeFileSync(file, Buffer.from(`\ufeff${corrections}`, "utf16le"));
  await assert.rejects(
    read(t, [folder]),
    new ImportFault(file, null, "is in UTF-16; save it as UTF-8"),
  );
});
