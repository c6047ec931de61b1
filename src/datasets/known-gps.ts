/** Replaces named GPs, known only from a source's rows, with links to GPs of another source. */
import type { CanonicalGp, SourceEntry } from "#records/canonical.ts";
import { fold } from "#records/fold.ts";
import { splitName } from "#records/legal-forms.ts";
import type { Previous } from "./previous.ts";

/** Basis and confidence of a link by name alone. A project's state is not compared: a firm may build in others. */
const unsure = { basis: "named_sponsor", confidence: 0.6 } as const;

/** Opens a finder of GPs in the previous generation. It finds only GPs of the given sources. */
export function openKnownGps(previous: Previous, sources: readonly string[]) {
  let index: ReadonlyMap<string, string | null> | undefined;
  const replaced = new Map<string, string>();
  let isAsked = false;
  const find = (gp: CanonicalGp, source: string) => {
    index ??= indexGps(previous.gpDocuments(sources.includes(source) ? source : ""));
    const [byId, ...others] = new Set(externalKeys(gp).flatMap((key) => index!.get(key) ?? []));
    if (byId !== undefined) return others.length === 0 ? { id: byId, isSure: true } : null;
    const id = index.get(nameKey(gp.name)) ?? null;
    return id === null ? null : { id, isSure: false };
  };
  return {
    /** Public ids of the matching GPs, by the source ids of the named GPs that they replace. */
    replaced: replaced as ReadonlyMap<string, string>,
    /** Returns the number of names that became links. Returns null if no entry gives a source in `known`. */
    countLinked: () => (isAsked ? replaced.size : null),
    /**
     * Returns an entry in which links replace those named GPs that the source in `known` has. A link by name alone
     * gives the records the basis and confidence of `unsure`, unless they state their own.
     */
    link(entry: SourceEntry): SourceEntry {
      const { known, namedGps } = entry;
      if (known === undefined) return entry;
      isAsked = true;
      let isSure = true;
      const links = new Map<string, string>();
      for (const gp of namedGps) {
        const found = find(gp, known);
        if (found === null) continue;
        links.set(gp.id, found.id);
        replaced.set(gp.id, found.id);
        isSure &&= found.isSure;
      }
      const records = entry.records.map((record) => {
        if (record.record === "gp" || record.gps === undefined) return record;
        const gps = record.gps.map((id) => links.get(id) ?? id);
        return {
          ...record,
          gps,
          ...(!isSure && { provenance: { ...unsure, ...record.provenance } }),
        };
      });
      return { ...entry, records, namedGps: namedGps.filter(({ id }) => !links.has(id)) };
    },
  };
}

/** Returns ids of GPs by external id and by name. A key that several GPs share leads to null. */
function indexGps(documents: Iterable<[id: string, document: string]>) {
  const index = new Map<string, string | null>();
  for (const [id, document] of documents) {
    const gp = JSON.parse(document) as CanonicalGp;
    const names = [gp.name, gp.legal_name ?? gp.name].map(nameKey);
    for (const key of new Set([...names, ...externalKeys(gp)]))
      index.set(key, index.has(key) ? null : id);
  }
  return index;
}

const nameKey = (name: string) => `name ${splitName(fold(name)).core}`;

const externalKeys = ({ external_ids }: Pick<CanonicalGp, "external_ids">): string[] =>
  Object.entries(external_ids ?? {}).flatMap(([kind, ids]) =>
    (ids ?? []).map((id) => `${kind} ${id.replace(/^0+/, "")}`),
  );
