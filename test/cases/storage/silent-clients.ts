/** Connections that say nothing, and more of them than there may be. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { OwnProcess } from "../../support/own-process.ts";
import { ask } from "../../support/raw-client.ts";
import { type CaseOf, settles } from "../../support/still-well.ts";
import { canSetLimits, setLimit, whyNot } from "../../support/process-limits.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function silentClientCases(
  t: TestContext,
  caseOf: CaseOf,
  { port, key, pid, log }: OwnProcess,
): Promise<void> {
  async function openSilent(count: number): Promise<Socket[]> {
    const sockets = Array.from({ length: count }, () =>
      connect(port, "127.0.0.1").on("error", () => {}),
    );
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.resume();
    return sockets;
  }
  const gone = async (sockets: readonly Socket[]) => {
    for (const socket of sockets) socket.resetAndDestroy();
    await settles(() => sockets.every(({ closed }) => closed));
  };
  const answered = async () => (await ask(port, path, { key })).status;

  await caseOf(
    "C56 · two hundred connections that say nothing take no answer from others (thousands: npm run faults)",
    async () => {
      const silent = await openSilent(200);
      for (let i = 0; i < 50; i++) assert.equal(await answered(), 200);
      assert.ok(silent.every(({ closed }) => !closed));
      await gone(silent);
    },
  );

  await caseOf(
    "C56 · beyond the limit of open files connections are closed without a loop in log or processor, and all is well when they are gone (Linux)",
    async (inner) => {
      if (!canSetLimits) return inner.skip(whyNot);
      const [, before] = /^Max open files +(\d+)/m.exec(limitsOf(pid))!;
      const loggedBefore = log().length;
      setLimit(pid, "nofile", `${readdirSync(`/proc/${pid}/fd`).length + 50}:`);
      const silent = await openSilent(120);
      await settles(() => silent.some(({ closed }) => closed));
      assert.ok(
        silent.some(({ closed }) => closed),
        "all of them were kept",
      );
      await gone(silent);
      setLimit(pid, "nofile", `${before}:`);
      let status = 0;
      for (let tries = 0; tries < 50 && status !== 200; tries++)
        status = await answered().catch(() => 0);
      assert.equal(status, 200);
      const lines = log().slice(loggedBefore).split("\n");
      assert.ok(lines.length < 20, lines.join("\n"));
    },
  );
}

const limitsOf = (pid: number) => readFileSync(`/proc/${pid}/limits`, "utf8");
