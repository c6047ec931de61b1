/** Which records a list returns to a query, worked out from the records as served by looking at every one of them. */
import type { CanonicalRecord } from "#records/canonical.ts";
import { eachOf, type RecordKind, recordKinds } from "#records/kinds.ts";
import { compareBytes, fold, marketSpellings, rankOf } from "./texts.ts";

/** A record as served; of a GP without what it embeds. */
export type Served = Record<string, any> & { id: string };

export type ServedRecords = Readonly<Record<RecordKind, readonly Served[]>>;

/** The public id under which a record of a source is served. */
export type PublicIdOf = (kind: RecordKind, sourceId: string) => string;

/** Records of one source as they are served, as far as the four reads look at them. */
export function asServed(
  records: readonly CanonicalRecord[],
  publicIdOf: PublicIdOf,
): ServedRecords {
  const gps = new Map(
    records
      .filter(({ record }) => record === "gp")
      .map(({ id }) => [id, { id: publicIdOf("gp", id) }]),
  );
  return eachOf(recordKinds, (kind) =>
    records
      .filter(({ record }) => record === kind)
      .map((one) => {
        const links = "gps" in one ? (one.gps ?? []) : [];
        const linked = links.flatMap((id) => gps.get(id) ?? []);
        return { ...one, id: publicIdOf(kind, one.id), gps: linked };
      }),
  );
}

export type Asked = Readonly<Record<string, readonly string[]>>;

/** @param day of the dataset. @returns ids in order. */
export function referenceQuery(
  records: ServedRecords,
  kind: RecordKind,
  asked: Asked,
  day: string,
): string[] {
  const { sort: [sort] = [], ...filters } = asked;
  const gpById = new Map(records.gp.map((gp) => [gp.id, gp]));
  const signalsOf = (gp: Served) =>
    records.signal.filter(({ gps }) => gps.some(({ id }: Served) => id === gp.id));
  const gpsOf = (record: Served): Served[] =>
    kind === "gp" ? [record] : record["gps"].map(({ id }: Served) => gpById.get(id)!);
  const ofOneGp = kind === "principal" ? ["gp_name", "market", "tag", "theme"] : ["gp_name"];
  const [ofGp, own] = [true, false].map((isOfGp) =>
    Object.entries(filters).filter(([name]) => ofOneGp.includes(name) === isOfGp),
  );
  const found = records[kind].filter((record) => {
    const ofSignal = own!.filter(([name]) => name.startsWith("signal_"));
    const ofRecord = own!.filter(([name]) => !name.startsWith("signal_"));
    return (
      (ofGp!.length === 0 ||
        gpsOf(record).some((gp) => ofGp!.every(([name, all]) => isGp(gp, name, all)))) &&
      ofRecord.every(([name, all]) => fits(record, kind, name, all, day)) &&
      (ofSignal.length === 0 ||
        signalsOf(record).some((signal) =>
          ofSignal.every(([name, all]) => fits(signal, "signal", name.slice(7), all, day)),
        ))
    );
  });
  const rank = (gp: Served) => rankOf(gp, fold(filters["gp_name"]?.[0] ?? "")) ?? 0;
  const usual = kind === "signal" ? "-date" : "name";
  const by = sort ?? usual;
  const keyOf = (record: Served) => {
    if (by.endsWith("signal_date"))
      return signalsOf(record)
        .map(({ date }) => date as string)
        .toSorted()
        .at(-1);
    return valueOf(record, by.replace(/^-/, ""));
  };
  const isRanked = kind === "gp" && by === "name" && filters["gp_name"] !== undefined;
  return found
    .map((record) => ({ id: record.id, rank: isRanked ? rank(record) : 0, key: keyOf(record) }))
    .toSorted((a, b) => a.rank - b.rank || compare(a.key, b.key, by) || compareBytes(a.id, b.id))
    .map(({ id }) => id);
}

function compare(one: unknown, other: unknown, by: string): number {
  const [isNone, isOtherNone] = [one, other].map((key) => key === null || key === undefined);
  if (isNone || isOtherNone) return Number(isNone) - Number(isOtherNone);
  const difference =
    typeof one === "number"
      ? one - (other as number)
      : compareBytes(
          by.endsWith("name") ? fold(one as string) : (one as string),
          by.endsWith("name") ? fold(other as string) : (other as string),
        );
  return by.startsWith("-") ? -difference : difference;
}

export const valueOf = (record: Served, name: string): unknown =>
  name === "confidence" ? record["provenance"].confidence : record[name];

function isGp(gp: Served, name: string, asked: readonly string[]): boolean {
  if (name === "gp_name") return asked[0] === gp.id || rankOf(gp, fold(asked[0]!)) !== undefined;
  return fits(gp, "gp", name, asked, "");
}

const externalIds = ["cik", "crd", "lei", "sec_number", "form_d_file", "adv_fund", "hud_id"];
const plurals: Readonly<Record<string, string>> = { role: "roles", project_id: "project_ids" };

function fits(
  record: Served,
  kind: RecordKind,
  name: string,
  asked: readonly string[],
  day: string,
): boolean {
  const [first] = asked;
  const [, ranged, end] = /^(.*)_(from|to|min|max)$/.exec(name) ?? [];
  if (ranged !== undefined) return isInRange(valueOf(record, ranged), end!, first!, day);
  switch (name) {
    case "id":
      return (
        asked.includes(record.id) ||
        (record["former_ids"] ?? []).some((id: string) => asked.includes(id))
      );
    case "gp_id":
      return record["gps"].some(({ id }: Served) => asked.includes(id));
    case "has_gp":
      return record["gps"].length > 0 === (first === "true");
    case "name":
      return rankOf({ name: record["name"] }, fold(first!)) !== undefined;
    case "project_id":
      return record["project_ids"].some((id: string) => asked.includes(id));
    default:
      return textsOf(record, kind, name).some((text) =>
        asked.some((one) => isEqual(name, text, one)),
      );
  }
}

function isEqual(name: string, text: string, asked: string): boolean {
  if (externalIds.includes(name) && name !== "lei" && name !== "hud_id") {
    const digits = (one: string) => one.replaceAll(/\D/g, "").replace(/^0*/, "");
    return digits(text) === digits(asked) && digits(asked) !== "";
  }
  return fold(text) === fold(asked) && fold(asked) !== "";
}

export function textsOf(record: Served, kind: RecordKind, name: string): string[] {
  const all = (...names: string[]) => names.flatMap((one) => record[one] ?? []) as string[];
  switch (name) {
    case "source":
    case "basis":
      return [record["provenance"][name]];
    case "market":
      return all(kind === "gp" ? "markets" : "market").flatMap(marketSpellings);
    case "tag":
      return all("tags", "property_types", "property_type", "strategies", "strategy");
    case "theme":
      return all("themes");
    case "strategy":
    case "property_type":
      return all(name, name === "strategy" ? "strategies" : "property_types");
    default:
      return externalIds.includes(name)
        ? (record["external_ids"]?.[name] ?? [])
        : all(plurals[name] ?? name);
  }
}

function isInRange(value: unknown, end: string, asked: string, day: string): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "number")
    return end === "min" ? value >= Number(asked) : value <= Number(asked);
  const days = /^-(\d+)d$/.exec(asked)?.[1];
  const date =
    days === undefined
      ? asked
      : new Date(Date.parse(day) - Number(days) * 86_400_000).toISOString().slice(0, 10);
  const own = (value as string).slice(0, 10);
  const length = Math.min(own.length, date.length);
  const order = compareBytes(own.slice(0, length), date.slice(0, length));
  return end === "from" ? order >= 0 : order <= 0;
}
