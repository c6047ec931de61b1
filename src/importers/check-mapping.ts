/** Finds everything wrong with a mapping file, each fault with its path in the file. */
import { canonicalSchemas } from "#records/canonical.ts";
import { checkRecord } from "#records/check.ts";
import type { RecordFault } from "#records/source-entry.ts";
import { checkSources } from "./check-source.ts";
import { fieldsOf, grouped, idField, namesField, type Field } from "./fields.ts";
import { Condition, Mapping, NamedGps, RecordBlock } from "./mapping.ts";
import { join, notKnown, shapeFaults } from "./shape-faults.ts";

/** @param value any JSON value; it is a `Mapping` if nothing is found. */
export function checkMapping(value: unknown): RecordFault[] {
  const faults = shapeFaults(Mapping, value, "");
  if (!isObject(value)) return [{ field: "mapping", reason: "must be an object" }];
  const { records, named_gps: namedGps } = value;
  if (Array.isArray(records))
    for (const [at, block] of records.entries())
      if (isObject(block)) faults.push(...checkBlock(block, `records[${at}]`));
  if (isObject(namedGps)) faults.push(...checkNamedGps(namedGps, "named_gps"));
  return faults;
}

function checkBlock(block: Record<string, unknown>, path: string): RecordFault[] {
  const faults = shapeFaults(RecordBlock, block, path);
  if (faults.some(({ field }) => field === `${path}.record`)) return faults;
  const kind = (block as RecordBlock).record;
  for (const name of ["when", "deleted"])
    if (isObject(block[name]))
      faults.push(...shapeFaults(Condition, block[name], `${path}.${name}`));
  if (block["id"] !== undefined) faults.push(...checkSources(block["id"], idField, `${path}.id`));
  if (!isObject(block["fields"])) return faults;
  const fields = block["fields"];
  const needed = (canonicalSchemas[kind] as { required?: string[] }).required ?? [];
  for (const name of needed)
    if (name !== "record" && name !== "id" && fields[name] === undefined)
      faults.push({ field: `${path}.fields.${name}`, reason: "is required" });
  return [...faults, ...checkFields(fields, fieldsOf(kind), `${path}.fields`, "")];
}

/** @param group `external_ids` or `provenance` while inside of it, else empty. */
function checkFields(
  fields: Record<string, unknown>,
  known: ReadonlyMap<string, Field>,
  path: string,
  group: string,
): RecordFault[] {
  return Object.entries(fields).flatMap(([name, written]) => {
    const at = `${path}.${name}`;
    const field = known.get(join(group, name));
    if (field !== undefined && !name.includes(".")) return checkSources(written, field, at);
    if (group === "" && Object.hasOwn(grouped, name))
      return isObject(written)
        ? checkFields(written, known, at, name)
        : [{ field: at, reason: "must be an object" }];
    return [{ field: at, reason: notKnown(name, namesIn(known, group)) }];
  });
}

function namesIn(known: ReadonlyMap<string, Field>, group: string): string[] {
  const steps = [...known.keys()].map((path) => path.split("."));
  const names = steps.map(([first = "", second]) =>
    group === "" ? first : first === group ? second : undefined,
  );
  return [...new Set(names)].filter((name) => name !== undefined);
}

function checkNamedGps(named: Record<string, unknown>, path: string): RecordFault[] {
  const faults = shapeFaults(NamedGps, named, path);
  if (named["names"] !== undefined)
    faults.push(...checkSources(named["names"], namesField, `${path}.names`));
  if (!isObject(named["constants"])) return faults;
  const example = { name: "Example", ...named["constants"], record: "gp", id: "example" };
  const constants = checkRecord(example).map(({ field, reason }) => ({
    field: `${path}.constants.${field}`,
    reason,
  }));
  return [...faults, ...constants];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
