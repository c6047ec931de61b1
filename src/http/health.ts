/** Answers `/health`: the process is alive. Answers `/ready`: a dataset and the keys are loaded, so it can answer queries. */
import { Problem } from "#problems.ts";
import { headerLines } from "#gateway/headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { otherPaths } from "./record-requests.ts";
import { readMethods, type Route } from "./routes.ts";
import { type HttpAnswer, sendAnswer } from "./send-answer.ts";

const ok: HttpAnswer = {
  status: 200,
  headers: headerLines({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  }),
  body: Buffer.from('{"status":"ok"}'),
};

export function healthRoutes(http: HttpDependencies): Route[] {
  const route = (path: string, check: () => void): Route => ({
    path,
    methods: readMethods,
    who: "public",
    name: otherPaths,
    isAlwaysOpen: true,
    handle(exchange) {
      check();
      sendAnswer(http, exchange, ok);
    },
  });
  return [
    route("/health", () => {}),
    route("/ready", () => {
      const reason = whyNotReady(http);
      if (reason === undefined) return;
      throw new Problem("unavailable", reasons[reason], { reason, retry_after: 1 });
    }),
  ];
}

const reasons = {
  starting: "The service is starting.",
  draining: "The service is about to stop.",
  no_dataset: "No records have been published yet.",
} as const;

/** Returns why queries cannot be answered, if so. A store outage after the start is no reason: known keys keep working. */
export function whyNotReady({ life, model }: HttpDependencies): keyof typeof reasons | undefined {
  const now = life.state;
  if (now === "closing") return "draining";
  if (now !== "running") return now;
  return model() === null ? "no_dataset" : undefined;
}
