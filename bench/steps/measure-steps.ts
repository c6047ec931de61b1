/** Has the steps of a request measured, and gives them in the order a request takes them. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { endWithUs } from "../clean-up.ts";
import type { Fixtures } from "../fixtures.ts";
import type { Mix } from "../mix.ts";
import type { Effort } from "../options.ts";
import { messageFrom } from "../servers.ts";

export interface StepsOrder {
  mix: Mix;
  keys: string[];
  /** Data folders of the same records and keys, which no server holds. */
  dataDirs: [string, string, string];
  /** Folder for counts and usage that are measured apart. */
  scratchDir: string;
  rounds: number;
  /** Calls of a step in a round. */
  count: number;
}

export interface StepFigure {
  name: string;
  /** Processor time of a call, the median of all rounds. */
  microseconds: number;
}

const callsPerRound = 4000;
const secondsMax = 900;

export async function measureSteps(fixtures: Fixtures, effort: Effort): Promise<StepFigure[]> {
  const published = await fixtures.published(fixtures.checkouts[0]!, 1);
  const order: StepsOrder = {
    mix: await fixtures.mix(),
    keys: published.keys,
    dataDirs: [
      fixtures.serverFolder(published),
      fixtures.serverFolder(published),
      fixtures.serverFolder(published),
    ],
    scratchDir: fixtures.emptyFolder(),
    rounds: effort.stepRounds,
    count: callsPerRound,
  };
  const child = endWithUs(
    fork(join(import.meta.dirname, "process.ts"), {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    }),
  );
  // Its log lines; somebody has to take them.
  child.stdout!.resume();
  const figures = messageFrom<StepFigure[]>(child, secondsMax);
  child.send(order);
  try {
    return await figures;
  } finally {
    child.disconnect();
  }
}
