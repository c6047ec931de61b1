/** What each parameter means and what it takes, in words. */
import type { Operation } from "#operations/operation.ts";
import { parameterBounds, type ParameterName } from "#operations/parameter-names.ts";

/** Backticks mark code. */
export const parameterMeanings: Readonly<Record<ParameterName, string>> = {
  gp_name:
    "Part of a name of the GP: every word must stand in one of its names (name, legal name, alias). A word of fewer than 4 characters must begin a word. The id of a GP means that GP alone.",
  tag: "A tag, strategy or property type of the GP, as a whole value. Repeated: any of them.",
  theme: "A theme of the GP, as a whole value. Repeated: any of them.",
  market:
    "A market of the GP: its title, one of its cities, or a city and a state. Repeated: any of them.",
  limit: "How many records a page has at most.",
  offset: "How many records to skip.",
};

/** May the parameter be given several times? */
export const isRepeatable = (name: ParameterName): boolean =>
  name === "tag" || name === "theme" || name === "market";

/** What the operation takes for it: `2 to 200 characters`. */
export function parameterRule(
  name: ParameterName,
  { gpName }: Operation,
  pageSizeMax: number,
): string {
  const { gpNameLengthMax, valueLengthMax, valuesMax, offsetMax } = parameterBounds;
  switch (name) {
    case "gp_name":
      return `${gpName.lengthMin} to ${gpNameLengthMax} characters`;
    case "limit":
      return `whole number, 1 to ${pageSizeMax}`;
    case "offset":
      return `whole number, 0 to ${offsetMax}`;
    default:
      return `1 to ${valueLengthMax} characters, up to ${valuesMax} times`;
  }
}

/** `required`, or what holds where it is left out. */
export function parameterNeed(name: ParameterName, { gpName }: Operation): string {
  if (name === "limit") return `default ${parameterBounds.limitDefault}`;
  if (name === "offset") return "default 0";
  return name === "gp_name" && gpName.isRequired ? "required" : "optional";
}
