import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { hasTool, runTool } from "./support/machine.ts";
import { readExposition } from "./support/read-exposition.ts";
import { readYaml } from "./support/read-yaml.ts";
import { startService } from "./support/service.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook_url: string };
}

const rules: Rule[] = readYaml(readFileSync("deploy/alerts.yml", "utf8")).groups[0].rules;
const page = readFileSync("docs/running.md", "utf8");

/** Samples every 15 s: well for two minutes, wrong for seven, well for six. */
const whileWrong = (wrong: number, well: number) => `${well}x7 ${wrong}x27 ${well}x24`;
/** Samples of a counter that grows by one when things go wrong. */
const once = "0x7 1x52";
const always = (value: number) => `${value}x60`;
const failing = (part: string) => ({ [`gp_records_failing{part="${part}"}`]: whileWrong(1, 0) });
const countingAlone = (value: number) => ({
  'gp_records_counters_mode{mode="embedded"}': always(value),
});
/** Beside 100 of the whole. */
const partOf = (part: string, whole: string, wrong: number, well: number) => ({
  [part]: whileWrong(wrong, well),
  [whole]: always(100),
});

/** The first and last sample at which an alarm fires. */
const afterOneMinute = [12, 35];
const forFiveMinutes = [8, 27];

interface Example {
  series: Record<string, string>;
  firing: readonly number[];
}

/** What brings each alarm about, and it alone. */
const examples: Record<string, Example> = {
  GpRecordsDown: { series: { up: whileWrong(0, 1) }, firing: afterOneMinute },
  GpRecordsNotReady: { series: { gp_records_ready: whileWrong(0, 1) }, firing: afterOneMinute },
  GpRecordsMistakes: {
    series: {
      'gp_records_requests_total{operation="fetch-gp",status="500"}': once,
      'gp_records_requests_total{operation="fetch-gp",status="200"}': "0+1x60",
    },
    firing: forFiveMinutes,
  },
  // One request in each sample while things are wrong. The last one is in the five minutes for 20 samples.
  GpRecordsUnavailable: {
    series: {
      'gp_records_requests_total{operation="other",status="503"}': "0x7 1+1x26 27x24",
      'gp_records_requests_total{operation="fetch-gp",status="503"}': once,
    },
    firing: [28, 53],
  },
  GpRecordsKeysUnreadable: {
    series: { ...failing("keys"), ...countingAlone(1) },
    firing: afterOneMinute,
  },
  GpRecordsCountsUnsaved: {
    series: { ...failing("counts"), ...countingAlone(1) },
    firing: afterOneMinute,
  },
  GpRecordsCountsUnshared: {
    series: { ...failing("counts"), ...countingAlone(0) },
    firing: afterOneMinute,
  },
  GpRecordsUsageUnsaved: { series: failing("usage"), firing: afterOneMinute },
  GpRecordsUsageQueueHigh: {
    series: partOf("gp_records_usage_queue_bytes", "gp_records_usage_queue_max_bytes", 51, 50),
    firing: [8, 35],
  },
  GpRecordsUsageLost: { series: { gp_records_usage_lost_total: once }, firing: forFiveMinutes },
  GpRecordsDatasetNotServed: { series: failing("dataset"), firing: [28, 35] },
  // 300 s behind at sample 28, more from the next one on.
  GpRecordsDatasetBehind: {
    series: { gp_records_dataset_behind_seconds: "0x7 0+15x27 0x24" },
    firing: [29, 35],
  },
  // 35 days old at sample 8, and published anew at sample 36.
  GpRecordsDatasetOld: {
    series: { gp_records_dataset_published_timestamp_seconds: `${8 * 15 - 35 * 86_400}x35 540x24` },
    firing: [9, 35],
  },
  // Three days old at sample 8, and it succeeds at sample 36.
  GpRecordsSyncOld: {
    series: {
      'gp_records_sync_last_success_timestamp_seconds{source="sec"}': `${8 * 15 - 3 * 86_400}x35 540x24`,
    },
    firing: [9, 35],
  },
  // Of 300 requests a sample a third is fast while things are wrong; of two operations together.
  GpRecordsSlow: {
    series: Object.fromEntries(
      ["fetch-gp", "other"].flatMap((operation) => {
        const name = (suffix: string, more = "") =>
          `gp_records_request_duration_seconds_${suffix}{operation="${operation}"${more}}`;
        return [
          [name("bucket", ',le="0.05"'), "0+300x8 2500+100x26 5400+300x24"],
          [name("bucket", ',le="1"'), "0+300x60"],
          [name("count"), "0+300x60"],
        ];
      }),
    ),
    firing: [13, 54],
  },
  GpRecordsOverloaded: {
    series: {
      'gp_records_overload_refusals_total{cause="memory"}': once,
      'gp_records_overload_refusals_total{cause="event_loop_delay"}': always(0),
    },
    firing: forFiveMinutes,
  },
  GpRecordsConnectionsHigh: {
    series: partOf("gp_records_connections_open", "gp_records_connections_max", 91, 90),
    firing: afterOneMinute,
  },
  GpRecordsFilesHigh: {
    series: partOf("process_open_fds", "process_max_fds", 91, 90),
    firing: afterOneMinute,
  },
  GpRecordsDiskLow: {
    series: partOf("gp_records_disk_free_bytes", "gp_records_disk_size_bytes", 9, 10),
    firing: afterOneMinute,
  },
  GpRecordsKeysGuessed: {
    series: {
      'gp_records_quota_refusals_total{policy="failed-keys"}': once,
      'gp_records_quota_refusals_total{policy="minute"}': "0+1x60",
    },
    firing: forFiveMinutes,
  },
};

