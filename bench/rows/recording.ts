/** What it costs to record a request: processor time of all threads, and disk. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { endWithUs } from "../clean-up.ts";
import type { Fixtures } from "../fixtures.ts";
import type { RecordingCost, RecordingOrder } from "../recording.ts";
import { openSession, type Session } from "../rounds.ts";
import { messageFrom } from "../servers.ts";

const perSecond = 5000;
const [seconds, warmUpSeconds] = [20, 10];
const secondsMax = 120;

export const openRecording = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async ({ root }) => {
    return {
      async sample() {
        const dataDir = fixtures.emptyFolder();
        const cost = await costOf({ root, dataDir, perSecond, seconds, warmUpSeconds });
        return {
          recording: cost.microseconds,
          "recording-thread": cost.ownMicroseconds,
          "recording-disk": cost.bytes,
        };
      },
      note: (row) =>
        row !== "recording-disk"
          ? `${perSecond} requests a second of 200 accounts`
          : `with totals and indexes, after ${perSecond * (seconds + warmUpSeconds)} requests; ids of our own, no parameters`,
      async close() {},
    };
  });

async function costOf(order: RecordingOrder): Promise<RecordingCost> {
  const child = endWithUs(fork(join(import.meta.dirname, "../recording.ts")));
  const cost = messageFrom<RecordingCost>(child, secondsMax);
  child.send(order);
  try {
    return await cost;
  } finally {
    child.disconnect();
  }
}
