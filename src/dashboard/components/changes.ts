/** Changes to records, for pages and feeds: finds those in a view, and puts each into words. */
import type { ChangesReader, JoinedChange } from "#datasets/joined-steps.ts";
import { filterText } from "#operations/parameters.ts";
import { counted, dayText, grouped } from "#pages/prose.ts";
import { isNamed, kinds, type RecordKind } from "#records/kinds.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";
import { money, valueLabel } from "#pages/values.ts";
import { findRecords } from "./record-page.ts";
import { cutText } from "./records.ts";
import { filterLabel, gpNow, type View } from "./view.ts";

/**
 * Returns a view's filters as a query string, without its sort order. Equal filters give the same string; a view of all
 * records of its kind gives an empty one.
 */
export function queryOf({ query: { values } }: View): string {
  const { sort: _, ...asked } = values;
  return filterText(asked);
}

/** Returns the current id of the GP that has or had this id. Returns null if there is none. */
export const partOf = (model: ReadModel, id: string): string | null => gpNow(model, id)?.id ?? null;

/**
 * Finds the changes in a view, or all changes if it is null. Judges a removed record by its last state, a merged GP by
 * the GP it is now part of, and others by their current state. Changes it cannot judge are in `unknown`.
 */
export async function inView(view: View | null, changes: readonly JoinedChange[]) {
  if (view === null) return { changes, unknown: [] };
  const { kind, model, query } = view;
  const idNow = ({ id, into }: JoinedChange) => into ?? id;
  const { id: ids, ...filter } = query.filter as Filter & { id?: readonly string[] };
  const ofKind = changes.filter((one) => one.kind === kind && (ids?.includes(idNow(one)) ?? true));
  if (queryOf(view) === "") return { changes: ofKind, unknown: [] };
  const matched = new Set<JoinedChange>();
  const unknown: JoinedChange[] = [];
  const lastHad = ({ into, gone }: JoinedChange) => (into === null ? gone : null);
  for (const [gone, some] of Map.groupBy(ofKind, lastHad)) {
    const source = gone === null ? model : gone.departed();
    if (source === null) unknown.push(...some);
    else {
      const found = await recordsById(source, kind, some.map(idNow), filter);
      for (const one of some) if (found.has(idNow(one))) matched.add(one);
    }
  }
  return { changes: ofKind.filter((one) => matched.has(one)), unknown };
}

type AnyRecord = Readonly<Record<string, unknown>> & { id: string };

async function recordsById(model: ReadModel, kind: RecordKind, id: string[], filter: Filter = {}) {
  const found = await findRecords<AnyRecord>(model, kind, { ...filter, id }, id.length);
  return new Map(found.records.map((record) => [record.id, record]));
}

/** Returns how many records of a kind were removed, such as `2 removed GPs`. */
export function removedText(changes: readonly JoinedChange[]): string {
  const [one, many] = kinds[changes[0]!.kind].nouns;
  return counted(changes.length, `removed ${one}`, `removed ${many}`);
}

export type ToldChange = Awaited<ReturnType<typeof tellChanges>>[number];

/** A member with its values before and after, or a note without them. */
interface ToldFact {
  label: string;
  values: readonly [before: string, after: string] | null;
}

/** Puts changes into words. Contact details of people are left out unless `isPrivate`. */
export async function tellChanges(
  model: ReadModel,
  reader: ChangesReader,
  changes: readonly JoinedChange[],
  isPrivate: boolean,
) {
  const records = new Map<string, AnyRecord>();
  for (const [gone, some] of Map.groupBy(changes, (one) => one.gone)) {
    const source = gone === null ? model : gone.departed();
    if (source === null) continue;
    for (const [kind, ofKind] of Map.groupBy(some, (one) => one.kind)) {
      const ids = ofKind.map(({ id }) => id);
      for (const [id, record] of await recordsById(source, kind, ids)) records.set(id, record);
    }
  }
  const members = reader.members(changes);
  return changes.map((change, i) => {
    const told = change.change === "added" ? (members[i]!.after as AnyRecord) : undefined;
    const record = records.get(change.id) ?? told;
    return {
      change,
      name: record === undefined ? `A ${kinds[change.kind].nouns[0]}` : nameOf(record),
      href: hrefOf(model, change, record),
      facts: factsOf(model, change, record, members[i]!, isPrivate),
    };
  });
}

const nameOf = ({ name, title }: AnyRecord): string => cutText(String(name ?? title), 120);

/** Returns the path of the record's page, or of its first GP's page for a signal. Returns null if there is no page. */
function hrefOf(model: ReadModel, { kind, id, into, gone }: JoinedChange, record?: AnyRecord) {
  if (isNamed(kind))
    return gone !== null && into === null ? null : `${kinds[kind].path}/${into ?? id}`;
  const [gp] = (record?.["gps"] ?? []) as { id: string }[];
  return gp === undefined || partOf(model, gp.id) === null
    ? null
    : `${kinds.gp.path}/${gp.id}?tab=signals`;
}

/** Members that tell a reader nothing, or repeat others. */
const quiet =
  "id first_name middle_name last_name external_ids provenance latitude longitude updated_at";
const contact = "email linkedin_url";
const factsMax = 3;

function factsOf(
  model: ReadModel,
  { change, into }: JoinedChange,
  record: AnyRecord | undefined,
  { before, after }: ReturnType<ChangesReader["members"]>[number],
  isPrivate: boolean,
): ToldFact[] {
  const note = (label: string): ToldFact => ({ label, values: null });
  if (change === "added") return [note(introduction(record ?? {}))];
  if (change === "removed") return [note("No longer in the source")];
  if (change === "merged") {
    const gp = gpNow(model, into!);
    return [note(`Now part of ${gp === undefined ? "another GP" : nameOf(gp)}`)];
  }
  if (before === null) return [note("Removed and added again")];
  const hidden = `${quiet} ${isPrivate ? "" : contact}`.split(" ");
  const names = Object.keys(after).filter((name) => !hidden.includes(name));
  if (names.length === 0) return [note("Only details that are not shown here")];
  const facts = names.slice(0, factsMax).map((name) => {
    const label = filterLabel(name);
    const values = [valueText(name, before[name]), valueText(name, after[name])] as const;
    // Long texts are cut, amounts are rounded, and of funds only the names are shown.
    return values[0] === values[1] ? note(`${label} changed`) : { label, values };
  });
  const more = names.length - facts.length;
  return more === 0 ? facts : [...facts, note(`and ${more} more`)];
}

const introducing = ["title", "type", "status", "gps", "city", "state", "date"];

/** Describes a new record, as in `Chief Executive Officer, Alder Capital`. Leaves out a title that is also the name. */
function introduction(record: Partial<AnyRecord>): string {
  const names = record["name"] === undefined ? introducing.slice(1) : introducing;
  const said = names.filter((name) => name in record).map((name) => valueText(name, record[name]));
  return cutText(said.filter((text) => text !== nothing).join(", "), 120);
}

const nothing = "–";

function valueText(name: string, value: unknown): string {
  if (typeof value === "number") {
    if (name.endsWith("_usd")) return money(value);
    return name.endsWith("_year") ? String(value) : grouped(value);
  }
  const all = (Array.isArray(value) ? value : [value ?? ""]) as (string | { name?: string })[];
  const texts = all.map((one) => {
    if (typeof one !== "string") return one.name ?? "";
    return /^\d{4}-\d\d(?:-\d\d)?$/.test(one) ? dayText(one) : valueLabel(one);
  });
  return cutText(texts.join(", "), 60) || nothing;
}
