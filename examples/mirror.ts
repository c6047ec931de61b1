/**
 * Keeps a copy of all records in a file: `node mirror.ts [FILE]`, now and then, such as from cron.
 *
 * It needs the package gp-records-client (its README says how to install it), and GP_RECORDS_URL and GP_RECORDS_KEY in the
 * environment. It waits where the quota is used up, begins again where a dataset is published while it reads, and goes on
 * where it was when it was interrupted.
 */
import { createWriteStream, existsSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createClient } from "gp-records-client";

const file = process.argv[2] ?? "mirror.ndjson";
const client = createClient({
  baseUrl: process.env.GP_RECORDS_URL!,
  key: process.env.GP_RECORDS_KEY!,
  // The quota of an hour, too, is worth waiting for.
  waitMaxSeconds: 3600,
  onWait: ({ seconds, error }) => console.error(`${error.message}: waiting ${seconds} s`),
});

const mirror = client.mirror(existsSync(file) ? (await readFile(file, "utf8")).split("\n") : []);

function* savedLines() {
  for (const line of mirror.save()) yield `${line}\n`;
}

/** Whoever reads the file meets the old or the new one, never a part, even where two of these run at once. */
async function save() {
  const unfinished = `${file}.${process.pid}.new`;
  try {
    await pipeline(savedLines(), createWriteStream(unfinished));
    await rename(unfinished, file);
  } catch (error) {
    // As on a full disk.
    await rm(unfinished, { force: true });
    throw error;
  }
}

let pages = 0;
try {
  const { from, version, how } = await mirror.update({
    async onPage() {
      // What is read so far, in case this is ended.
      if (++pages % 50 === 0) await save();
    },
  });
  const counts = (["gp", "principal", "signal", "project"] as const).map(
    (kind) => `${mirror.count(kind)} ${kind}`,
  );
  console.log(`${from ?? "nothing"} → ${version}, by ${how}: ${counts.join(", ")}`);
} finally {
  await save();
}
