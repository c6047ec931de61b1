/** Is the process alive, and can it answer queries? */
import type { FastifyInstance } from "fastify";
import { Problem } from "#problems.ts";
import type { FrontDoor } from "./front-door.ts";
import { headerLines } from "./header-lines.ts";
import { answeredMethods, routeConfig } from "./routes.ts";
import { sendAnswer, type Answer } from "./send-answer.ts";

const ok: Answer = {
  status: 200,
  headers: headerLines({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  }),
  body: Buffer.from('{"status":"ok"}'),
};
const methods = ["GET", "HEAD", "OPTIONS"] as const;

export function mountHealth(app: FastifyInstance, door: FrontDoor): void {
  const facts = { methods, isAlwaysOpen: true };
  const mount = (url: string, check: () => void) =>
    app.route({
      method: answeredMethods,
      url,
      config: routeConfig(facts),
      handler(request, reply) {
        check();
        sendAnswer(door, request, reply, ok);
      },
    });
  mount("/health", () => {});
  mount("/ready", () => {
    const reason = whyNotReady(door);
    if (reason === undefined) return;
    throw new Problem("unavailable", reasons[reason], { reason, retry_after: 1 });
  });
}

const reasons = {
  starting: "The service is starting.",
  draining: "The service is about to stop.",
  no_dataset: "No records have been published yet.",
  store_down: "The store of keys and accounts does not answer.",
} as const;

export function whyNotReady(door: FrontDoor): keyof typeof reasons | undefined {
  const state = door.state();
  if (state !== "running") return state;
  if (door.model() === null) return "no_dataset";
  return door.storeAnswers() ? undefined : "store_down";
}
