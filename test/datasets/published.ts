/** Looks at what a catalogue holds from outside: rows by SQL, documents as JSON, the files of the folder. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import type { Catalogue } from "#datasets/catalogue.ts";
import type { ImportRequest } from "#datasets/publish.ts";
import type { Evidence, SourceEntry } from "#records/canonical.ts";
import { importRecords, openCurrent, temporaryCatalogue } from "../support/dataset.ts";

export const gp = (id: string, rest: object = {}) => ({ record: "gp", id, name: id, ...rest });
export const principal = (id: string, gps: string[], rest: object = {}) => ({
  record: "principal",
  id,
  name: id,
  gps,
  ...rest,
});
export const project = (id: string, rest: object = {}) => ({
  record: "project",
  id,
  name: id,
  ...rest,
});
export const signal = (id: string, rest: object = {}) => ({
  record: "signal",
  id,
  title: id,
  date: "2026-10-02",
  ...rest,
});

export const evidenceOf = (number: number, rest: Partial<Evidence> = {}): Evidence => ({
  form: "Form D",
  number: `a-${number}`,
  filer: "QUARRY APARTMENTS, LLC",
  filed_on: "2026-03-01",
  url: `https://filings.example/${number}`,
  field: "RELATIONSHIPCLARIFICATION",
  text: "Manager of Alder Ridge Capital LLC, the Manager of the Issuer",
  firm: "Alder Ridge Capital LLC",
  basis: "sponsor_text",
  confidence: 0.9,
  is_taken: 1,
  why: "the filing states its role",
  ...rest,
});

/** Milliseconds of a day in November 2026, at three in the morning. */
export const day = (number: number) => Date.UTC(2026, 10, number, 3);

/** Imports of source "own" on the first, second, … of the month; each must be published. */
export async function importDaily(
  catalogue: Catalogue,
  ...deliveries: (readonly unknown[])[]
): Promise<void> {
  for (const [i, records] of deliveries.entries()) {
    const result = await importRecords(catalogue, records, { nowMilliseconds: day(i + 1) });
    if (result.published === null)
      throw new Error(`${result.outcome}: ${JSON.stringify(result.collected.rejections.listed)}`);
  }
}

/** A folder of datasets with these deliveries, as by `importDaily`. */
export async function imported(
  t: TestContext,
  ...deliveries: (readonly unknown[])[]
): Promise<Catalogue> {
  const catalogue = temporaryCatalogue(t);
  await importDaily(catalogue, ...deliveries);
  return catalogue;
}

/** A folder of datasets with a and b as their only GP, one published after the other, and their versions. */
export async function twoGenerations(t: TestContext): Promise<[Catalogue, string, string]> {
  const catalogue = await imported(t, [gp("a")], [gp("b")]);
  return [catalogue, ...(catalogue.versions() as [string, string])];
}

/** The same with a, b and c. */
export async function threeGenerations(
  t: TestContext,
): Promise<[Catalogue, string, string, string]> {
  const catalogue = await imported(t, [gp("a")], [gp("b")], [gp("c")]);
  return [catalogue, ...(catalogue.versions() as [string, string, string])];
}

/** An import of source "own" whose entries a test makes itself. */
export const importEntries = (
  catalogue: Catalogue,
  entries: AsyncIterable<SourceEntry> | Iterable<SourceEntry>,
  rejectedMax: ImportRequest["rejectedMax"] = { lines: 0 },
) => importRecords(catalogue, [], { entries, rejectedMax });

export type Row = Record<string, any>;

/** Rows of the current file, or of the version named. */
export function rows(catalogue: Catalogue, sql: string, version = catalogue.currentVersion()!) {
  const db = new DatabaseSync(catalogue.pathOf(version), { readOnly: true });
  try {
    return db
      .prepare(sql)
      .all()
      .map((row): Row => ({ ...row }));
  } finally {
    db.close();
  }
}

/** Documents of a kind in display order. */
export const documents = (catalogue: Catalogue, kind: string): Row[] =>
  rows(catalogue, `select document from ${kind} order by position`).map(({ document }) =>
    JSON.parse(document),
  );

/** The document of the record with this id in its source. */
export function documentOf(catalogue: Catalogue, kind: string, sourceId: string): Row {
  const found = rows(
    catalogue,
    `select r.document from ${kind} r join canonical c on c.public_id = r.id
     where c.source_id = '${sourceId}'`,
  );
  return JSON.parse(found[0]!["document"]);
}

export const idOf = (catalogue: Catalogue, kind: string, sourceId: string): string =>
  documentOf(catalogue, kind, sourceId)["id"];

/** Names of the GPs or principals that an id leads to. */
export function namesLedTo(catalogue: Catalogue, id: string): string[] {
  const kind = id.startsWith("gp_") ? "gp" : "principal";
  const { positions } = openCurrent(catalogue).select(kind, { id: [id] }, { limit: 9, offset: 0 });
  return positions.map((position) => documents(catalogue, kind)[position]!["name"]);
}

/** Every file of the folder and its bytes. */
export const filesOf = ({ folder }: Catalogue): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), "latin1")]),
  );
