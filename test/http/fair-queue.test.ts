import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openFairQueue, sharePerTurn } from "#http/fair-queue.ts";
import { startService } from "../support/service.ts";

test("a client gets its share at once and the rest in later turns, in order", async () => {
  const queue = openFairQueue(3);
  const done: number[] = [];
  for (let i = 0; i < 8; i++) queue.enter("one", () => done.push(i));
  assert.deepEqual(done, [0, 1, 2]);
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7]);
});

test("whoever asks for the first time waits for nobody", () => {
  const queue = openFairQueue(3);
  let isServed = false;
  for (let i = 0; i < 1000; i++) queue.enter("greedy", () => {});
  queue.enter("other", () => (isServed = true));
  assert.equal(isServed, true);
});

test("what waited goes before what comes later, also when that comes first in a turn", async () => {
  const queue = openFairQueue(1);
  const done: string[] = [];
  for (const name of ["first", "second", "third"]) queue.enter(1, () => done.push(name));
  await nextTurn();
  queue.enter(1, () => done.push("late"));
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  assert.deepEqual(done, ["first", "second", "third", "late"]);
});

test("a client on a hundred connections does not come before another one's first request", async (t) => {
  const service = await startService(t, { settings: { LOG_LEVEL: "info" } });
  const { key, id } = await service.newKey();
  const ask = (apiKey: string) =>
    `GET /fetch-projects?gp_name=kkr HTTP/1.1\r\nHost: x\r\nx-api-key: ${apiKey}\r\n\r\n`;
  const open = async () => {
    const socket = connect(service.port, "127.0.0.1");
    t.after(() => socket.destroy());
    // One connection is accepted per turn; a response shows that this one was.
    socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "data");
    return socket;
  };
  const greedy = await Promise.all(Array.from({ length: 100 }, open));
  const other = await open();
  const answers = [...greedy, other].map((socket) => once(socket, "data"));
  for (const socket of greedy) socket.write(ask(service.key));
  other.write(ask(key));
  await Promise.all(answers);
  // The log is written once a turn.
  await nextTurn();
  const keys = service.log.flatMap((line) => JSON.parse(line).key ?? []);
  assert.equal(keys.length, 101);
  // All 101 are read in a turn or two; of the hundred, one share each is handled before the other client's.
  assert.ok(keys.indexOf(id) <= 6 * sharePerTurn, `answered as number ${keys.indexOf(id) + 1}`);
});
