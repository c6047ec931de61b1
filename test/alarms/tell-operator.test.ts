import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { test, type TestContext } from "node:test";
import { alarms } from "#alarms/alarms.ts";
import { tellOperator } from "#alarms/tell-operator.ts";
import { gauge } from "#metrics/metric.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/service.ts";
import { startReceiver } from "../support/webhook-receiver.ts";

const soon = { pauses: [5, 10], closing: 1000 };

/** A server with one gauge, which begins GpRecordsDiskLow and ends it at a mock timer's pace. */
function tell(t: TestContext, webhookUrl: string, patience = soon) {
  const log: string[] = [];
  const write = (facts: object, words: string) =>
    void log.push(`${words} ${JSON.stringify(facts)}`);
  let free = 50;
  const metrics = [
    gauge("gp_records_disk_free_bytes", "Free", () => free),
    gauge("gp_records_disk_size_bytes", "Size", () => 100),
  ];
  let elapsed = 0;
  const teller = tellOperator({
    webhookUrl,
    metrics,
    log: { info: write, warn: write, error: write },
    elapsed: () => elapsed,
    now: () => Date.parse("2026-11-22T09:30:00Z") + elapsed,
    program: "1.2.3",
    patience,
  });
  t.after(() => teller.close());
  return {
    log,
    teller,
    /** Looks twice, a minute apart. */
    setFree(value: number) {
      free = value;
      for (let i = 0; i < 2; i++) {
        teller.look();
        elapsed += 60_000;
      }
    },
  };
}

test("the start, the beginning of an alarm, its end and the stop are told, in this order, with what to do", async (t) => {
  const receiver = await startReceiver(t);
  const { teller, setFree, log } = tell(t, receiver.url);
  setFree(5);
  setFree(5);
  setFree(50);
  await teller.close();
  assert.deepEqual(receiver.taken(), [
    "started",
    "alarm_began GpRecordsDiskLow",
    "alarm_ended GpRecordsDiskLow",
    "stopping",
  ]);
  const [started, began, ended] = receiver.deliveries.map(({ body }) => body);
  const alarm = alarms.find(({ name }) => name === "GpRecordsDiskLow")!;
  const { id, instance, ...said } = began!;
  assert.deepEqual(said, {
    event: "alarm_began",
    at: "2026-11-22T09:31:00.000Z",
    text: `${hostname()}: GpRecordsDiskLow (warning). ${alarm.summary} ${alarm.remedy}`,
    alarm: alarm.name,
    severity: "warning",
    summary: alarm.summary,
    remedy: alarm.remedy,
    documentation:
      "https://github.com/gp-records/gp-records/blob/main/docs/running.md#old-datasets",
    active: ["GpRecordsDiskLow"],
  });
  assert.deepEqual(instance, { host: hostname(), pid: process.pid, program: "1.2.3" });
  assert.deepEqual([started!.active, ended!.active], [[], []]);
  assert.equal(new Set(receiver.deliveries.map(({ body }) => body.id)).size, 4);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(log, [
    'alarm began {"alarm":"GpRecordsDiskLow"}',
    'alarm ended {"alarm":"GpRecordsDiskLow"}',
  ]);
  const page = readFileSync("docs/running.md", "utf8");
  const [, sample = ""] =
    /```json\n(\{\n {2}"id"[^`]*(?:`[^`]+`[^`]*)*?\n\})\n```/.exec(page) ?? [];
  assert.deepEqual(Object.keys(JSON.parse(sample) as object), Object.keys(began!));
});

test("a message is sent until it is taken, with one id and before those after it; the log says it once and shows no secret", async (t) => {
  const statuses = ["cut" as const, 503, 429, 408, 204];
  const receiver = await startReceiver(t, (number) => statuses[number] ?? 204);
  const { teller, setFree, log } = tell(t, receiver.url);
  setFree(5);
  await eventually(() => assert.equal(receiver.taken().length, 2));
  await teller.close();
  assert.deepEqual(receiver.taken(), ["started", "alarm_began GpRecordsDiskLow", "stopping"]);
  const ids = receiver.deliveries.map(({ body }) => body.id);
  assert.equal(new Set(ids.slice(0, 5)).size, 1);
  assert.equal(new Set(ids).size, 3);
  const { host } = new URL(receiver.url);
  assert.deepEqual(
    log.filter((line) => line.includes("webhook")),
    [
      `the operator's webhook cannot be reached ${JSON.stringify({ host, reason: "UND_ERR_SOCKET" })}`,
      `the operator's webhook cannot be reached: works again ${JSON.stringify({ host })}`,
    ],
  );
  assert.doesNotMatch(log.join(), /secret/);
});

test("a message that the receiver refuses, or would lead elsewhere with, is given up and the next one sent", async (t) => {
  const receiver = await startReceiver(t, (number) => [404, 302][number] ?? 200);
  const { teller, setFree, log } = tell(t, receiver.url);
  setFree(5);
  setFree(50);
  await teller.close();
  assert.deepEqual(receiver.taken(), ["alarm_ended GpRecordsDiskLow", "stopping"]);
  assert.ok(receiver.deliveries.every(({ path }) => path === "/hook/secret-path"));
  const { host } = new URL(receiver.url);
  assert.deepEqual(
    log.filter((line) => line.includes("webhook")),
    [404, 302].map(
      (status) =>
        `the operator's webhook refused a message ${JSON.stringify({ host, reason: `status ${status}` })}`,
    ),
  );
});

test("a receiver that is away keeps the newest hundred messages waiting, and they are tried once more before a stop", async (t) => {
  const gone = await startReceiver(t);
  await gone.stop();
  const patience = { pauses: [60_000], closing: 20_000 };
  const { teller, setFree, log } = tell(t, gone.url, patience);
  for (let i = 0; i < 60; i++) {
    setFree(5);
    setFree(50);
  }
  await eventually(() => assert.ok(log.some((line) => line.includes("cannot be reached"))));
  assert.equal(log.filter((line) => line.includes("one is dropped")).length, 21);
  const back = await startReceiver(t, () => 200, Number(new URL(gone.url).port));
  await teller.close();
  assert.equal(back.taken().length, 100);
  assert.equal(back.taken().at(-1), "stopping");
});

test("a receiver that never answers holds up no stop", async (t) => {
  const receiver = await startReceiver(t, () => "silence");
  const { teller } = tell(t, receiver.url, { pauses: [60_000], closing: 20 });
  await eventually(() => assert.equal(receiver.deliveries.length, 1));
  await teller.close();
  assert.deepEqual(receiver.taken(), []);
});

test("user and password of the URL are sent as Basic authentication", async (t) => {
  const receiver = await startReceiver(t);
  const { teller } = tell(t, receiver.url.replace("//", "//us%40er:geheim@"));
  await teller.close();
  const [{ headers } = assert.fail()] = receiver.deliveries;
  assert.equal(headers.authorization, `Basic ${Buffer.from("us@er:geheim").toString("base64")}`);
  assert.equal(headers["content-type"], "application/json");
});

test("a service tells its webhook that it starts and stops, and one without the setting loads nothing for it", async (t) => {
  const receiver = await startReceiver(t);
  const service = await startService(t, { settings: { OPERATOR_WEBHOOK: receiver.url } });
  await eventually(() => assert.deepEqual(receiver.taken(), ["started"]));
  await service.stop();
  assert.deepEqual(receiver.taken(), ["started", "stopping"]);
  assert.doesNotMatch(readFileSync("src/service.ts", "utf8"), /^import (?!type ).*#alarms/m);
});
