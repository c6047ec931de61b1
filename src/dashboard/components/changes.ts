/** Changes of records as pages and feeds tell them: which belong to a view, and each in words. */
import type { ChangesReader, JoinedChange } from "#datasets/joined-steps.ts";
import { filterText } from "#operations/parameters.ts";
import { dayText } from "#pages/prose.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { positionOfId } from "#search/name-index.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";
import { money, valueLabel } from "#pages/values.ts";
import { cutText } from "./records.ts";
import { browsePaths, filterLabel, nouns, readView, type View } from "./view.ts";

/** Reads a stored view. @throws Problem `invalid-parameters`, as the list of the kind does. */
export const readQueryOf = (model: ReadModel, kind: RecordKind, query: string): View =>
  readView(model, kind, [...new URLSearchParams(query)]);

/** Returns the filter of a view as a query, the same for equal ones; empty for all records of the kind. */
export function queryOf({ query: { values } }: View): string {
  const { sort: _, ...asked } = values;
  return filterText(asked);
}

/** Returns the id of the GP that a former one is part of now; null if there is none. */
export function partOf(model: ReadModel, id: string): string | null {
  const at = positionOfId(model.parts.ids, id);
  return at === -1 ? null : readDocuments<{ id: string }>(model.parts.documents.gp, [at])[0]!.id;
}

interface InView {
  changes: JoinedChange[];
  /** Removed records that may have been in the view: the dataset that last had them is not kept. */
  unknown: JoinedChange[];
}

/**
 * Finds the changes in a view: by the records as they are now, and those that are gone by what they last were.
 * @param changes each record once.
 */
export async function inView(view: View, changes: readonly JoinedChange[]): Promise<InView> {
  const { kind, model } = view;
  const { filter } = view.query;
  const ofKind = changes.filter((one) => one.kind === kind);
  if (queryOf(view) === "") return { changes: ofKind, unknown: [] };
  const idNow = ({ change, id, into }: JoinedChange) => (change === "merged" ? into! : id);
  const isGone = ({ change }: JoinedChange) => change === "removed";
  const here = ofKind.filter((one) => !isGone(one));
  const known = await findIds(model, kind, filter, here.map(idNow));
  const matched = new Set(here.filter((one) => known.has(idNow(one))));
  const unknown: JoinedChange[] = [];
  for (const [step, gone] of Map.groupBy(ofKind.filter(isGone), lastStep)) {
    const departed = step.departed();
    if (departed === null) unknown.push(...gone);
    else {
      const ids = gone.map(({ id }) => id);
      const found = await findIds(departed, kind, filter, ids);
      for (const one of gone) if (found.has(one.id)) matched.add(one);
    }
  }
  return { changes: ofKind.filter((one) => matched.has(one)), unknown };
}

const lastStep = ({ places }: JoinedChange) => places.at(-1)!.step;

/** Returns those of the ids whose records satisfy a filter. */
async function findIds(
  model: ReadModel,
  kind: RecordKind,
  filter: Filter,
  ids: readonly string[],
): Promise<Set<string>> {
  const asked = filter["id"] as readonly string[] | undefined;
  const wanted = asked === undefined ? ids : ids.filter((id) => asked.includes(id));
  return new Set((await findRecords(model, kind, { ...filter, id: wanted })).keys());
}

type AnyRecord = Readonly<Record<string, unknown>> & { id: string };

/** Returns records by their ids. Reading the values that the filter needs yields to other requests. */
async function findRecords(
  model: ReadModel,
  kind: RecordKind,
  filter: Filter & { id: readonly string[] },
): Promise<Map<string, AnyRecord>> {
  if (filter.id.length === 0) return new Map();
  await prepareInTurns(model, kind, filter);
  const { positions } = model.select(kind, filter, { limit: filter.id.length, offset: 0 });
  const records = readDocuments<AnyRecord>(model.parts.documents[kind], positions);
  return new Map(records.map((record) => [record.id, record]));
}

/** A change in words. */
export interface ToldChange {
  change: JoinedChange;
  name: string;
  /** Path of the record's page; null if it has none. */
  href: string | null;
  facts: readonly ToldFact[];
}

/** A member with its values before and after, or a note without them. */
interface ToldFact {
  label: string;
  values: readonly [before: string, after: string] | null;
}

/**
 * Puts changes into words. Contact details of people are left out unless `isPrivate`.
 * @param lastOf returns the last change of the record, which says where the record is found.
 */
