/** Is the process alive, and can it answer queries: are a dataset and the keys loaded? */
import type { FastifyInstance } from "fastify";
import { Problem } from "#problems.ts";
import { headerLines } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { answeredMethods, routeConfig } from "./routes.ts";
import { type Answer, sendAnswer } from "./send-answer.ts";

const ok: Answer = {
  status: 200,
  headers: headerLines({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  }),
  body: Buffer.from('{"status":"ok"}'),
};
const methods = ["GET", "HEAD", "OPTIONS"] as const;

export function mountHealth(app: FastifyInstance, http: HttpDependencies): void {
  const facts = { methods, isAlwaysOpen: true };
  const mount = (url: string, check: () => void) =>
    app.route({
      method: answeredMethods,
      url,
      config: routeConfig(facts),
      handler(request, reply) {
        check();
        sendAnswer(http, request, reply, ok);
      },
    });
  mount("/health", () => {});
  mount("/ready", () => {
    const reason = whyNotReady(http);
    if (reason === undefined) return;
    throw new Problem("unavailable", reasons[reason], { reason, retry_after: 1 });
  });
}

const reasons = {
  starting: "The service is starting.",
  draining: "The service is about to stop.",
  no_dataset: "No records have been published yet.",
} as const;

/** An outage of a store after the start changes nothing here: keys that are known go on being served. */
export function whyNotReady({ state, model }: HttpDependencies): keyof typeof reasons | undefined {
  const now = state();
  if (now !== "running") return now;
  return model() === null ? "no_dataset" : undefined;
}
