/** Tells the operator by a webhook when an alarm begins and ends, for those who have no Prometheus. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import type { Metric } from "#metrics/metric.ts";
import { type AlarmChange, documentation, watchAlarms } from "./alarms.ts";

/** As pino's. */
type Log = Record<"info" | "warn" | "error", (facts: object, words: string) => void>;

interface Order {
  webhookUrl: string;
  metrics: readonly Metric[];
  log: Log;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Milliseconds since 1970. */
  now(): number;
  /** Version of this program. */
  program: string;
  patience?: Patience;
}

export interface OperatorTeller {
  /** Called every 15 s; what has begun or ended since is told. */
  look(): void;
  close(): Promise<void>;
}

/** As Prometheus usually asks. */
const lookEveryMilliseconds = 15_000;

/** Looks at once, and every 15 s. The first message says that the process has started, the last one that it stops. */
export function tellOperator(order: Order): OperatorTeller {
  const { webhookUrl, metrics, log, elapsed, now, program, patience } = order;
  const webhook = openWebhook(webhookUrl, log, patience);
  const watch = watchAlarms(metrics, { elapsed, now });
  const instance = { host: hostname(), pid: process.pid, program };

  const post = (event: string, text: string, more: object = {}) =>
    webhook.post({
      id: randomUUID(),
      event,
      at: new Date(now()).toISOString(),
      // What chat programs show.
      text: `${instance.host}: ${text}`,
      ...more,
      active: watch.active().map(({ name }) => name),
      instance,
    });
  const tell = ({ alarm, hasBegun }: AlarmChange) => {
    const { name, severity, summary, remedy, section } = alarm;
    log[hasBegun ? "warn" : "info"]({ alarm: name }, `alarm ${hasBegun ? "began" : "ended"}`);
    post(
      hasBegun ? "alarm_began" : "alarm_ended",
      hasBegun ? `${name} (${severity}). ${summary} ${remedy}` : `${name} is over.`,
      { alarm: name, severity, summary, remedy, documentation: `${documentation}#${section}` },
    );
  };
  const look = () => {
    for (const change of watch.look()) tell(change);
  };

  post("started", `gp-records ${program} has started.`);
  look();
  const timer = setInterval(look, lookEveryMilliseconds);
  timer.unref();
  let isClosed = false;
  return {
    look,
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      post("stopping", "gp-records is stopping.");
      await webhook.close();
    },
  };
}

interface Webhook {
  /** Returns at once. */
  post(message: object): void;
  /** Tries what waits a last time, for a second. */
  close(): Promise<void>;
}

interface Patience {
  /** After each failure in a row, the last one for all that follow; milliseconds. */
  pauses: readonly number[];
  closing: number;
}

const usualPatience: Patience = { pauses: [5000, 15_000, 60_000], closing: 1000 };
const answerMilliseconds = 10_000;
/** Bounds memory while the receiver is away. */
const waitingMax = 100;

/**
 * A message is tried until the receiver takes it with a 2xx, or refuses it with a status that would not change. No
 * redirect is followed: it would lead what is posted to a place that nobody has set.
 * @param url https, or http on this machine; its path, user and password may be secret, and the log names the host alone.
 */
function openWebhook(url: string, log: Log, patience = usualPatience): Webhook {
  const { host, target, headers } = receiverOf(url);
  const waiting: string[] = [];
  const isEnding = new AbortController();
  const isOver = new AbortController();
  let failures = 0;
  let delivering: Promise<void> | null = null;

  const deliver = async () => {
    for (let body = waiting[0]; body !== undefined; body = waiting[0]) {
      const fault = await send(body);
      if (fault === null || fault.isFinal) {
        // Unless it has been dropped meanwhile.
        if (waiting[0] === body) waiting.shift();
        if (failures > 0) log.info({ host }, `${away}: works again`);
        failures = 0;
        if (fault !== null)
          log.error({ host, reason: fault.reason }, "the operator's webhook refused a message");
        continue;
      }
      if (failures === 0) log.error({ host, reason: fault.reason }, away);
      if (isEnding.signal.aborted) return;
      const wait = patience.pauses[failures++] ?? patience.pauses.at(-1);
      await pause(wait, undefined, { signal: isEnding.signal, ref: false }).catch(() => {});
    }
  };
  const send = async (body: string): Promise<Refusal | null> => {
    try {
      const signal = AbortSignal.any([isOver.signal, AbortSignal.timeout(answerMilliseconds)]);
      const answer = await fetch(target, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
        signal,
      });
      await answer.body?.cancel();
      if (answer.ok) return null;
      const { status } = answer;
      const isLater = status >= 500 || [408, 425, 429].includes(status);
      return { reason: `status ${status}`, isFinal: !isLater };
    } catch (error) {
      const { cause, name } = error as Error & { cause?: NodeJS.ErrnoException };
      return { reason: cause?.code ?? name, isFinal: false };
    }
  };
  return {
    post(message) {
      if (waiting.length === waitingMax) {
        waiting.shift();
        log.error(
          { host },
          `${waitingMax} messages wait for the operator's webhook: one is dropped`,
        );
      }
      waiting.push(JSON.stringify(message));
      delivering ??= deliver().finally(() => (delivering = null));
    },
    async close() {
      isEnding.abort();
      const deadline = setTimeout(() => isOver.abort(), patience.closing);
      await delivering;
      clearTimeout(deadline);
    },
  };
}

const away = "the operator's webhook cannot be reached";

interface Refusal {
  /** Fit for a log. */
  reason: string;
  /** The same message would be refused again. */
  isFinal: boolean;
}

/** `fetch` takes no user and password in a URL. */
function receiverOf(url: string) {
  const target = new URL(url);
  const { host, username, password } = target;
  target.username = "";
  target.password = "";
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "user-agent": "gp-records",
  };
  if (username !== "" || password !== "") {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  }
  return { host, target, headers };
}
