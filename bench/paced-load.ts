/** The mix at 200 requests a second, and what came of it in the seconds in which the machine was there. */
import { stolenTicks } from "./calm-seconds.ts";
import { allServed, type LoadClient } from "./load.ts";
import type { RequestWaits } from "./request-waits.ts";
import type { RunningServer } from "./servers.ts";

const perSecond = 200;
const connections = 16;

/** A server, who asks it, and the name of what is asked. */
export interface AskedServer {
  server: RunningServer;
  client: LoadClient;
  requests: string;
}

/** Requests of the seconds in which the machine was not away; of all, where it always was. */
export interface Asked {
  microseconds: number[];
  /** Of requests that were watched; empty where none was. */
  waits: RequestWaits;
}

/** Asks the mix from its beginning, second by second. */
export async function askOn(
  { server, client, requests }: AskedServer,
  goesOn: (seconds: number, calm: number) => boolean,
  isWatched: boolean,
): Promise<Asked> {
  const [all, calm] = [noneAsked(), noneAsked()];
  for (let second = 0; goesOn(second, calm.microseconds.length / perSecond); second++) {
    const stolen = stolenTicks();
    const { microseconds, waits } = allServed(
      await client.run({
        port: server.port,
        requests,
        connections,
        count: perSecond,
        firstRequest: second * perSecond,
        secondsMax: 2,
        perSecond,
        ...(isWatched && { watchedPid: server.pid }),
      }),
    );
    for (const kept of stolenTicks() === stolen ? [all, calm] : [all]) {
      kept.microseconds.push(...microseconds);
      for (const kind of waitKinds) kept.waits[kind].push(...(waits?.[kind] ?? []));
    }
  }
  return calm.microseconds.length > 0 ? calm : all;
}

const waitKinds = ["askedAt", "server", "client"] as const;

const noneAsked = (): Asked => ({
  microseconds: [],
  waits: { askedAt: [], server: [], client: [] },
});