export async function tellChanges(
  model: ReadModel,
  reader: ChangesReader,
  changes: readonly JoinedChange[],
  isPrivate: boolean,
  lastOf = (change: JoinedChange) => change,
): Promise<ToldChange[]> {
  const records = new Map<JoinedChange, AnyRecord>();
  for (const [source, some] of Map.groupBy(changes, (one) => sourceOf(model, lastOf(one))))
    for (const [kind, ofKind] of Map.groupBy(some, (one) => one.kind)) {
      if (source === null) continue;
      const id = ofKind.map((one) => one.id);
      const found = await findRecords(source, kind, { id });
      for (const one of ofKind) if (found.has(one.id)) records.set(one, found.get(one.id)!);
    }
  const members = reader.members(changes);
  return changes.map((change, i) => {
    const told = change.change === "added" ? (members[i]!.after as AnyRecord) : undefined;
    const record = records.get(change) ?? told;
    return {
      change,
      name: record === undefined ? `A ${nouns[change.kind][0]}` : nameOf(record),
      href: hrefOf(model, change, record),
      facts: factsOf(model, change, record, members[i]!, isPrivate),
    };
  });
}

/** Returns the dataset that has the record of a change; null if it is not kept. */
const sourceOf = (model: ReadModel, one: JoinedChange): ReadModel | null =>
  one.change === "added" || one.change === "changed" ? model : lastStep(one).departed();

const nameOf = ({ name, title }: AnyRecord): string => cutText(String(name ?? title), 120);

function hrefOf(model: ReadModel, { kind, change, id, into }: JoinedChange, record?: AnyRecord) {
  if (change === "merged") return `${browsePaths.gp}/${into}`;
  if (kind !== "signal") return change === "removed" ? null : `${browsePaths[kind]}/${id}`;
  const [gp] = (record?.["gps"] ?? []) as { id: string }[];
  return gp === undefined || partOf(model, gp.id) === null
    ? null
    : `${browsePaths.gp}/${gp.id}?tab=signals`;
}

/** Members that say nothing to a person, or repeat others. */
const quiet = new Set(
  "id first_name middle_name last_name external_ids provenance latitude longitude updated_at".split(
    " ",
  ),
);
const contact = new Set(["email", "linkedin_url"]);
const factsMax = 3;

function factsOf(
  model: ReadModel,
  { change, into }: JoinedChange,
  record: AnyRecord | undefined,
  { before, after }: ReturnType<ChangesReader["members"]>[number],
  isPrivate: boolean,
): ToldFact[] {
  const note = (label: string): ToldFact => ({ label, values: null });
  if (change === "added") return [note(introduction(record))];
  if (change === "removed") return [note("No longer in the source")];
  if (change === "merged") {
    const at = positionOfId(model.parts.ids, into!);
    const [gp] = readDocuments<AnyRecord>(model.parts.documents.gp, at === -1 ? [] : [at]);
    return [note(`Now part of ${gp === undefined ? "another GP" : nameOf(gp)}`)];
  }
  if (before === null) return [note("Removed and added again")];
  const names = Object.keys(after).filter(
    (name) => !quiet.has(name) && (isPrivate || !contact.has(name)),
  );
  if (names.length === 0) return [note("Identifiers, or what the source says of it")];
  const facts = names.slice(0, factsMax).map((name) => ({
    label: filterLabel(name),
    values: [valueText(name, before[name]), valueText(name, after[name])] as const,
  }));
  const more = names.length - facts.length;
  return more === 0 ? facts : [...facts, note(`and ${more} more`)];
}

/** Members that introduce a new record. A kind has only some of them. */
type IntroducedRecord = Partial<
  Record<"type" | "status" | "city" | "state" | "title" | "date", string>
> & { gps?: readonly { name: string }[] };

/** Returns what a new record is, such as `New offering` or `Chief Executive Officer, Alder Capital`. */
function introduction(record: AnyRecord | undefined): string {
  if (record === undefined) return "";
  const { type, status, city, state, title, gps, date } = record as IntroducedRecord;
  const said =
    date === undefined
      ? [title, status && valueLabel(status), gps?.[0]?.name, city, state]
      : [type && valueLabel(type), dayText(date)];
  return cutText(said.filter((one) => typeof one === "string" && one !== "").join(", "), 120);
}

const valueLengthMax = 60;

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "number") {
    if (name.endsWith("_usd")) return money(value);
    return name.endsWith("_year") ? String(value) : value.toLocaleString("en-US");
  }
  if (Array.isArray(value)) {
    const names = (value as readonly (string | { name?: string })[]).map((one) =>
      typeof one === "string" ? valueLabel(one) : (one.name ?? ""),
    );
    return names.length === 0 ? "–" : cutText(names.join(", "), valueLengthMax);
  }
  if (typeof value !== "string") return "–";
  return /^\d{4}-\d\d(?:-\d\d)?$/.test(value)
    ? dayText(value)
    : cutText(valueLabel(value), valueLengthMax);
}

/** Returns a fact as text, such as `Assets: $3.2B → $3.5B`. */
export const factText = ({ label, values }: ToldFact): string =>
  values === null ? label : `${label}: ${values[0]} → ${values[1]}`;

/** Returns the kind that a parameter names; undefined if it names none. */
export const kindNamed = (text: string | null): RecordKind | undefined =>
  recordKinds.find((kind) => kind === text);
