/** Debian's Redis on a port of this machine, ended by its process id. */
import { type ChildProcess, spawn } from "node:child_process";
import { endWithUs } from "./clean-up.ts";
import { findProgram } from "./not-installed.ts";

/** @throws NotInstalled */
export const findRedis = (): string => findProgram("redis-server", "redis-server");

interface RedisOrder {
  port: number;
  /** Where it keeps its data. */
  folder: string;
  /** As on its command line, besides those that docs/running.md asks for. */
  args?: readonly string[];
  /** What it is started under, such as `nsenter …`, which ends up as Redis. */
  under?: readonly string[];
}

const startMillisecondsMax = 60_000;

/**
 * Resolves once it has read its data and takes commands.
 * @throws NotInstalled
 */
export async function spawnRedis({
  port,
  folder,
  args = [],
  under = [],
}: RedisOrder): Promise<ChildProcess> {
  const place = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const kept = ["--appendonly", "yes", "--appendfsync", "everysec"];
  const [command = "", ...rest] = [...under, findRedis(), ...place, ...kept, ...args];
  const child = endWithUs(spawn(command, rest, { stdio: ["ignore", "pipe", "inherit"] }));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let log = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    log += text;
    if (log.includes("Ready to accept connections")) resolve();
  });
  child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}: ${log}`)));
  const late = setTimeout(
    () => reject(new Error(`redis-server did not start: ${log}`)),
    startMillisecondsMax,
  );
  await promise.finally(() => clearTimeout(late));
  return child;
}
