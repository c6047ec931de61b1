/** Firms that stand in filings of others by profession: agents, platforms, administrators, registered agents, governance. */
import { fold } from "#records/fold.ts";
import { withoutForm } from "#records/legal-forms.ts";
import firms from "./known-firms.json" with { type: "json" };
import { isWordOf } from "./names.ts";

type Profession = keyof typeof firms;

const coreOf = (name: string) => withoutForm(fold(name)).replace(/^the /, "");

const professionOf = new Map(
  Object.entries(firms).flatMap(([profession, entries]) =>
    entries.map(({ name }) => [coreOf(name), profession as Profession] as const),
  ),
);

/**
 * Returns the profession of a firm of the lists, or null. Words may follow a listed name of two words or more; after
 * one of a single word only words of service firms, so that `Vista Homes` is not `Vista`.
 */
export function professionIn(name: string): Profession | null {
  const words = coreOf(name).split(" ");
  for (let count = words.length; count > 0; count--) {
    const profession = professionOf.get(words.slice(0, count).join(" "));
    if (profession && (count > 1 || words.slice(1).every((word) => isWordOf("service", word))))
      return profession;
  }
  return null;
}
