/** What a logged request may be, for tests that try many at random. */
import fc from "fast-check";

/** Its members but for the time; the id `own` stands for one that the service makes. */
export const anyRequest = {
  account: fc.constantFrom(1, 1, 1, 2, 3, 2_000_000_000),
  key: fc.constantFrom("key_a", "key_b", "key_c"),
  operation: fc.constantFrom("fetch-gp", "fetch-signals"),
  status: fc.constantFrom(200, 304, 399, 400, 404, 429, 500),
  milliseconds: fc.integer({ min: 0, max: 9_000_000 }).map((hundredths) => hundredths / 100),
  bytes: fc.integer({ min: 0, max: 4_294_967_295 }),
  dataset: fc.constantFrom(null, "20261121T090000Z-1"),
  problem: fc.constantFrom(null, "invalid-parameters"),
  id: fc.constantFrom("own", "own", "mine-1", "mine-2", "req_00000000000000000000000000"),
  query: fc.constantFrom(null, null, "", "gp_name=🏠 ä"),
};
