import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { type Alarm, alarms, countingAlone, watchAlarms } from "#alarms/alarms.ts";
import type { Labels, Metric } from "#metrics/metric.ts";
import { ruleTexts } from "../support/alert-rules.ts";
import { hasTool, runTool } from "../support/installed-tool.ts";
import { readExposition } from "../support/read-exposition.ts";
import { startService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const rules = readFileSync("deploy/alerts.yml", "utf8");
const stepSeconds = 15;
const steps = 60;
/** What is wrong is wrong from the first of these steps until before the second: for seven minutes. */
const [wrongFrom, wrongUntil] = [8, 36];

interface Series {
  name: string;
  labels: Labels;
  /** At a step. */
  value(step: number): number;
}

const isWrong = (step: number) => step >= wrongFrom && step < wrongUntil;
const series = (name: string, labels: Labels, value: Series["value"]): Series => ({
  name,
  labels,
  value,
});
const whileWrong = (name: string, wrong: number, well: number, labels: Labels = {}) =>
  series(name, labels, (step) => (isWrong(step) ? wrong : well));
const always = (name: string, value: number, labels: Labels = {}) =>
  series(name, labels, () => value);
/** Grows by one once, when things go wrong. */
const once = (name: string, labels: Labels = {}) =>
  series(name, labels, (step) => (step < wrongFrom ? 0 : 1));
const failing = (part: string) => whileWrong("gp_records_failing", 1, 0, { part });
const counts = (alone: number) => always(countingAlone.metric, alone, countingAlone.labels);

/** For each alarm what brings it about; its name is the key. */
const examples: Record<string, Series[]> = {
  GpRecordsNotReady: [whileWrong("gp_records_ready", 0, 1)],
  GpRecordsMistakes: [
    once("gp_records_requests_total", { operation: "fetch-gp", status: "500" }),
    series("gp_records_requests_total", { operation: "fetch-gp", status: "200" }, (step) => step),
  ],
  GpRecordsKeysUnreadable: [failing("keys"), counts(1)],
  GpRecordsCountsUnsaved: [failing("counts"), counts(1)],
  GpRecordsCountsUnshared: [failing("counts"), counts(0)],
  GpRecordsUsageUnsaved: [failing("usage")],
  GpRecordsUsageQueueHigh: [
    whileWrong("gp_records_usage_queue_bytes", 51, 50),
    always("gp_records_usage_queue_max_bytes", 100),
  ],
  GpRecordsUsageLost: [once("gp_records_usage_lost_total")],
  GpRecordsPoolExhausted: [whileWrong("gp_records_database_pool_waiting", 1, 0)],
  GpRecordsDatasetNotServed: [failing("dataset")],
  GpRecordsDatasetBehind: [
    series("gp_records_dataset_behind_seconds", {}, (step) =>
      isWrong(step) ? (step - wrongFrom) * stepSeconds : 0,
    ),
  ],
  GpRecordsDatasetOld: [
    series("gp_records_dataset_published_timestamp_seconds", {}, (step) =>
      step < wrongUntil ? wrongFrom * stepSeconds - 35 * 86_400 : wrongUntil * stepSeconds,
    ),
  ],
  // Two of three are slow while things are wrong, of two operations together.
  GpRecordsSlow: ["fetch-gp", "other"].flatMap((operation) => {
    const name = "gp_records_request_duration_seconds";
    const fast = (step: number) =>
      300 * step - 200 * Math.max(0, Math.min(step, wrongUntil) - wrongFrom);
    return [
      series(`${name}_bucket`, { operation, le: "0.05" }, fast),
      series(`${name}_bucket`, { operation, le: "1" }, (step) => 300 * step),
      series(`${name}_count`, { operation }, (step) => 300 * step),
    ];
  }),
  GpRecordsOverloaded: [
    once("gp_records_overload_refusals_total", { cause: "memory" }),
    always("gp_records_overload_refusals_total", 0, { cause: "event_loop_delay" }),
  ],
  GpRecordsConnectionsHigh: [
    whileWrong("gp_records_connections_open", 91, 90),
    always("gp_records_connections_max", 100),
  ],
  GpRecordsFilesHigh: [whileWrong("process_open_fds", 91, 90), always("process_max_fds", 100)],
  GpRecordsDiskLow: [
    whileWrong("gp_records_disk_free_bytes", 9, 10),
    always("gp_records_disk_size_bytes", 100),
  ],
  GpRecordsKeysGuessed: [
    once("gp_records_quota_refusals_total", { policy: "failed-keys" }),
    series("gp_records_quota_refusals_total", { policy: "minute" }, (step) => step),
  ],
};

/** The metrics that these samples are of, at the step that `stepOf` says. */
function metricsOf(all: readonly Series[], stepOf: () => number): Metric[] {
  return [...new Set(all.map(({ name }) => name.replace(/_(?:bucket|count)$/, "")))].map((name) => {
    const own = all.filter((one) => one.name.replace(/_(?:bucket|count)$/, "") === name);
    return {
      name,
      type: own.some((one) => one.name !== name) ? "histogram" : "gauge",
      help: name,
      samples: () =>
        own.map((one) => ({
          suffix: one.name.slice(name.length) as "_bucket",
          labels: one.labels,
          value: one.value(stepOf()),
        })),
    };
  });
}

/** Names of the alarms that have begun, at each step. */
function activeAtSteps(all: readonly Series[]): string[][] {
  let step = 0;
  const milliseconds = () => step * stepSeconds * 1000;
  const stepOf = () => step;
  const watch = watchAlarms(metricsOf(all, stepOf), { elapsed: milliseconds, now: milliseconds });
  return Array.from({ length: steps }, (_, at) => {
    step = at;
    watch.look();
    return watch.active().map(({ name }) => name);
  });
}

test("every alarm has an example in which it alone begins, once it has held for its time, and ends", () => {
  assert.deepEqual(
    Object.keys(examples),
    alarms.map(({ name }) => name),
  );
  for (const { name, holdSeconds } of alarms) {
    const active = activeAtSteps(examples[name]!);
    assert.deepEqual([...new Set(active.flat())], [name]);
    const [first, last] = [
      active.findIndex(([one]) => one === name),
      active.findLastIndex(([one]) => one === name),
    ];
    assert.ok(first >= wrongFrom + holdSeconds / stepSeconds, `${name} begins at ${first}`);
    assert.ok(first <= wrongUntil - 1, `${name} begins at ${first}`);
    assert.ok(last < steps - 1, `${name} ends`);
    // Nothing in between: one beginning, one end.
    assert.ok(
      active.slice(first, last + 1).every(([one]) => one === name),
      name,
    );
  }
});

test("what begins and ends is told once each", () => {
  let step = 0;
  const metrics = metricsOf(examples["GpRecordsNotReady"]!, () => step);
  const watch = watchAlarms(metrics, { elapsed: () => step * 15_000, now: () => 0 });
  const told: string[] = [];
  for (; step < steps; step++)
    for (const { alarm, hasBegun } of watch.look())
      told.push(`${alarm.name} ${hasBegun ? "began" : "ended"} at ${step}`);
  assert.deepEqual(told, [
    `GpRecordsNotReady began at ${wrongFrom + 4}`,
    `GpRecordsNotReady ended at ${wrongUntil}`,
  ]);
});

test("deploy/alerts.yml has the alarms of the program, each with its condition, and two that no server can tell by itself", () => {
  const [head = "", ...texts] = rules.split(/^(?= {6}- alert: )/m);
  assert.match(head, /^groups:\n {2}- name: gp-records\n {4}rules:\n$/m);
  const [down = "", idle = "", ...others] = texts;
  assert.match(down, /^ {6}- alert: GpRecordsDown\n {8}expr: up\{job="gp-records"\} == 0\n/);
  assert.match(idle, /^ {6}- alert: GpRecordsJobIdle\n/);
  assert.deepEqual(others, [...ruleTexts]);
});

test("Debian's promtool takes deploy/alerts.yml", (t) => {
  if (!hasTool(t, "promtool", "prometheus")) return;
  const { exitCode, said } = runTool("promtool", ["check", "rules", "deploy/alerts.yml"]);
  assert.equal(exitCode, 0, said);
  assert.match(said, new RegExp(`${alarms.length + 2} rules found`));
});

test("Prometheus begins and ends each alarm of deploy/alerts.yml in the very evaluation in which the program does", (t) => {
  if (!hasTool(t, "promtool", "prometheus")) return;
  const labelled = ({ name, labels }: Series) => {
    const pairs = Object.entries({ ...labels, job: "gp-records", instance: "web-1" });
    return `${name}{${pairs.map(([label, text]) => `${label}="${text}"`).join(",")}}`;
  };
  const tests: RuleTest[] = Object.values(examples).map((all) => ({
    interval: `${stepSeconds}s`,
    input_series: all.map((one) => ({
      series: labelled(one),
      values: Array.from({ length: steps }, (_, step) => one.value(step)).join(" "),
    })),
    promql_expr_test: activeAtSteps(all).map((active, step) => ({
      expr: 'count by (alertname, severity) (ALERTS{alertstate="firing"})',
      eval_time: `${step * stepSeconds}s`,
      exp_samples: active.map((name) => ({
        labels: `{alertname="${name}",severity="${severityOf(name)}"}`,
        value: 1,
      })),
    })),
  }));
  const { exitCode, said } = testRules(t, tests);
  assert.equal(exitCode, 0, said);
  // And it would have said so.
  const [first] = tests as [RuleTest];
  const wrong = { ...first.promql_expr_test[20]!, exp_samples: [] };
  assert.notEqual(testRules(t, [{ ...first, promql_expr_test: [wrong] }]).exitCode, 0);
});

interface RuleTest {
  interval: string;
  input_series: { series: string; values: string }[];
  promql_expr_test: {
    expr: string;
    eval_time: string;
    exp_samples: { labels: string; value: number }[];
  }[];
}

/** What promtool says of deploy/alerts.yml. */
function testRules(t: TestContext, tests: readonly RuleTest[]) {
  const file = join(temporaryFolder(t), "tests.yml");
  const rule_files = [resolve("deploy/alerts.yml")];
  writeFileSync(file, JSON.stringify({ rule_files, evaluation_interval: "15s", tests }));
  return runTool("promtool", ["test", "rules", file]);
}

test("Prometheus tells of a server that does not run, and of a job that none of the servers does", (t) => {
  if (!hasTool(t, "promtool", "prometheus")) return;
  const own = (name: string, labels: string, values: string) => ({
    series: `${name}{job="gp-records",${labels}}`,
    values,
  });
  const firing = (minutes: number, ...labels: string[]) => ({
    expr: 'count by (alertname, instance, name) (ALERTS{alertstate="firing"})',
    eval_time: `${minutes}m`,
    exp_samples: labels.map((one) => ({ labels: `{${one}}`, value: 1 })),
  });
  const idle = 'alertname="GpRecordsJobIdle",name="notices"';
  const { exitCode, said } = testRules(t, [
    {
      interval: "1m",
      input_series: [
        own("up", 'instance="web-1"', "1 1x10 0x10 1x10"),
        own("up", 'instance="web-2"', "1x40"),
        // The one that mails ends; the other one goes on with it ten minutes late, as it must not.
        own("gp_records_jobs", 'instance="web-1",name="notices"', "1x10 stale"),
        own("gp_records_jobs", 'instance="web-2",name="notices"', "0x20 1x20"),
        // Done by one all the time, and by none in a moment between.
        own("gp_records_jobs", 'instance="web-1",name="audit"', "1x10 stale"),
        own("gp_records_jobs", 'instance="web-2",name="audit"', "0x12 1x28"),
      ],
      promql_expr_test: [
        firing(11),
        firing(15, 'alertname="GpRecordsDown",instance="web-1"'),
        firing(19, 'alertname="GpRecordsDown",instance="web-1"', idle),
        firing(26),
      ],
    },
  ]);
  assert.equal(exitCode, 0, said);
});

const severityOf = (name: string) => alarms.find((one) => one.name === name)!.severity;

test("what an alarm reads is a metric of the running service, and what it refers to stands in docs/running.md", async (t) => {
  const { adminAddress, get } = await startService(t, {
    settings: { ADMIN_ADDRESS: "127.0.0.1:0" },
  });
  // A histogram has no sample before the first request.
  await get("/fetch-gp?gp_name=northwind");
  const metrics = readExposition(await (await fetch(`${adminAddress}/metrics`)).text());
  const samples = [...metrics.values()].flatMap((metric) => [...metric.samples.keys()]);
  const readingsOf = ({ condition: { of, over } }: Alarm) => [of, ...(over ? [over] : [])];
  for (const { metric, labels = {} } of [...alarms.flatMap(readingsOf), countingAlone]) {
    // Only servers with a database have these.
    if (/dataset_behind|database_pool/.test(metric)) continue;
    const pairs = Object.entries(labels).map(([name, text]) => `${name}="${text}"`);
    assert.ok(
      samples.some(
        (key) => key.split("{")[0] === metric && pairs.every((pair) => key.includes(pair)),
      ),
      `${metric} ${pairs.join()}`,
    );
  }

  const page = readFileSync("docs/running.md", "utf8");
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  const sections = [...rules.matchAll(/runbook_url: \S+\/docs\/running\.md#(.+)$/gm)];
  assert.equal(sections.length, alarms.length + 2);
  for (const [, section = ""] of sections) assert.ok(anchors.includes(section), section);
  const rows = [...page.matchAll(/^\| `(GpRecords\w+)` \| (.+) \| (.+) \|$/gm)];
  assert.deepEqual(
    rows.slice(2).map(([, name, summary, remedy]) => [name, summary, remedy]),
    alarms.map(({ name, summary, remedy }) => [name, summary, remedy]),
  );
  assert.deepEqual(
    rows.slice(0, 2).map(([, name]) => name),
    ["GpRecordsDown", "GpRecordsJobIdle"],
  );
});
