/** What the program does beside answering, as such a team would add it: a line of log, three windows in Redis, metrics, and a row for each request. */
import { createClient, defineScript } from "@redis/client";
import { pino } from "pino";
import { collectDefaultMetrics, Histogram, register } from "prom-client";

/** As many as nobody asks for here, as in the service without it. */
const limit = 1_000_000_000;
const windows = [60, 3600, 86_400].map((seconds) => ({ seconds, milliseconds: seconds * 1000 }));

/** A round trip for all three; a client sends what one turn of the event loop asks for together. */
const countOne = defineScript({
  SCRIPT: `
    local counts = {}
    for i, key in ipairs(KEYS) do
      counts[i] = redis.call('INCR', key)
      if counts[i] == 1 then redis.call('EXPIRE', key, ARGV[i]) end
    end
    return counts`,
  NUMBER_OF_KEYS: windows.length,
  parseCommand(parser, keys) {
    for (const key of keys) parser.pushKey(key);
    for (const { seconds } of windows) parser.push(String(seconds));
  },
  transformReply: (counts) => counts,
});

const rowsEveryMilliseconds = 1000;
const insertRows = `
  insert into private.requests
  select * from unnest($1::timestamptz[], $2::int[], $3::text[], $4::text[], $5::smallint[], $6::real[], $7::int[], $8::text[])`;

/**
 * Adds all of it to a service whose requests have an account.
 * @returns what ends it.
 */
export async function addSameWork(app, pool, redisUrl) {
  const redis = await createClient({ url: redisUrl, scripts: { countOne } }).connect();
  // Written in pieces, as one asks of it who has many lines.
  const destination = pino.destination({ sync: false, minLength: 4096 });
  const log = pino({ base: undefined }, destination);
  collectDefaultMetrics();
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "From the head of a request to the end of its answer.",
    labelNames: ["route", "status"],
  });
  app.get("/metrics", async (_, reply) => {
    reply.type(register.contentType);
    return register.metrics();
  });

  app.addHook("preValidation", async (request, reply) => {
    const { account } = request;
    const now = Date.now();
    const keys = windows.map(
      ({ seconds, milliseconds }) => `${account}:${seconds}:${Math.floor(now / milliseconds)}`,
    );
    const counts = await redis.countOne(keys);
    const left = windows.map(({ milliseconds }, i) => ({
      remaining: Math.max(0, limit - counts[i]),
      reset: Math.ceil((milliseconds - (now % milliseconds)) / 1000),
    }));
    const { remaining, reset } = left.reduce((a, b) => (b.remaining < a.remaining ? b : a));
    reply.header("ratelimit-limit", limit);
    reply.header("ratelimit-remaining", remaining);
    reply.header("ratelimit-reset", reset);
    if (counts.some((count) => count > limit))
      return reply.code(429).header("retry-after", reset).send({ error: "quota exceeded" });
  });

  let rows = [];
  app.addHook("onResponse", (request, reply, done) => {
    const { id, account, url, routeOptions } = request;
    const { statusCode, elapsedTime } = reply;
    const bytes = Number(reply.getHeader("content-length") ?? 0);
    const line = { id, account, url, status: statusCode, ms: elapsedTime, bytes };
    log.info(line, "request");
    durations.labels(routeOptions.url, String(statusCode)).observe(elapsedTime / 1000);
    rows.push([
      new Date(),
      account,
      id,
      routeOptions.url,
      statusCode,
      elapsedTime,
      bytes,
      url.slice(url.indexOf("?") + 1),
    ]);
    done();
  });
  const columns = [0, 1, 2, 3, 4, 5, 6, 7];
  const write = async () => {
    const written = rows;
    rows = [];
    if (written.length === 0) return;
    const values = columns.map((column) => written.map((row) => row[column]));
    await pool.query({ name: "insert rows", text: insertRows, values });
  };
  const timer = setInterval(
    () => write().catch((fault) => log.error(fault)),
    rowsEveryMilliseconds,
  );

  return async () => {
    clearInterval(timer);
    await write();
    redis.destroy();
    destination.flushSync();
  };
}
