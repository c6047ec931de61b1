/** Compiles a mapping into one function from the cells of a row to its records. */
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import { fold } from "#records/fold.ts";
import { namedGpPrefix, type RecordFault, type RecordName } from "#records/source-entry.ts";
import { mayBeInUs, stateMembers, usStates } from "#records/us-states.ts";
import { clean, comparable } from "./cells.ts";
import { type Cells, compileField, type MappingContext, sourcesOf } from "./compile-source.ts";
import { isoFormats } from "./dates.ts";
import { type Field, fieldsOf, idField, namesField, writtenFields } from "./mapping-fields.ts";
import type { Condition, Mapping, NamedGps, RecordBlock } from "./mapping.ts";
import { nearestFinder } from "./nearest.ts";
import { quoted, Unreadable } from "./unreadable.ts";

export interface CompiledMapping {
  /** Columns the file must have, in the order in which `read` expects their cells. */
  columns: readonly string[];
  read: (cells: Cells) => RowReading;
}

/** What one row gives: only faults where it has any. */
interface RowReading {
  records: CanonicalRecord[];
  namedGps: CanonicalGp[];
  /** Records the row says are to be removed. */
  deleted: RecordName[];
  faults: RecordFault[];
}

/** @param mapping as `readMapping` gives it, without faults. */
export function compileMapping(mapping: Mapping): CompiledMapping {
  const columns: string[] = [];
  const context: MappingContext = {
    slotOf: (column) => {
      const slot = columns.indexOf(clean(column));
      return slot >= 0 ? slot : columns.push(clean(column)) - 1;
    },
    missing: new Set(["", ...(mapping.missing ?? []).map(comparable)]),
    dates: mapping.dates ?? isoFormats,
    ...(mapping.decimal && { decimal: mapping.decimal }),
  };
  const blocks = mapping.records.map((block) => compileBlock(block, context));
  const readNamedGps = mapping.named_gps && compileNamedGps(mapping.named_gps, context);

  const read = (cells: Cells): RowReading => {
    const faults: RecordFault[] = [];
    const namedGps = orFault(namesField.path, readNamedGps?.(cells), faults) ?? [];
    const made = blocks.map((block) => block(cells, namedGps, faults));
    if (faults.length > 0) return { records: [], namedGps: [], deleted: [], faults };
    const records = made.flatMap(({ record }) => record ?? []);
    const deleted = made.flatMap(({ deleted }) => deleted ?? []);
    // A row for which no condition holds names nobody, nor does one that only removes.
    return { records, namedGps: records.length > 0 ? namedGps : [], deleted, faults };
  };
  return { columns, read };
}

/** What a block makes of a row: a record, the name of one to remove, or nothing. */
type ReadBlock = (
  cells: Cells,
  namedGps: readonly CanonicalGp[],
  faults: RecordFault[],
) => { record?: CanonicalRecord; deleted?: RecordName };

function compileBlock(block: RecordBlock, context: MappingContext): ReadBlock {
  const applies = compileCondition(block.when, context) ?? (() => true);
  const isDeleted = compileCondition(block.deleted, context) ?? (() => false);
  const readId = compileField(block.id, idField, context);
  const known = fieldsOf(block.record);
  const readers = writtenFields(block.fields).map(
    ([path, written]) => [path, compileField(written, known.get(path) as Field, context)] as const,
  );
  return (cells, namedGps, faults) => {
    if (!applies(cells)) return {};
    const id = orFault(
      "id",
      readId(cells) ?? new Unreadable("is missing; what it is made from is blank in this row"),
      faults,
    );
    if (isDeleted(cells)) return { deleted: { record: block.record, id: id as string } };
    const record: Record<string, unknown> = { record: block.record, id };
    for (const [path, readField] of readers)
      set(record, path, orFault(path, readField(cells), faults));
    if (faults.length === 0) codeStates(record, faults);
    if (block.record !== "gp" && namedGps.length > 0)
      record["gps"] = [
        ...new Set([...((record["gps"] as string[]) ?? []), ...namedGps.map(({ id }) => id)]),
      ];
    return { record: record as unknown as CanonicalRecord };
  };
}

