/** Has the steps of a request measured, and gives them in the order a request takes them. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { endWithUs } from "../clean-up.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { messageFrom } from "../message-from.ts";
import type { Mix } from "../mix.ts";

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

export async function measureSteps(ground: Ground, effort: Effort): Promise<StepFigure[]> {
  const published = await ground.published(ground.checkouts[0]!, 1);
  const order: StepsOrder = {
    mix: await ground.mix(),
    keys: published.keys,
    dataDirs: [
      ground.serverFolder(published),
      ground.serverFolder(published),
      ground.serverFolder(published),
    ],
    scratchDir: ground.emptyFolder(),
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