const labelled = (series: string) =>
  series.includes("{")
    ? series.replace("{", '{job="gp-records",instance="web-1",')
    : `${series}{job="gp-records",instance="web-1"}`;

/** The test of one alarm for promtool, at every sample. */
function ruleTest(alert: string, { series, firing: [first = 1, last = 0] }: Example) {
  const { severity } = rules.find((rule) => rule.alert === alert)!.labels;
  const sample = { labels: `{alertname="${alert}",severity="${severity}"}`, value: 1 };
  return {
    interval: "15s",
    input_series: Object.entries(series).map(([name, values]) => ({
      series: labelled(name),
      values,
    })),
    promql_expr_test: Array.from({ length: 60 }, (_, at) => ({
      expr: 'count by (alertname, severity) (ALERTS{alertstate="firing"})',
      eval_time: `${at * 15}s`,
      exp_samples: at >= first && at <= last ? [sample] : [],
    })),
  };
}

test("Prometheus begins and ends each alarm of deploy/alerts.yml when its metrics say so", (t) => {
  const alerts = rules.map(({ alert }) => alert);
  assert.deepEqual(Object.keys(examples), alerts);
  if (!hasTool(t, "promtool", "prometheus")) return;
  const file = join(temporaryFolder(t), "tests.yml");
  const tests = Object.entries(examples).map(([alert, example]) => ruleTest(alert, example));
  const rule_files = [resolve("deploy/alerts.yml")];
  const evaluation_interval = "15s";
  writeFileSync(file, JSON.stringify({ rule_files, evaluation_interval, tests }));
  const { exitCode, said } = runTool("promtool", ["test", "rules", file]);
  assert.equal(exitCode, 0, said);
});

test("every metric and label that an alarm reads is one of the running service", async (t) => {
  const { adminAddress, get } = await startService(t, {
    settings: { ADMIN_ADDRESS: "127.0.0.1:0" },
  });
  // A histogram has no sample before the first request.
  await get("/fetch-gp?gp_name=northwind");
  const metrics = readExposition(await (await fetch(`${adminAddress}/metrics`)).text());
  const samples = [...metrics.values()].flatMap((metric) => [...metric.samples.keys()]);
  for (const { alert, expr } of rules)
    for (const [, name = "", labels = ""] of expr.matchAll(
      /\b((?:gp_records|process)_\w+)(?:\{(.*?)\})?/g,
    )) {
      assert.ok(metrics.has(name.replace(/_(?:bucket|count)$/, "")), `${alert} reads ${name}`);
      if (labels === "") continue;
      const isThere = (key: string) =>
        key.startsWith(`${name}{`) && labels.split(",").every((pair) => key.includes(pair));
      assert.ok(samples.some(isThere), `${alert} reads ${name}{${labels}}`);
    }
});

test("docs/running.md explains every alarm, and has the section that its rule links to", () => {
  const anchors = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
  const plain = (text: string) => text.replaceAll(/\[(.+?)\]\(.+?\)/g, "$1");
  const rows = [...page.matchAll(/^\| `(GpRecords\w+)` \| (.+) \| (.+) \|$/gm)];
  assert.deepEqual(
    rows.map(([, alert, summary, remedy]) => [alert, plain(summary!), plain(remedy!)]),
    rules.map(({ alert, annotations: { summary, description, runbook_url } }) => {
      assert.ok(anchors.includes(runbook_url.split("#")[1]!), runbook_url);
      return [alert, summary.replace(/^\{\{.*?\}\}: /, ""), description];
    }),
  );
});
