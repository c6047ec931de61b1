/** What clients are to leave, and until when. Headers, the end itself, the reference, the changelog and the notices follow this list. */
import type { Operation, ParameterName } from "./operation.ts";
import { type ReadName, readNames } from "./reads.ts";

interface Announced {
  /** In addresses and in what was mailed, so it never changes: lower-case words with hyphens. */
  id: string;
  /** Day from which it is deprecated, `YYYY-MM-DD`. */
  since: string;
  /** Day on which it ends, at least twelve months later. */
  sunset: string;
  /** What to do instead, in one sentence; backticks mark code. */
  advice: string;
}

interface DeprecatedParameter extends Announced {
  parameter: ParameterName;
  operation: Operation["name"];
}

/** All paths of a version. From its end on they are a 410, until the entry is removed: six months later at the earliest. */
interface DeprecatedVersion extends Announced {
  version: `v${number}`;
  /** The version to use instead. */
  successor: `v${number}`;
}

export type Deprecation = DeprecatedParameter | DeprecatedVersion;

/** None at present. */
export const deprecations: readonly Deprecation[] = [];

/** What a request that uses it is counted and recorded under, so that usage tells who still does. */
export type DeprecatedName =
  | `${DeprecatedVersion["version"]}/${ReadName}`
  | `${ReadName}?${ParameterName}`;

/** @param name of the read that was asked. */
export const nameOfUse = (deprecation: Deprecation, name: ReadName): DeprecatedName =>
  "parameter" in deprecation
    ? `${name}?${deprecation.parameter}`
    : `${deprecation.version}/${name}`;

/** The deprecation of a parameter, if there is one. */
export const findDeprecated = (
  list: readonly Deprecation[],
  operation: Operation["name"],
  parameter: string,
): Deprecation | undefined =>
  list.find(
    (one) => "parameter" in one && one.parameter === parameter && one.operation === operation,
  );

/** Every name under which its uses are recorded. */
export const namesOfUse = (deprecation: Deprecation): DeprecatedName[] =>
  ("parameter" in deprecation ? [deprecation.operation] : readNames).map((name) =>
    nameOfUse(deprecation, name),
  );

/** All names under which requests are recorded. */
export const recordedNames = (list: readonly Deprecation[]): readonly string[] => [
  ...readNames,
  ...list.flatMap(namesOfUse),
];

/** What is deprecated, in words; backticks mark code. */
export const subjectOf = (deprecation: Deprecation): string =>
  "parameter" in deprecation
    ? `the parameter \`${deprecation.parameter}\` of \`/${deprecation.operation}\``
    : `every path under \`/${deprecation.version}\``;

/** For the reference; backticks mark code. */
export const deprecationSentence = ({ since, sunset, advice }: Deprecation): string =>
  `Deprecated since ${since}; ends on ${sunset}. ${advice}`;

/** Milliseconds since 1970 at which it ends. */
export const endOf = ({ sunset }: Deprecation): number => Date.parse(sunset);

/** Fragment of its entry in the changelog. */
export const anchorOf = ({ id }: Deprecation): string => `deprecated-${id}`;

/** @throws Error naming the entry that is announced for too short a time, or is not what an entry has to be. */
export function checkDeprecations(list: readonly Deprecation[]): void {
  for (const { id, since, sunset } of list) {
    if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id))
      throw new Error(`The deprecation '${id}' needs an id of lower-case words with hyphens.`);
    if (list.filter((one) => one.id === id).length > 1)
      throw new Error(`There are two deprecations '${id}'.`);
    const earliest = new Date(since);
    earliest.setUTCFullYear(earliest.getUTCFullYear() + 1);
    // Written so that a day that is none is refused, too.
    if (!(Date.parse(sunset) >= earliest.getTime()))
      throw new Error(
        `The deprecation '${id}' of ${since} ends on ${sunset}, and has to be announced for twelve months.`,
      );
  }
}
