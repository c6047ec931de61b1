/** GPs that rows only name: one GP for each name, however it is cased and punctuated. */
import type { CanonicalGp } from "#records/canonical.ts";
import { fold } from "#records/fold.ts";
import { namedGpPrefix } from "#records/source-entry.ts";
import { comparable } from "./cells.ts";
import { compileField, sourcesOf, type Cells, type MappingContext } from "./compile-source.ts";
import { namesField } from "./fields.ts";
import type { NamedGps } from "./mapping.ts";
import { Unreadable } from "./unreadable.ts";

const confidenceOfNames = 0.5;

/** The GPs a row names, each once; none where it names none. */
export function compileNamedGps(named: NamedGps, context: MappingContext) {
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

/** Spellings that `values` brings to one name stay findable as aliases of that name, by its folded form. */
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
