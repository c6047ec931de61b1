/** `npm run bench`: measures the program and prints how far it is from what it has to reach. */
import { measureAll } from "./measure-all.ts";
import { helpText, OptionFault, readOptions } from "./options.ts";

const exitCodes = { done: 0, failed: 1, usage: 2 } as const;

async function run(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    if (options === undefined) {
      console.log(helpText);
      return exitCodes.done;
    }
    const { report, isWhole } = await measureAll(options, tell);
    console.log(report);
    return isWhole ? exitCodes.done : exitCodes.failed;
  } catch (error) {
    const isUsage = error instanceof OptionFault;
    const { message, stack } = error as Error;
    console.error(`error: ${isUsage ? message : stack}`);
    if (isUsage) console.error("npm run bench -- --help tells what there is.");
    return isUsage ? exitCodes.usage : exitCodes.failed;
  }
}

/** What is under way; the result alone goes to standard output. */
const tell = (what: string) => console.error(`… ${what}`);

process.exit(await run(process.argv.slice(2)));
