/** One step of a request, called again and again: µs of processor time a call. */
import { setImmediate } from "node:timers/promises";
import type { Candidate } from "../rounds.ts";

/** Calls before the measured ones, as a share of them: what an earlier step has left to do is not paid by the next. */
const leadShare = 1 / 4;

/** @param call with numbers from 0 in each round. */
export function step(name: string, count: number, call: (i: number) => unknown): Candidate<number> {
  const callAll = (calls: number) => {
    for (let i = 0; i < calls; i++) call(i);
  };
  return {
    name,
    async run() {
      await setImmediate();
      callAll(count * leadShare);
      const before = process.cpuUsage();
      callAll(count);
      return microsecondsSince(before) / count;
    },
  };
}

/** About as many requests as a busy server finds waiting in one turn of its event loop. */
const callsPerTurn = 32;

/** One call after the other, each awaited; what the calls leave to the event loop is done in between. */
export function awaitedStep(
  name: string,
  count: number,
  call: (i: number) => Promise<void>,
): Candidate<number> {
  const callAll = async (calls: number) => {
    for (let i = 0; i < calls; i++) {
      await call(i);
      if (i % callsPerTurn === 0) await setImmediate();
    }
  };
  return {
    name,
    async run() {
      await callAll(count * leadShare);
      const before = process.cpuUsage();
      await callAll(count);
      return microsecondsSince(before) / count;
    },
  };
}

function microsecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
