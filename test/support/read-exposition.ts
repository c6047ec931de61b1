/** Reads Prometheus' text format and takes nothing that its description does not allow. */
import assert from "node:assert/strict";

export interface ReadMetric {
  type: string;
  help: string;
  /** By name and labels, as they stand in the text. */
  samples: Map<string, number>;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleLine =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/;
const number = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/;

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details */
export function readExposition(text: string): Map<string, ReadMetric> {
  assert.ok(text.endsWith("\n"), "the last line ends");
  const metrics = new Map<string, ReadMetric>();
  let name = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, keyword, subject = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      assert.match(subject, metricName);
      assert.ok(!metrics.has(subject), `${subject} comes once`);
      metrics.set((name = subject), { help: rest, type: "", samples: new Map() });
    } else if (keyword === "TYPE") {
      assert.equal(subject, name, "the type follows the help");
      assert.match(rest, /^(counter|gauge|histogram)$/);
      metrics.get(name)!.type = rest;
    } else addSample(metrics.get(name), name, line);
  }
  for (const [one, metric] of metrics) {
    assert.notEqual(metric.type, "", one);
    if (metric.type === "histogram") checkHistogram(one, metric);
  }
  return metrics;
}

function addSample(metric: ReadMetric | undefined, name: string, line: string): void {
  const [, sampleName, labels = "", value] = sampleLine.exec(line) ?? assert.fail(`'${line}'`);
  assert.ok(metric !== undefined && metric.type !== "", `${line} stands below its type`);
  const suffixes = metric.type === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
  assert.ok(
    suffixes.some((suffix) => sampleName === name + suffix),
    `${sampleName} is of ${name}`,
  );
  assert.doesNotMatch(labels, /,$/);
  assert.match(value!, number);
  const key = labels === "" ? sampleName! : `${sampleName}{${labels}}`;
  assert.ok(!metric.samples.has(key), `${key} comes once`);
  const read = Number(value!.replace("Inf", "Infinity"));
  if (metric.type !== "gauge") assert.ok(read >= 0, line);
  metric.samples.set(key, read);
}

/** Buckets never shrink, and the one without an upper bound counts all. */
function checkHistogram(name: string, { samples }: ReadMetric): void {
  let last = 0;
  for (const [key, value] of samples) {
    const [, labels, bound] = /_bucket\{(.*?),?le="([^"]+)"\}$/.exec(key) ?? [];
    if (bound === undefined) continue;
    assert.ok(value >= last, key);
    last = bound === "+Inf" ? 0 : value;
    if (bound === "+Inf") assert.equal(value, samples.get(`${name}_count{${labels}}`), key);
  }
}
