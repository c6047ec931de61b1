import assert from "node:assert/strict";
import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startService } from "../support/service.ts";
import { forEachClient, type Order } from "./each-client.ts";
import { assertCopy, publish, records, servedBy } from "./publish.ts";

forEachClient(
  "a mirror holds exactly the records of one dataset after a publication and a roll-back while it was read, and 429s",
  async (t, client) => {
    const service = await startService(t, { records: records(250) });
    const { key } = await service.newKey({ quotas: { minute: 3 } });
    const versions = new Set<string>();
    const updates: unknown[] = [];
    let pages = 0;
    const result = await client.do({
      what: "mirror",
      options: { baseUrl: service.url, key },
      onSleep: (seconds) => service.clock.advance(seconds),
      async onPage([version]) {
        versions.add(version);
        pages++;
        if (pages === 3) await publish(service, records(350, "Another closes"));
        if (pages === 7) await publish(service, "roll back");
      },
      onUpdate: (update) => void updates.push(update),
    });
    await assertCopy(result, service);
    assert.equal(versions.size, 2);
    assert.equal(result.value.counts[2], 255);
    const { version } = result.value;
    assert.deepEqual(updates, [{ from: null, version, how: "pages", proof: "equal" }]);
    assert.ok(result.waits.length >= 3);
    for (const { error, attempt } of result.waits)
      assert.deepEqual([error.code, attempt], ["quota-exceeded", 1]);
  },
);

forEachClient(
  "a mirror that was interrupted and saved goes on where it was, and keeps its old copy until the new one is whole",
  async (t, client) => {
    const service = await startService(t, { records: records(250) });
    const options = { baseUrl: service.url, key: service.key };
    const first = await client.do({ what: "mirror", options });
    await assertCopy(first, service);

    await publish(service, records(350, "Another closes"));
    const { key } = await service.newKey({ quotas: { minute: 5 } });
    const impatient = { ...options, key, waitMaxSeconds: 0 };
    const interrupted = await client.do({
      what: "mirror",
      saved: first.value.saved,
      options: impatient,
    });
    assert.equal(interrupted.value.error.code, "quota-exceeded");
    assert.deepEqual(interrupted.value.records, first.value.records);

    let { saved } = interrupted.value;
    const seen: number[] = [];
    const onPage: Order["onPage"] = ([, count]) => void seen.push(count);
    let last = interrupted;
    while (last.value.error !== null) {
      service.clock.advance(60);
      last = await client.do({ what: "mirror", saved, options: impatient, onPage });
      ({ saved } = last.value);
    }
    await assertCopy(last, service);
    // No page was read twice.
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => a - b),
    );
    assert.ok(seen[0]! > 100, `${seen[0]}`);
  },
);

forEachClient(
  "a mirror that has every page and is refused the rest reads none of them again",
  async (t, client) => {
    const service = await startService(t, { records: records(250) });
    const options = { baseUrl: service.url, key: service.key };
    let pages = 0;
    const onPage = () => void pages++;
    await client.do({ what: "mirror", options, onPage });
    const { key } = await service.newKey({ quotas: { minute: pages } });
    const impatient = { ...options, key, waitMaxSeconds: 0 };
    const refused = await client.do({ what: "mirror", options: impatient });
    assert.equal(refused.value.error.code, "quota-exceeded");
    assert.equal(refused.value.version, null);

    service.clock.advance(60);
    pages = 0;
    const { saved } = refused.value;
    const last = await client.do({ what: "mirror", saved, options: impatient, onPage });
    await assertCopy(last, service);
    assert.equal(pages, 0);
  },
);

forEachClient("a mirror that is up to date reads nothing but that it is", async (t, client) => {
  const service = await startService(t, { records: records(250) });
  const options = { baseUrl: service.url, key: service.key };
  const seen: unknown[] = [];
  const result = await client.do({
    what: "mirror",
    updates: 2,
    options,
    onUpdate({ how }) {
      seen.push(how);
    },
    onPage: () => void seen.push("page"),
  });
  await assertCopy(result, service);
  assert.deepEqual(seen.slice(-2), ["pages", "unchanged"]);
  const again = await client.do({ what: "mirror", saved: result.value.saved, options });
  assert.deepEqual(again.value, result.value);
});

forEachClient("a mirror keeps the bytes of every record", async (t, client) => {
  const awkward = [
    {
      record: "gp",
      id: "a",
      name: 'Ａ "quoted" \\ Müller\u2028 & 三井, L.P.',
      markets: ["Zürich"],
    },
    {
      record: "project",
      id: "equator",
      name: "Null Island",
      latitude: 0.00005,
      longitude: -0.0000001,
    },
    { record: "project", id: "far", name: "Café at 3e-5", latitude: 5e-324, longitude: 12.5 },
    {
      record: "signal",
      id: "s",
      title: "1e-7 of it \u{1f3e2}",
      date: "2026",
      amount_usd: -9007199254740991,
      gps: ["a"],
    },
  ];
  const service = await startService(t, { records: awkward });
  const options = { baseUrl: service.url, key: service.key };
  const { value, trace } = await client.do({ what: "mirror", options });
  assert.deepEqual([trace, value.error], ["", null]);
  const lines: string[] = value.saved.slice(1);
  for (const kind of ["principal", "signal", "project"] as const) {
    const { text } = await service.get(`/fetch-${kind}s`);
    for (const line of lines.filter((one) => one.includes(`"kind":"${kind}"`))) {
      const [, record] = /"record":(.*)\}$/s.exec(line)!;
      assert.ok(text.includes(record!), `${record} is not in ${text}`);
    }
  }
  assert.equal(lines.length, awkward.length);
});

