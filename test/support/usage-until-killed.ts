/** Writes one request into the usage store of a folder, or of the database given beside it, and dies without closing. */
import { makeGateMemory } from "#store/postgres.ts";
import { openWriter } from "#usage/writer.ts";
import { batchOf, request } from "./usage.ts";

const [, , dataDir, url] = process.argv;
const database = url === undefined ? null : { url, gateMemory: makeGateMemory() };
const writer = openWriter({ dataDir: dataDir!, database, onFault() {} });
writer.write(batchOf([request()]));
await writer.settled();
process.kill(process.pid, "SIGKILL");
