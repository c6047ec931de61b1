/** `npm run fuzz`: looks for requests and files that make the program do what it must never do. */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { fuzzImports } from "./imports/fuzz-imports.ts";
import { fuzzRequests } from "./requests/fuzz-requests.ts";

const usage = `npm run fuzz -- [--seed S] [--count N] [--imports N] [--seconds N] [--path P]

  --seed S       begin from this seed; without it one is drawn and printed
  --count N      requests to send, about, 100000 without it
  --imports N    damaged import files to try, 10000 without it
  --seconds N    end each part after so long, 600 without it
  --path P       try the case again that a failure of this seed has named`;

const exitCodes = { done: 0, found: 1, usage: 2 } as const;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: String(randomInt(2 ** 31)) },
      count: { type: "string", default: "100000" },
      imports: { type: "string", default: "10000" },
      seconds: { type: "string", default: "600" },
      path: { type: "string" },
    },
  });
  const numberOf = (name: "seed" | "count" | "imports" | "seconds") => {
    if (/^[0-9]{1,10}$/.test(values[name])) return Number(values[name]);
    throw new TypeError(`--${name} must be a whole number, but is '${values[name].slice(0, 50)}'.`);
  };
  const part = { seed: numberOf("seed"), path: values.path, secondsMax: numberOf("seconds") };
  const [requests, imports] = [numberOf("count"), numberOf("imports")];
  console.log(`seed ${part.seed}`);
  const found = [
    ...(requests > 0 ? await fuzzRequests({ ...part, count: requests }) : []),
    ...(imports > 0 ? await fuzzImports({ ...part, count: imports }) : []),
  ];
  for (const one of found) console.log(`FOUND ${one}\n`);
  console.log(found.length === 0 ? "nothing found" : `${found.length} findings`);
  return found.length === 0 ? exitCodes.done : exitCodes.found;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(`${error.message}\n\n${usage}`);
  process.exitCode = exitCodes.usage;
}
