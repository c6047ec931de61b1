/** Where a read is served, and what the answers to requests that use something deprecated say of it. */
import type { FastifyRequest } from "fastify";
import {
  anchorOf,
  checkDeprecations,
  type Deprecation,
  endOf,
  nameOfUse,
} from "#operations/deprecations.ts";
import type { ReadName } from "#operations/reads.ts";
import { Problem } from "#problems.ts";
import { headerLines, type HeaderLines } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";

interface ReadRoute {
  url: string;
  /**
   * Notes on a request what it uses of what is deprecated, and gives the headers that its answer has for it. Null where nothing
   * on the route is deprecated, so that no request is looked at.
   * @throws Problem version-retired.
   */
  noteUse: ((request: Noted, query: string) => HeaderLines) | null;
}

type Noted = Pick<FastifyRequest, "operation">;

/** Its own path, the same under `/v1`, and under each version that is deprecated. */
export function routesOf(http: HttpDependencies, name: ReadName): ReadRoute[] {
  checkDeprecations(http.deprecations);
  const parameters = http.deprecations.filter(
    (one) => "parameter" in one && one.operation === name,
  );
  const noteUse =
    parameters.length === 0
      ? null
      : (request: Noted, query: string) => note(http, name, parameters, request, query);
  const ofVersion = (version: Deprecation): ReadRoute[] => {
    if ("parameter" in version) return [];
    return [
      {
        url: `/${version.version}/${name}`,
        noteUse(request, query) {
          if (http.now() >= endOf(version))
            throw new Problem(
              "version-retired",
              `Version ${version.version.slice(1)} was retired on ${version.sunset}.`,
              {
                successor: `/${version.successor}/${name}`,
                sunset: new Date(endOf(version)).toISOString(),
              },
            );
          return note(http, name, [version, ...parameters], request, query);
        },
      },
    ];
  };
  return [
    { url: `/${name}`, noteUse },
    { url: `/v1/${name}`, noteUse },
    ...http.deprecations.flatMap(ofVersion),
  ];
}

/** @param known deprecations that requests on the route may use. */
function note(
  { config }: HttpDependencies,
  name: ReadName,
  known: readonly Deprecation[],
  request: Noted,
  query: string,
): HeaderLines {
  const asked = new URLSearchParams(query);
  const used = known
    .filter((one) => !("parameter" in one) || asked.has(one.parameter))
    .toSorted((one, other) => endOf(one) - endOf(other));
  const [soonest] = used;
  if (soonest === undefined) return "";
  request.operation = nameOfUse(soonest, name);
  return deprecationHeaders(used, name, config.publicUrl ?? "");
}

/** Of several the first day of any, and its end that comes first. */
function deprecationHeaders(
  used: readonly Deprecation[],
  name: ReadName,
  base: string,
): HeaderLines {
  const since = Math.min(...used.map((one) => Date.parse(one.since)));
  const links = used.flatMap((one) => {
    const entry = `<${base}/changelog#${anchorOf(one)}>`;
    const successor =
      "parameter" in one ? [] : [`<${base}/${one.successor}/${name}>; rel="successor-version"`];
    return [
      `${entry}; rel="deprecation"; type="text/html"`,
      `${entry}; rel="sunset"; type="text/html"`,
      ...successor,
    ];
  });
  return headerLines({
    deprecation: `@${since / 1000}`,
    sunset: new Date(endOf(used[0]!)).toUTCString(),
    link: links.join(", "),
  });
}
