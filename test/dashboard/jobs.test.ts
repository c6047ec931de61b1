import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { insertMember } from "#accounts/members.ts";
import { readAddress, insertPerson } from "#accounts/people.ts";
import { issueKey } from "#keys/keys.ts";
import { openJobLocks } from "#store/job-locks.ts";
import { openControl } from "#store/stores.ts";
import { day } from "../support/control.ts";
import { eventually } from "../support/eventually.ts";
import { startMailServer } from "../support/mail-server.ts";
import { freshDatabase, runSql, onPostgres as test } from "../support/postgres.ts";
import { readExposition } from "../support/read-exposition.ts";
import { spawnServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** A server in a process of its own that mails notices, and the jobs it does for all. */
async function startInstance(t: TestContext, databaseUrl: string, smtpUrl: string) {
  const server = spawnServer(t, {
    dataDir: temporaryFolder(t),
    settings: {
      DATABASE_URL: databaseUrl,
      SMTP_URL: smtpUrl,
      AUDIT_DAYS: "30",
      ADMIN_ADDRESS: "127.0.0.1:0",
    },
  });
  await server.address;
  const { result: admin } = await eventually(() => {
    const [, address] = /"address":"(http:[^"]+)","msg":"metrics are served"/.exec(server.out())!;
    return address!;
  });
  const samples = async (name: string) =>
    readExposition(await (await fetch(`${admin}/metrics`)).text()).get(name)!.samples;
  return {
    ...server,
    samples,
    jobs: async () =>
      [...(await samples("gp_records_jobs"))]
        .filter(([, value]) => value === 1)
        .map(([name]) => name),
  };
}

const allJobs = ["notices", "audit", "sessions"].map((job) => `gp_records_jobs{name="${job}"}`);

test("of two servers one mails notices, each once, and the other one goes on within seconds after kill -9 or a lost connection", async (t) => {
  const url = await freshDatabase(t);
  const mail = await startMailServer(t);
  const control = await openControl("/nowhere", { databaseUrl: url });
  t.after(() => control.close());
  const now = Date.now();
  const account = await createAccount(control, { name: "Acme", quotas: {}, now });
  await control.write(async (transaction) => {
    const order = { address: readAddress("ada@example.org"), password: "", now };
    const { id: person } = await insertPerson(transaction, order);
    await insertMember(transaction, { account: account.number, person, role: "owner", now });
  });
  const addNotice = (name: string) =>
    issueKey(control, { account, name, expiresAt: now + 2 * day, now: now - 30 * day });
  const mailed = (count: number) => eventually(() => assert.equal(mail.messages.length, count));

  await addNotice("one");
  const two = [await startInstance(t, url, mail.url), await startInstance(t, url, mail.url)];
  await mailed(1);
  const { result: holder } = await eventually(async () => {
    const held = await Promise.all(two.map(({ jobs }) => jobs()));
    const found = held.findIndex((jobs) => jobs.length === 3);
    assert.deepEqual(held[found], allJobs);
    assert.deepEqual(held[1 - found], []);
    return found;
  });
  const [first, second] = [two[holder]!, two[1 - holder]!];

  await addNotice("two");
  first.signal("SIGKILL");
  await first.ended;
  await mailed(2);
  assert.deepEqual(await second.jobs(), allJobs);

  const third = await startInstance(t, url, mail.url);
  await addNotice("three");
  await runSql(
    url,
    "select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid where l.locktype = 'advisory' and a.application_name = 'gp-records jobs' and l.granted",
  );
  await mailed(3);
  await eventually(async () =>
    assert.deepEqual(
      [...(await second.jobs()), ...(await third.jobs())].toSorted(),
      allJobs.toSorted(),
    ),
  );
  // One that stops lets go at once.
  const [leaving, staying] = (await second.jobs()).length > 0 ? [second, third] : [third, second];
  leaving.signal("SIGTERM");
  assert.deepEqual(await leaving.ended, { exitCode: 0, signal: null });
  await eventually(async () => assert.deepEqual(await staying.jobs(), allJobs));
  assert.equal(mail.messages.length, 3);
});

test("a job that an instance cannot do is done by one that can, and nobody who lost its session takes it for its own", async (t) => {
  const url = await freshDatabase(t);
  const numbers = { one: 1, other: 2 };
  const open = (jobs: ("one" | "other")[]) => {
    const told: string[] = [];
    const locks = openJobLocks({ url }, jobs, numbers, {
      onChange: (ours) => told.push(`ours: ${ours.join(" ")}`),
      onTaken: (job) => told.push(`taken: ${job}`),
    });
    t.after(() => locks.close());
    return { ...locks, told };
  };
  const a = open(["one"]);
  await eventually(() => assert.ok(a.isOurs("one")));
  const b = open(["one", "other"]);
  await eventually(() => assert.ok(b.isOurs("other")));
  assert.deepEqual([a.isOurs("other"), b.isOurs("one")], [false, false]);
  assert.deepEqual(b.told, ["ours: other", "taken: other"]);
  await runSql(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gp-records jobs'",
  );
  await eventually(() => assert.ok(a.told.includes("ours: ") && b.told.includes("ours: ")));
  await eventually(() => {
    assert.ok(a.isOurs("one") !== b.isOurs("one"));
    assert.ok(b.isOurs("other"));
  });
  a.close();
  await eventually(() => assert.ok(b.isOurs("one")));
});
