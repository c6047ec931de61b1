/** Random values for every member of a record, and random queries for the lists. */
import { lists } from "#operations/lists.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { declarations, valuesOf } from "#records/declarations.ts";
import { datePattern } from "#records/fields.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { MemberSchema } from "#records/schema.ts";
import { externalIdKeys, provenanceBases } from "#records/vocabulary.ts";
import { awkwardRecords } from "./awkward.ts";
import type { Random } from "./awkward/random.ts";
import { marketTitles, tagSpellings, themeSpellings } from "./awkward/words.ts";
import { type Asked, type ServedRecords, textsOf, valueOf } from "./reference/queries.ts";

const given = ["record", "id", "name", "former_ids", "gps", "provenance", "updated_at"];
const spellings = [...tagSpellings.slice(0, 3), ...themeSpellings.slice(0, 2)];

/** Gives a record random values of all members that it lacks, as its schema has them; some stay unknown. */
function filled(record: CanonicalRecord, projects: readonly string[], random: Random) {
  const { chance, pick, some, below, between } = random;
  const { members } = declarations[record.record];
  const day = () => {
    const text = `202${below(7)}-${pick(["01", "06", "12"])}-${pick(["01", "15", "28"])}`;
    return text.slice(0, pick([4, 7, 10, 10]));
  };
  const one = (
    name: string,
    schema: MemberSchema & { minimum?: number; maximum?: number },
  ): unknown => {
    const values = valuesOf(schema);
    if (values !== undefined) return pick(values);
    if (schema.pattern?.startsWith(datePattern)) return day();
    if (schema.minimum !== undefined)
      return between(Math.max(schema.minimum, 0), Math.min(schema.maximum!, schema.minimum + 40));
    if (name.endsWith("state")) return pick(["TX", "NY", "CA"]);
    return pick(["Austin", "austin", "San José", "U.S.", "10001"]);
  };
  const more: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(members) as [string, MemberSchema][]) {
    if (given.includes(name) || Object.hasOwn(record, name) || chance(0.3)) continue;
    if (name === "external_ids")
      more[name] = Object.fromEntries(
        some(2, externalIdKeys).map((key) => [key, [pick(["801-123", "0000801123", "A-7", "55"])]]),
      );
    else if (name === "project_ids") more[name] = some(below(3), projects);
    else if (name === "funds") more[name] = some(below(3), ["Fund I", "Fund II"]).map(named);
    else if (schema.type === "array")
      more[name] = some(1 + below(2), schema.items?.enum ?? spellings.flat());
    else if (name === "market") more[name] = pick(marketTitles);
    else if (schema.pattern?.startsWith("^http") !== true) more[name] = one(name, schema);
  }
  const provenance = { confidence: below(11) / 10, basis: pick(provenanceBases.slice(0, 3)) };
  const updated_at = `${day().padEnd(7, "-03").padEnd(10, "-09")}T0${below(9)}:00:00Z`;
  return { ...more, ...record, provenance, updated_at } as CanonicalRecord;
}

const named = (name: string) => ({ name });

/** A random query for a list, as texts by name. Most values are those of some record. */
export function randomQuery(kind: RecordKind, records: ServedRecords, random: Random): Asked {
  const { chance, pick, below } = random;
  const { filters, sorts } = lists[kind];
  const names = random.some(1 + below(3), Object.keys(filters));
  const asked: Record<string, readonly string[]> = {};
  for (const name of names) {
    const { form, values, numbers, condition, isOfSignal, valuesMax } = filters[name]!;
    const record = pick(records[isOfSignal ? "signal" : kind]);
    const carried = () => {
      if (condition === "gp_name")
        return [pick(pick(records.gp)["name"].split(/[\s-]+/) as string[])];
      if (condition === "name")
        return (record["name"] as string).split(/[\s-]+/).slice(0, 1 + below(2));
      if (condition === "id") return [record.id, ...(record["former_ids"] ?? [])];
      if (condition === "gp_id") return [pick(records.gp).id, "gp_0000000000000000"];
      if (form === "flag") return ["true", "false"];
      if (form === "number")
        return [String((valueOf(record, condition) as number | null) ?? numbers!.minimum)];
      if (form === "date")
        return [
          pick([
            (valueOf(record, condition) as string) ?? "2024",
            "-400d",
            "2023-06",
            "2024",
          ]).slice(0, 10),
        ];
      const of = kind === "principal" && filters[name]!.meaning.includes("GP") ? "gp" : kind;
      return textsOf(
        of === "gp" && kind !== "gp" ? pick(records.gp) : record,
        isOfSignal ? "signal" : of,
        condition,
      );
    };
    const own = carried().filter((value) => value.trim() !== "" && [...value].length <= 100);
    const known = values ?? (own.length > 0 ? own : [form === "flag" ? "true" : "none"]);
    const wanted = valuesMax > 1 ? 1 + below(2) : 1;
    asked[name] = random.some(wanted, chance(0.8) && own.length > 0 ? own : known);
  }
  if (chance(0.6)) asked["sort"] = [pick(sorts!)];
  return asked;
}

/** The query string of a random query. */
export const textOf = (asked: Asked, more: Readonly<Record<string, string>>) => {
  const pairs = Object.entries(asked).flatMap(([name, all]) => all.map((value) => [name, value]));
  return new URLSearchParams([...pairs, ...Object.entries(more)]).toString();
};

/** Awkward records with values of nearly all members. */
export function filledRecords(seed: number, random: Random): CanonicalRecord[] {
  const drawn = awkwardRecords(seed, { gps: 60, principals: 70, signals: 90, projects: 70 });
  const projects = drawn.flatMap(({ record, id }) => (record === "project" ? [id] : []));
  return drawn.map((record) => filled(record, projects, random));
}
