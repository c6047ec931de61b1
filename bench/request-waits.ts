/** How long server and client had work to do and no core to do it on, while a request was under way. */
import { readFileSync } from "node:fs";
import { machineMilliseconds } from "./machine-clock.ts";

/** For each request, in milliseconds. */
export interface RequestWaits {
  /** When it was asked, by the machine's clock. */
  askedAt: number[];
  server: number[];
  client: number[];
}

export interface RequestWatch {
  waits: RequestWaits;
  begin(request: number): void;
  end(request: number): void;
}

/** @param server its process; the client's is this one. */
export function watchRequests(server: number): RequestWatch {
  const waits: RequestWaits = { askedAt: [], server: [], client: [] };
  return {
    waits,
    begin(request) {
      waits.askedAt[request] = machineMilliseconds();
      waits.server[request] = waitedSoFar(server);
      waits.client[request] = waitedSoFar(process.pid);
    },
    end(request) {
      waits.server[request] = waitedSoFar(server) - waits.server[request]!;
      waits.client[request] = waitedSoFar(process.pid) - waits.client[request]!;
    },
  };
}

/**
 * The first thread's, in milliseconds: the second number of its `schedstat`, in nanoseconds there (Linux,
 * Documentation/scheduler/sched-stats.rst).
 */
const waitedSoFar = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6;