const codeOfState = new Map(
  Object.entries(usStates).flatMap(([code, name]) => [
    [fold(code), code],
    [fold(name), code],
  ]),
);
const nearestState = nearestFinder(Object.values(usStates));

/** Writes states of the US, named or in another case, as their USPS codes. Elsewhere they stay as they are. */
function codeStates(record: Record<string, unknown>, faults: RecordFault[]): void {
  for (const [state, country] of stateMembers) {
    const text = record[state];
    if (typeof text !== "string" || !mayBeInUs(record[country])) continue;
    const code =
      codeOfState.get(fold(text)) ??
      new Unreadable(
        `must be a state of the US, unless ${country} names another country; it is ${quoted(text)}${nearestState(text)}`,
      );
    record[state] = orFault(state, code, faults);
  }
}

/** The value, or undefined and one fault more. */
function orFault<V>(field: string, value: V | Unreadable, faults: RecordFault[]): V | undefined {
  if (!(value instanceof Unreadable)) return value;
  faults.push({ field, reason: value.reason, isOfCell: true });
  return undefined;
}

/** Paths have at most two steps: `external_ids.cik`. */
function set(record: Record<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const [group = "", member] = path.split(".");
  if (member === undefined) record[group] = value;
  else record[group] = { ...(record[group] as object | undefined), [member]: value };
}

function compileCondition(
  written: string | Condition | undefined,
  context: MappingContext,
): ((cells: Cells) => boolean) | undefined {
  if (written === undefined) return undefined;
  const { column, is }: Condition = typeof written === "string" ? { column: written } : written;
  const slot = context.slotOf(column);
  const wanted = is && new Set(is.map(comparable));
  return (cells) => {
    const cell = comparable(cells[slot] ?? "");
    return wanted === undefined ? !context.missing.has(cell) : wanted.has(cell);
  };
}

const confidenceOfNames = 0.5;

/** The GPs that a row only names, each once. All rows share one GP for a name, whatever its case and punctuation. */
function compileNamedGps(named: NamedGps, context: MappingContext) {
  const readNames = compileField(named.names, namesField, context);
  const aliases = aliasesOf(named);
  const made = new Map<string, CanonicalGp>();
  return (cells: Cells): CanonicalGp[] | Unreadable => {
    const names = readNames(cells) ?? [];
    if (names instanceof Unreadable) return names;
    const gps = new Map<string, CanonicalGp>();
    for (const name of names as string[]) {
      const folded = fold(name);
      if (folded === "") return new Unreadable(`must hold a letter or a digit, not only ${name}`);
      const gp = made.get(folded) ?? gpNamed(name, folded, aliases.get(folded) ?? [], named);
      made.set(folded, gp);
      gps.set(folded, gp);
    }
    return [...gps.values()];
  };
}

function gpNamed(
  name: string,
  folded: string,
  aliases: readonly string[],
  named: NamedGps,
): CanonicalGp {
  const { provenance, ...constants } = (named.constants ?? {}) as Partial<CanonicalGp>;
  return {
    record: "gp",
    id: `${namedGpPrefix}${folded}`,
    name,
    ...(aliases.length > 0 && { aliases: [...aliases] }),
    ...constants,
    provenance: {
      basis: "named_sponsor",
      confidence: named.confidence ?? confidenceOfNames,
      ...provenance,
    },
  };
}

/** Spellings that `values` maps to a name become its aliases, so that they still find it; by its folded form. */
function aliasesOf({ names }: NamedGps): Map<string, string[]> {
  const aliases = new Map<string, string[]>();
  for (const { values = {} } of sourcesOf(names))
    for (const [spelling, name] of Object.entries(values)) {
      if (typeof name !== "string" || fold(spelling) === fold(name)) continue;
      const known = aliases.get(fold(name)) ?? [];
      const isNew = !known.some((one) => comparable(one) === comparable(spelling));
      aliases.set(fold(name), isNew ? [...known, spelling] : known);
    }
  return aliases;
}
