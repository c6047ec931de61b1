/** `npm run fuzz`: looks for requests and files that make the program do what it must never do. */
import { fuzzImports } from "./imports/fuzz-imports.ts";
import { replayImport } from "./imports/replay-import.ts";
import { importsText } from "./imports/report-imports.ts";
import { readOptions, type FuzzOptions } from "./options.ts";
import { fuzzRequests } from "./requests/fuzz-requests.ts";
import { replayConversation } from "./requests/replay-conversation.ts";
import { requestsText } from "./requests/report-requests.ts";

/** @returns how much was found. */
async function fuzz(options: FuzzOptions): Promise<number> {
  const { seed, imports, requests } = options;
  let found = 0;
  if (requests > 0) {
    const result = await fuzzRequests(options);
    console.log(`${requestsText(result)}\n${result.findings.text(seed)}`);
    found += result.findings.count;
  }
  if (imports > 0) {
    const result = await fuzzImports(options);
    console.log(`${importsText(result)}\n${result.findings.text(seed)}`);
    found += result.findings.count;
  }
  return found;
}

async function main(options: FuzzOptions): Promise<number> {
  const { seed, only } = options;
  console.log(`seed ${seed}`);
  if (only !== null) {
    const replay = only.part === "request" ? replayConversation : replayImport;
    console.log(await replay(seed, only.number));
    return exitCodes.done;
  }
  const found = await fuzz(options);
  console.log(found === 0 ? "nothing found" : `${found} findings`);
  return found === 0 ? exitCodes.done : exitCodes.found;
}

const exitCodes = { done: 0, found: 1, usage: 2 } as const;

const options = readOptions(process.argv.slice(2));
if (typeof options === "string") {
  console.error(options);
  process.exitCode = exitCodes.usage;
} else process.exitCode = await main(options);
