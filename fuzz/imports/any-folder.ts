/** Draws folders of public filings: whole ones, and ones with a file or an archive that is damaged. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc, { type Arbitrary } from "fast-check";
import { temporaryFolder } from "../../bench/clean-up.ts";
import { primaryDocument, submission } from "../../test/filings/submission.ts";
import { unzipped, zipped } from "../../test/filings/zip.ts";
import { writeFilingFolder } from "../../test/support/filing-folder.ts";
import { anyText, damaged, damageOf, sometimes, weighted, type Damage } from "../arbitraries.ts";
import { pieces, values } from "./any-import.ts";

/** E-mail addresses and phone numbers as people write them. None may get into a dataset. */
const contacts = [
  "ann.secret@example.org",
  "Ann <ann+x@mail.example.org>",
  "ann\xe2\x80\x8b.secret@exa\xc2\xadmple.org",
  "ann.secret@exa\xe2\x80\x8bmple.org",
  "(407) 555-0100",
  "407-555-0100",
  "+1 407.555.0100 ext. 3",
  "407\xc2\xa0555\xc2\xa00100",
  "40\xe2\x80\x8b7-555-0100",
];

const words = [
  "HTTPS://X.COM", "javascript:alert(1)", "Indefinite", "None", "N/A", "*", "LIVE", "TEST", "D/A", "YES", "true", "-1", "1e9", "0", "Infinity",
  "31-FEB-2026", "30-JUN-26", "9999-99-99", "021-999999", "0000000000", "C/O ACME MANAGEMENT LLC",
  "a series of Acme, LLC", "President of Acme LLC, the Manager", "(".repeat(4000), "LLC ".repeat(900),
  "Manager of A LLC, the Manager of B LLC, ".repeat(200),
]; // oxfmt-ignore

