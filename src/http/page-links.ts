/** The `Link` header of a page: its neighbours, and the description of the API (RFC 8288). */
import type { Answer } from "#api/answer-cache.ts";
import { maskKeys } from "#problems.ts";
import type { Query } from "#operations/operation.ts";
import { parameterBounds } from "#operations/parameter-names.ts";
import { canonicalQuery } from "#operations/parameters.ts";

/** @param publicUrl null gives references relative to the host that was asked. */
export function pageLinks(
  { operation, query, total }: Pick<Answer, "operation" | "query" | "total">,
  publicUrl: string | null,
): string {
  const base = publicUrl ?? "";
  const { limit, offset } = query;
  const filter = withoutKeys(query.filter);
  const to = (target: number, rel: string) =>
    `<${base}${operation.path}?${canonicalQuery({ filter, limit, offset: target })}>; rel="${rel}"`;
  const links = [to(0, "first")];
  // Pages are counted from the present offset, so that next and prev meet again.
  const last = total === 0 ? 0 : lastOffset(offset % limit, limit, total);
  if (offset > 0) links.push(to(Math.max(0, Math.min(offset - limit, last)), "prev"));
  if (offset + limit < total && offset + limit <= parameterBounds.offsetMax)
    links.push(to(offset + limit, "next"));
  links.push(to(last, "last"));
  links.push(`<${base}/openapi.json>; rel="service-desc"`);
  return links.join(", ");
}

/** A key that was put into the query by mistake must not come back. Cut value by value, links stay well-formed. */
function withoutKeys({ name, tag, theme, market }: Query["filter"]): Query["filter"] {
  const cut = (values: readonly string[] | undefined) => values?.map(maskKeys) ?? [];
  return {
    name: name === undefined ? undefined : maskKeys(name),
    tag: cut(tag),
    theme: cut(theme),
    market: cut(market),
  };
}

function lastOffset(first: number, limit: number, total: number): number {
  if (total <= first) return 0;
  return first + Math.floor((total - 1 - first) / limit) * limit;
}
