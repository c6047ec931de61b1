/** `npm run faults`: does to the program what a bad day does, and tells what it promises and what was seen. */
import { parseArgs } from "node:util";
import type { Fault, Finding } from "./fault.ts";
import { faults } from "./index.ts";
import { openWork } from "./work.ts";

const usage = `npm run faults -- [--full] [--only NAME] [--tries N] [--seed N]

  --full       as often as docs/reliability.md says (an hour or more); without it as often as CI does (minutes)
  --only NAME  only the faults whose name holds this word, such as F1
  --tries N    as often as this
  --seed N     another row of chances (1)

${faults.map(({ name, tries }) => `  ${name}: ${tries.quick} or ${tries.full}`).join("\n")}`;

interface Order {
  chosen: readonly Fault[];
  triesOf(fault: Fault): number;
  seed: number;
}

/** @throws Error that says which option is wrong. */
function readOrder(): Order {
  const { values } = parseArgs({
    options: {
      full: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      tries: { type: "string" },
      seed: { type: "string", default: "1" },
    },
  });
  const whole = (option: string, text: string) => {
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    throw new Error(`--${option} takes a whole number from 1 on, but is '${text}'.`);
  };
  const chosen = faults.filter(({ name }) =>
    ` ${name} `.includes(values.only === "" ? "" : `${values.only} `),
  );
  if (chosen.length === 0)
    throw new Error(`--only: no fault has the word '${values.only}' in its name.`);
  const tries = values.tries === undefined ? undefined : whole("tries", values.tries);
  return {
    chosen,
    triesOf: (fault) => tries ?? (values.full ? fault.tries.full : fault.tries.quick),
    seed: whole("seed", values.seed),
  };
}

function tell(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

async function attempt(fault: Fault, tries: number, seed: number): Promise<Finding> {
  const work = openWork(seed, tell);
  try {
    return await fault.attempt(work, tries);
  } finally {
    work.end();
    tell("");
  }
}

async function main(): Promise<number> {
  let order: Order;
  try {
    order = readOrder();
  } catch (error) {
    console.error(`error: ${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  const { chosen, triesOf, seed } = order;
  console.log(`| fault | promise | tried | seen |\n| --- | --- | --- | --- |`);
  let brokenCount = 0;
  for (const fault of chosen) {
    const reason = fault.whyNot?.() ?? null;
    if (reason !== null) {
      console.log(`| ${fault.name} | ${fault.promise} | – | ${reason} |`);
      continue;
    }
    const { done, seen, broken } = await attempt(fault, triesOf(fault), seed);
    console.log(`| ${fault.name} | ${fault.promise} | ${done} | ${seen} |`);
    for (const sentence of broken) console.error(`${fault.name}: NOT KEPT: ${sentence}`);
    brokenCount += broken.length;
  }
  const day = new Date().toISOString().slice(0, 10);
  console.log(
    `\n${day}, Node ${process.versions.node}, seed ${seed}: npm run faults${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(" ")}` : ""}`,
  );
  return brokenCount === 0 ? 0 : 1;
}

process.exitCode = await main();