const damage = damageOf(
  ...anyText,
  [4, /^/, pieces],
  [6, /[A-Za-z]{3,}/, [...contacts, ...contacts.map((one) => `$& ${one} $&`)]],
  // Cells of a table, values of JSON and of XML.
  [6, /(?<=\t)[^\t\n]*(?=[\t\n])/, [...words, ...contacts, ""]],
  [4, /(?<=")[^"\n]*(?=")/, [...words, ...contacts, ""]],
  [
    4,
    /(?<=>)[^<\n]*(?=<)/,
    [...words, ...contacts, "", "]]>", "<![CDATA[x]]>", "&#0;", "&amp;#64;"],
  ],
  [2, /\t/, ["", "\t\t", " ", "\n"]],
  [2, /,/, ["", ",,", '","', "\n"]],
  [3, /^[^\n]*\n/m, ["", "$&$&", "\n$&"]],
  [2, /^([^\n]*\n)([^\n]*\n)/m, ["$2$1"]],
  [2, /\n/g, ["\r\n", "\r", "\n\n", ""]],
  [2, /<(\w+)>/, ["<$1><$1>", "</$1>", "<$1 a='1'>", "<!DOCTYPE a [<!ENTITY b 'c'>]>$&&b;"]],
  [1, /<(\w+)>/, ["<a>".repeat(5000), "$&&b;"]],
  [2, /:\s*("[^"]*"|\[[^\]]*\])/, values.map((one) => `:${one}`)],
  [2, /\d{10}-\d\d-\d{6}/, ["0000000000-00-000000", "1", "$&-1"]],
);

/** Damage to the bytes of an archive, its lengths and flags among them. */
const zipDamage = damageOf(
  ...anyText,
  [4, /PK[\x01-\x08]{2}[^]{2}/, ["", "PK\x01\x02\x14\x03", "PK\x03\x04\x14\0", "$&$&"]],
  [2, /PK\x01\x02[^]{20}([^]{8})/, ["$&\xff\xff\xff\xff\xff\xff\xff\x7f"]],
  [1, /TABLES|ISSUERS|OFFERING|ADV_Base/g, ["../$&", "/etc/x", "\\\\$&", "$&\0"]],
);

const feed = "IA_FIRM_SEC_Feed_07_13_2026.xml";
const archives = {
  quarter: "2026q2_d.zip",
  adv: "ADV_Filing_Data_20260701_20260731.zip",
  feed: `${feed}.gz`,
};
type Archive = keyof typeof archives;

/** A small folder that is right, by path; members of an archive below its key. */
const whole = await readWhole();

async function readWhole(): Promise<ReadonlyMap<string, Buffer>> {
  const folder = temporaryFolder("fuzz");
  await writeFilingFolder(folder, { size: 2 });
  const files = new Map<string, Buffer>();
  const other = readdirSync(folder).filter((name) => !name.endsWith(".zip"));
  for (const name of other)
    files.set(name === feed ? `feed/${feed}` : name, readFileSync(join(folder, name)));
  for (const [key, name] of Object.entries(archives).filter(([one]) => one !== "feed"))
    for (const [member, bytes] of Object.entries(await unzipped(join(folder, name))))
      files.set(`${key}/${member.split("/").at(-1)}`, bytes);
  files.set("larch.txt", Buffer.from(submission("0001700001-26-000001")));
  files.set("000170000126000002/primary_doc.xml", Buffer.from(primaryDocument));
  const line =
    "D    Larch Street LLC    1700001    2026-07-02    edgar/data/1700001/0001700001-26-000002.txt";
  files.set(
    "form.idx",
    Buffer.from(`Form Type    Company Name    CIK    Date Filed    File Name\n${line}\n`),
  );
  return files;
}

export interface FolderDraft {
  /** Path of the file that is damaged. */
  path: string;
  damages: readonly Damage[];
  /** Archives that are unpacked. */
  unpacked: readonly Archive[];
  zipDamages: readonly Damage[];
  isWhole: boolean;
}

export interface FuzzFolder {
  /** Files by path. */
  files: ReadonlyMap<string, Buffer>;
  /** What was damaged. */
  damaged: Buffer;
  /** True where an operator's own words are damaged, which may be an address of his. */
  mayHoldContacts: boolean;
  isControl: boolean;
  isWhole: boolean;
}

export const anyFolder: Arbitrary<FolderDraft> = fc.record({
  path: fc.constantFrom(...whole.keys()),
  damages: weighted(
    [94, fc.array(damage, { minLength: 1, maxLength: 4 })],
    [6, fc.constant<Damage[]>([])],
  ),
  unpacked: fc.subarray(Object.keys(archives) as Archive[]),
  zipDamages: sometimes<Damage[]>(15, fc.array(zipDamage, { minLength: 1, maxLength: 3 }), []),
  isWhole: sometimes(20, fc.constant(true), false),
});

export async function makeFolder(draft: FolderDraft): Promise<FuzzFolder> {
  const { path, damages, unpacked, zipDamages, isWhole } = draft;
  const spoilt = (bytes: Buffer, some: readonly Damage[]) =>
    Buffer.from(damaged(bytes.toString("latin1"), some), "latin1");
  const files = new Map(whole).set(path, spoilt(whole.get(path)!, damages));
  for (const key of Object.keys(archives) as Archive[]) {
    if (unpacked.includes(key)) continue;
    const members = [...files].filter(([one]) => one.startsWith(`${key}/`));
    for (const [member] of members) files.delete(member);
    const zip =
      key === "feed" ? gzipSync(members[0]![1]) : await zipped(Object.fromEntries(members));
    const isDamaged = path.startsWith(`${key}/`);
    files.set(archives[key], isDamaged ? spoilt(zip, zipDamages) : zip);
  }
  const key = path.split("/")[0]! as Archive;
  const isZipDamaged = zipDamages.length > 0 && key in archives && !unpacked.includes(key);
  return {
    files,
    damaged: isZipDamaged ? files.get(archives[key])! : spoilt(whole.get(path)!, damages),
    mayHoldContacts: path === "corrections.ndjson",
    isControl: damages.length === 0 && !isZipDamaged,
    isWhole,
  };
}
