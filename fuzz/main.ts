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

const options = readOptions(process.argv.slice(2));
const { seed, only } = options;
console.log(`seed ${seed}`);
if (only?.part === "request") console.log(await replayConversation(seed, only.number));
else if (only?.part === "import") console.log(await replayImport(seed, only.number));
else {
  const found = await fuzz(options);
  console.log(found === 0 ? "nothing found" : `${found} findings`);
  process.exitCode = found === 0 ? 0 : 1;
}
