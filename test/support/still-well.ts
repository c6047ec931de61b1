/** Runs cases against one service, and looks after each of them whether the service is still what it was before. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import type { TestContext } from "node:test";
import { eventually } from "./eventually.ts";
import { ask } from "./raw-client.ts";
import type { TestService } from "./service.ts";

export interface Watched {
  port: number;
  /** Of the process that serves; this one, where the service runs within the test. */
  pid: number;
  /** All it has logged. */
  log(): string;
}

export const inThisProcess = ({ port, log }: TestService): Watched => ({
  port,
  pid: process.pid,
  log: () => log.join(""),
});

type Body = (t: TestContext) => void | Promise<void>;
export type CaseOf = (name: string, body: Body) => Promise<void>;

export const casesOf =
  (t: TestContext, service: Watched): CaseOf =>
  (name, body) =>
    t.test(name, async (inner) => {
      const assertStillWell = lookAt(service);
      await body(inner);
      await assertStillWell();
    });

/** @returns the check that it answers, lives, logs no error and holds no more descriptors than now. */
function lookAt(service: Watched): () => Promise<void> {
  const { pid, port } = service;
  const loggedBefore = service.log().length;
  const descriptorsBefore = countDescriptors(pid);
  return async () => {
    const { status, json } = await ask(port, "/health");
    assert.deepEqual({ status, json }, { status: 200, json: { status: "ok" } });
    assert.ok(process.kill(pid, 0));
    const lines = service.log().slice(loggedBefore).split("\n");
    assert.deepEqual(
      lines.filter((line) => loggedError.test(line)),
      [],
    );
    const isAsBefore = () => countDescriptors(pid) <= descriptorsBefore + descriptorsMore;
    await settles(isAsBefore);
    assert.ok(isAsBefore(), `${countDescriptors(pid)} descriptors, before ${descriptorsBefore}`);
  };
}

const loggedError = /unhandled|uncaught|"msg":"internal error"|^\s+at /i;
// The thread that writes and its store take eight when the first use of a key is noted.
const descriptorsMore = 10;
const patienceMilliseconds = 5000;

/** Resolves once it is so, or when it has not become so for long: what was closed or written takes its effect later. */
export const settles = (isSo: () => boolean): Promise<unknown> =>
  eventually(() => assert.ok(isSo()), patienceMilliseconds, 5).catch(() => {});

/** 0 where the system does not tell. */
function countDescriptors(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return existsSync(folder) ? readdirSync(folder).length : 0;
}
