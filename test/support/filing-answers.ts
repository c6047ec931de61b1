/** What a server answers of a folder of invented filings, and how often that is right. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { fold } from "#records/fold.ts";
import type { FilingFolder, InventedSponsor } from "./filing-folder.ts";
import { roomy } from "./own-process.ts";
import { startService } from "./service.ts";

/** Asks a server that has the datasets of a data folder. */
export async function asking(t: TestContext, dataDir: string) {
  const service = await startService(t, { dataDir, records: null });
  const { key } = await service.newKey({ quotas: roomy });
  const ask = async (path: string) => {
    const { status, body } = await service.get(path, { "x-api-key": key });
    assert.equal(status, 200, JSON.stringify(body));
    return body as any;
  };
  const all = async (list: string) => {
    const records: any[] = [];
    for (let offset: number | null = 0; offset !== null;) {
      const { data, pagination } = await ask(`/${list}?limit=100&offset=${offset}`);
      records.push(...data);
      offset = pagination.next_offset;
    }
    return records;
  };
  return { ask, all };
}

export const ciksOf = (record: any): string[] => record.external_ids.cik ?? [];

/** Reports whether a GP is the sponsor, and not a namesake in another state. */
const isSponsor = (gp: any, { brand, state }: InventedSponsor) =>
  fold(gp.name).startsWith(fold(brand)) && gp.hq_state === state;

/** Compares GPs with who stands behind the issuers: all of them for precision, those asked for by name for recall. */
export async function score(
  { ask, all }: Awaited<ReturnType<typeof asking>>,
  { sponsors, truth }: FilingFolder,
) {
  const found = new Set<string>();
  for (const sponsor of sponsors) {
    const { data } = await ask(`/fetch-gp?gp_name=${encodeURIComponent(sponsor.name)}`);
    for (const cik of data.filter((gp: any) => isSponsor(gp, sponsor)).flatMap(ciksOf))
      if (truth.get(cik)?.sponsor === sponsor) found.add(cik);
  }
  const claims = (await all("list-gps")).flatMap((gp) =>
    ciksOf(gp).map((cik) => ({ gp, cik, truth: truth.get(cik)! })),
  );
  const wrong = claims.filter(
    (claim) => claim.truth.sponsor === null || !isSponsor(claim.gp, claim.truth.sponsor),
  );
  const named = [...truth].filter(([, { sponsor }]) => sponsor !== null);
  const missed = named.filter(([cik]) => !found.has(cik));
  return {
    precision: 1 - wrong.length / claims.length,
    recall: 1 - missed.length / named.length,
    wrong: wrong.map(({ gp, truth: { way, sponsor } }) => [way, sponsor?.name, gp.name]),
    missed: missed.map(([, { way, kind, sponsor }]) => [way, kind, sponsor?.name]),
  };
}
