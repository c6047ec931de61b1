/** What readers notice of an import on the same machine: 200 requests a second before it and beside it (C58, F12). */
import { askInside } from "../ask-inside.ts";
import { laySceneOfImport } from "../scene-of-import.ts";
import type { Checkout } from "../checkouts.ts";
import type { Effort } from "../effort.ts";
import type { Ground } from "../ground.ts";
import { quantile } from "../measure.ts";
import { watchOwnDelay } from "../own-delay.ts";
import type { Figure } from "../rows.ts";
import type { RunningServer } from "../servers.ts";

export async function measureBesideImport(ground: Ground, effort: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const checkout of ground.checkouts)
    figures.push(...(await besideImport(ground, checkout, effort)));
  return figures;
}

async function besideImport(ground: Ground, checkout: Checkout, effort: Effort): Promise<Figure[]> {
  const scene = await laySceneOfImport(ground, checkout, effort);
  const { server } = scene;
  // Asked before, so that both times what is asked is remembered, until the new dataset is taken over.
  await scene.askAlone();
  const before = await watched(server, () => scene.askAlone());
  const beside = await watched(server, () => scene.askBesideImports(effort.repeats));
  await scene.end();
  const { name } = checkout;
  const { microseconds } = before.result;
  const ofProgram = beside.result.ofProgram.microseconds;
  const ofBare = beside.result.ofBare.microseconds;
  const ofIdle = `${beside.idleGap.toFixed(1)} ms in a process with nothing to do`;
  return [
    {
      row: "import-gap",
      checkout: name,
      value: beside.gap,
      note: `${before.gap.toFixed(1)} ms before; ${ofIdle}`,
    },
    {
      row: "import-p99",
      checkout: name,
      value: p99Of(ofProgram) / p99Of(microseconds),
      note: `${textOf(ofProgram)} against ${textOf(microseconds)}; ${textOf(ofBare)} at a bare server meanwhile`,
    },
  ];
}

const p99Of = (microseconds: readonly number[]) => quantile(microseconds, 0.99);
const textOf = (microseconds: readonly number[]) =>
  `${(p99Of(microseconds) / 1000).toFixed(1)} ms of ${microseconds.length} requests`;

interface Watched<T> {
  result: T;
  /** Longest turn of the server's event loop, and of our own, which has next to nothing to do; ms. */
  gap: number;
  idleGap: number;
}

async function watched<T>(server: RunningServer, run: () => Promise<T>): Promise<Watched<T>> {
  const own = watchOwnDelay();
  await askInside(server, "beginDelay");
  const result = await run();
  return { result, gap: await askInside<number>(server, "endDelay"), idleGap: own.end() };
}
