/** Measures the steps of a request by calling the program's own functions, in a process of its own. */
import { inTurn, median } from "../measure.ts";
import { accessSteps } from "./access.ts";
import { answeringSteps } from "./answering.ts";
import { askedOf, openPublished } from "./asked.ts";
import type { StepFigure, StepsOrder } from "./measure-steps.ts";
import { wholeSteps } from "./whole.ts";

async function measure(order: StepsOrder): Promise<StepFigure[]> {
  const { mix, keys, dataDirs, scratchDir, rounds, count } = order;
  const model = await openPublished(dataDirs[0]);
  const askedAt = askedOf(mix, model);
  const access = accessSteps({ keys, dataDir: dataDirs[0], scratchDir, count });
  const whole = await wholeSteps({ askedAt, keys, dataDirs, count });
  const candidates = [...access.steps, ...answeringSteps(askedAt, model, count), ...whole.steps];
  // Until V8 has compiled what it will compile.
  await inTurn(rounds, candidates);
  const figures = await inTurn(rounds, candidates);
  await whole.close();
  await access.close();
  return Array.from(figures, ([name, microseconds]) => ({
    name,
    microseconds: median(microseconds),
  }));
}

process.on("disconnect", () => process.exit());
process.once("message", async (order: StepsOrder) => {
  process.send!(await measure(order));
});
