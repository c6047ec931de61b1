import assert from "node:assert/strict";
import { test } from "node:test";
import { exposition, gauge, openHistogram, openTally } from "#metrics/metric.ts";
import { readExposition } from "../support/read-exposition.ts";

test("every number a metric can have is written as Prometheus writes it", () => {
  const numbers = [0, -0, 0.1, 1e21, 5e-324, Infinity, 2 ** 53];
  const metrics = numbers.map((value, i) => gauge(`number_${i}`, "A number", () => value));
  const read = readExposition(exposition(metrics));
  for (const [i, value] of numbers.entries())
    assert.equal(read.get(`number_${i}`)!.samples.get(`number_${i}`), value === 0 ? 0 : value);
});

test("a number that is not known is left out, and the metric still stands there", () => {
  const read = readExposition(exposition([gauge("unknown", "Not known here", () => null)]));
  assert.deepEqual(read.get("unknown"), {
    type: "gauge",
    help: "Not known here",
    samples: new Map(),
  });
});

test("a tally counts each combination of labels by itself", () => {
  const tally = openTally("met_total", "Met", ["what", "status"], [["never", "0"]]);
  tally.add("a", 200);
  tally.add("a", 200);
  tally.add("b", 404);
  assert.deepEqual(
    [...readExposition(exposition([tally])).get("met_total")!.samples],
    [
      ['met_total{what="never",status="0"}', 0],
      ['met_total{what="a",status="200"}', 2],
      ['met_total{what="b",status="404"}', 1],
    ],
  );
});

test("a histogram puts each time into all buckets it does not exceed", () => {
  const histogram = openHistogram("took_seconds", "Took", "what", [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.2, 1, 1.5]) histogram.observe("a", seconds);
  histogram.observe("b", 2);
  const { samples } = readExposition(exposition([histogram])).get("took_seconds")!;
  assert.deepEqual(
    ["0.1", "1", "+Inf"].map((le) => samples.get(`took_seconds_bucket{what="a",le="${le}"}`)),
    [2, 4, 5],
  );
  assert.equal(samples.get('took_seconds_sum{what="a"}'), 0.05 + 0.1 + 0.2 + 1 + 1.5);
  assert.equal(samples.get('took_seconds_bucket{what="b",le="1"}'), 0);
});
