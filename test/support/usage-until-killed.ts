/** Writes one request into the usage store of a folder, or of the database given beside it, and dies without closing. */
import { openWriter } from "#usage/writer.ts";
import { batchOf, request } from "./usage.ts";

const [, , dataDir, databaseUrl = null] = process.argv;
const writer = openWriter({ dataDir: dataDir!, databaseUrl, onFault() {} });
writer.write(batchOf([request()]));
await writer.settled();
process.kill(process.pid, "SIGKILL");
