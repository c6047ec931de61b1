/**
 * Runs test files, a few in each process: what they load, compile and start, above all PostgreSQL, they share. Each can
 * also be run by itself: `node --test FILE`.
 * Its arguments are patterns of files; without any it takes all that `npm test` is to run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** These look at the memory of their process, limit what it may open, or stop its clocks. */
const alone = [
  "cases/imports",
  "http/formats",
  "http/overload",
  "limits/keyed-limit",
  "usage/writer",
];
const filesMax = 6;
const processesMax = 4;
/** For a process that does not end by itself after its tests, which have a limit of their own. */
const processMillisecondsMax = 900_000;

const root = join(import.meta.dirname, "..");
const patterns = process.argv.length > 2 ? process.argv.slice(2) : ["test/**/*.test.ts"];
const files = globSync(patterns, { cwd: root, exclude: ["**/node_modules"] }).toSorted();
if (files.length === 0) throw new Error(`no file fits ${patterns.join(" or ")}`);

const isAlone = (file: string) => alone.includes(file.slice("test/".length, -".test.ts".length));
const sizeOf = (group: readonly string[]) =>
  group.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
const together = Map.groupBy(
  files.filter((file) => !isAlone(file)),
  dirname,
);
const groups = [
  ...files.filter(isAlone).map((file) => [file]),
  ...[...together.values()].flatMap((found) => {
    const count = Math.ceil(found.length / filesMax);
    return Array.from({ length: count }, (_, i) => found.filter((__, j) => j % count === i));
  }),
].toSorted((a, b) => sizeOf(b) - sizeOf(a));

const totals = new Map<string, number>();
const failed: string[][] = [];
const running = new Set<ChildProcess>();

async function runGroup(group: string[]): Promise<void> {
  const options = ["--test", "--test-isolation=none", "--test-timeout=180000"];
  const preload = ["--import", join(import.meta.dirname, "support/compile-cache.ts")];
  const child = spawn(process.execPath, [...options, ...preload, ...group], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: processMillisecondsMax,
  });
  running.add(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = await new Promise<number | null>((resolve) => child.once("close", resolve));
  running.delete(child);
  // One that ended in its middle has said nothing of its end.
  if (ended !== 0 || !/^ℹ fail 0$/m.test(said)) failed.push(group);
  process.stdout.write(said);
  for (const [, name = "", count] of said.matchAll(
    /^ℹ (tests|pass|fail|cancelled|skipped) (\d+)$/gm,
  ))
    totals.set(name, (totals.get(name) ?? 0) + Number(count));
}

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    groups.length = 0;
    // They take with them what they have started.
    for (const child of running) child.kill(signal);
  });

const start = performance.now();
const worker = async () => {
  for (let group = groups.shift(); group !== undefined; group = groups.shift())
    await runGroup(group);
};
await Promise.all(Array.from({ length: processesMax }, worker));

const counts = Array.from(totals, ([name, count]) => `${name} ${count}`).join(", ");
console.log(`\nAll together: ${counts}, ${Math.round((performance.now() - start) / 1000)} s`);
for (const group of failed) console.log(`Failed: node --test ${group.join(" ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
