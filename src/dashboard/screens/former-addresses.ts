/** Redirects from addresses that pages had before, with their queries. */
import { moved, type Route, route } from "#dashboard/screen.ts";

const moves = [
  ["/browse", "/browse/gps"],
  ["/account/browse", "/browse/gps"],
  ["/account/browse/signals", "/browse/signals"],
  ["/account/browse/gp/{id}", "/browse/gps/{id}"],
] as const;

export const formerAddressRoutes: readonly Route[] = moves.map(([from, to]) =>
  route(from, "anyone", {
    GET: ({ names, query }) =>
      moved(
        to.replace("{id}", () => names["id"]!),
        query,
      ),
  }),
);
