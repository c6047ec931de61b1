/** Answers `/health`: the process is alive. Answers `/ready`: a dataset and the keys are loaded, so it can answer queries. */
import { notReadyDetails, unavailable } from "#problems.ts";
import { headerLines } from "#gateway/headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { otherPaths, readMethods, type Route } from "./routes.ts";
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
      throw unavailable(reason, notReadyDetails[reason]);
    }),
  ];
}

/** Returns why queries cannot be answered, if so. A store outage after the start is no reason: known keys keep working. */
export function whyNotReady({
  life,
  model,
}: HttpDependencies): keyof typeof notReadyDetails | undefined {
  const now = life.state;
  if (now === "closing") return "draining";
  if (now !== "running") return now;
  return model() === null ? "no_dataset" : undefined;
}