/** As 250 more, without the last signal, with another name of a GP and of a project, and one GP more that nothing names. */
const changed = [
  ...records(250)
    .slice(0, -1)
    .map((one) => {
      if (one.id === "alder") return { ...one, name: "The Alder", units: 121, longitude: 0.00005 };
      return one.id === "northwind" ? { ...one, name: "Northwind Partners" } : one;
    }),
  { record: "principal", id: "dora", name: "Dora Lindqvist", gps: ["northwind"] },
];

forEachClient(
  "a mirror follows the changes from dataset to dataset, a roll-back among them, and reads no page again",
  async (t, client) => {
    const service = await startService(t, { records: records(250) });
    // A step of more than 200 changes then has to be fetched in parts.
    const { key } = await service.newKey({ quotas: { minute: 2 } });
    const options = { baseUrl: service.url, key };
    const updates: string[] = [];
    const pages: number[] = [];
    const result = await client.do({
      what: "mirror",
      options,
      updates: 4,
      onSleep: (seconds) => service.clock.advance(seconds),
      onPage: () => void pages.push(updates.length),
      async onUpdate({ how, proof }) {
        updates.push(`${how} ${proof}`);
        // The last update follows two steps at once.
        const next = [[changed], ["roll back"], [records(20), records(35)]][updates.length - 1];
        for (const one of next ?? []) await publish(service, one as readonly unknown[]);
      },
    });
    await assertCopy(result, service);
    assert.deepEqual(updates, ["pages unknown", "steps equal", "steps equal", "steps equal"]);
    assert.deepEqual([...new Set(pages)], [0]);
  },
);

forEachClient(
  "a mirror that follows a step while that is gone back from holds one whole dataset, and after the next update what is served",
  async (t, client) => {
    const service = await startService(t, { records: records(250) });
    const { key } = await service.newKey({ quotas: { minute: 2 } });
    const first = await client.do({
      what: "mirror",
      options: { baseUrl: service.url, key: service.key },
    });
    const next = await publish(service, records(20));
    const changedTo = await servedBy(service);
    let sleeps = 0;
    const follow = (saved: readonly string[]) =>
      client.do({
        what: "mirror",
        saved,
        options: { baseUrl: service.url, key },
        async onSleep(seconds) {
          service.clock.advance(seconds);
          // Before the second part of more than 200 changes.
          if (++sleeps === 2) await publish(service, "roll back");
        },
      });
    const { value, trace } = await follow(first.value.saved);
    assert.deepEqual([trace, value.error], ["", null]);
    assert.equal(sleeps, 2);
    assert.equal(value.version, next);
    assert.deepEqual(value.records, changedTo.records);
    const last = await follow(value.saved);
    await assertCopy(last, service);
    assert.equal(last.value.version, first.value.version);
  },
);

forEachClient(
  "a mirror reads all pages again where a step is gone, or its copy is not what the step begins with",
  async (t, client) => {
    const service = await startService(t, { records: records(250) });
    const options = { baseUrl: service.url, key: service.key };
    const first = await client.do({ what: "mirror", options });
    await publish(service, changed);
    const hows = async (saved: readonly string[]) => {
      const updates: string[] = [];
      const onUpdate = ({ how, proof }: { how: string; proof: string }) =>
        void updates.push(`${how} ${proof}`);
      const result = await client.do({ what: "mirror", saved, options, onUpdate });
      await assertCopy(result, service);
      return updates;
    };
    const { saved } = first.value;
    assert.deepEqual(await hows(saved), ["steps equal"]);
    const damaged = saved.map((line: string) => line.replace("Rates fall", "Rates rise"));
    assert.deepEqual(await hows(damaged), ["pages equal"]);
    const steps = globSync(join(service.dataDir, "datasets", "changes", "*.ndjson"));
    assert.equal(steps.length, 1);
    for (const step of steps) rmSync(step);
    assert.deepEqual(await hows(saved), ["pages equal"]);
  },
);

forEachClient("a mirror says that it lacks a GP which no record names", async (t, client) => {
  const lonely = [...records(20), { record: "gp", id: "lonely", name: "Quillfeather" }];
  const service = await startService(t, { records: lonely });
  await publish(service, [...lonely, { record: "project", id: "new", name: "New Yard" }]);
  const options = { baseUrl: service.url, key: service.key };
  const { value } = await client.do({
    what: "mirror",
    options,
    onUpdate: ({ proof }) => assert.equal(proof, "different"),
  });
  assert.deepEqual([value.error, value.counts], [null, [10, 3, 25, 3]]);
});
