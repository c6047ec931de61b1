/**
 * The same four reads as a team writes them that knows Fastify and PostgreSQL: keys by their SHA-256 with an LRU, a rate limit for
 * each account, schemas, prepared statements, JSON made by the database, exact totals, an LRU of answers. With COUNTERS_URL it does
 * what the program does beside (same-work.js); with COMPRESS it compresses.
 */
import { hash } from "node:crypto";
import compress from "@fastify/compress";
import rateLimit from "@fastify/rate-limit";
import fastify from "fastify";
import { LRUCache } from "lru-cache";
import pg from "pg";
import { addSameWork } from "./same-work.js";

const { DATABASE_URL, DATASET_VERSION, DATASET_UPDATED_AT } = process.env;
const { COUNTERS_URL, COMPRESS } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });

/** Prepares each text once on each connection. */
const ask = (text, values) => pool.query({ name: nameOf(text), text, values });
const names = new Map();
function nameOf(text) {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = hash("sha1", text)));
  return name;
}

/** Accounts by the digest of their key; a revoked one is refused after a minute at most. */
const accounts = new LRUCache({ max: 10_000, ttl: 60_000 });

async function findAccount(digest) {
  const { rows } = await ask("select account from private.api_keys where digest = $1", [
    Buffer.from(digest, "hex"),
  ]);
  if (rows.length > 0) accounts.set(digest, rows[0].account);
  return rows[0]?.account;
}

/** Letters that Unicode does not take apart. */
const letters = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ł: "l",
  þ: "th",
  ı: "i",
  ħ: "h",
};

/** Text as it is compared: no case, accents or punctuation. */
const fold = (text) =>
  text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}+/gu, "")
    .replace(/[ßæœøđðłþıħ]/g, (letter) => letters[letter])
    .replace(/['’‘ʼ.]+/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Values of a statement, each known by its place. */
function openValues() {
  const values = [];
  return { values, add: (value) => `$${values.push(value)}` };
}

/** A word of four letters or more may stand anywhere in a name, a shorter one begins a word of it. */
const patternOf = (word) => (word.length >= 4 ? `%${word}%` : `% ${word}%`);

/** SQL for ids and ranks of the GPs that satisfy the filters. */
function matchingGps(query, add) {
  const conditions = ["tag", "theme", "market"]
    .filter((name) => query[name] !== undefined)
    .map((name) => `g.${name}_keys && ${add(query[name].map(fold))}::text[]`);
  const where = (own) => {
    const all = [...own, ...conditions];
    return all.length === 0 ? "" : `where ${all.join(" and ")}`;
  };
  const name = query.gp_name;
  if (name === undefined) return `select g.id, g.sort_name, 0 as rank from gps g ${where([])}`;
  if (/^gp_[0-9a-z]{16}$/.test(name)) {
    const id = add(name);
    return `select g.id, g.sort_name, 0 as rank from gps g ${where([`(g.id = ${id} or g.former_ids @> array[${id}])`])}`;
  }
  const folded = fold(name);
  const [equal, begins, startOfWord, inside] = [
    folded,
    `${folded}%`,
    `% ${folded}%`,
    `%${folded}%`,
  ].map(add);
  const words = folded.split(" ").map((word) => `n.padded like ${add(patternOf(word))}`);
  return `
    select g.id, g.sort_name, min(
      case when n.name = ${equal} then 0 when n.name like ${begins} then 1
        when n.padded like ${startOfWord} then 2 when n.name like ${inside} then 3 else 4 end
    ) as rank
    from gp_names n join gps g on g.id = n.gp_id ${where(words)}
    group by g.id`;
}

const ownColumns = {
  gp: "id, former_ids, name, legal_name, aliases, description, website, hq_city, hq_state, hq_country, founded_year, aum_usd, aum_as_of, raised_to_date_usd, strategies, property_types, tags, themes, markets, external_ids, provenance, updated_at",
  principal:
    "id, name, first_name, middle_name, last_name, title, roles, city, state, country, email, linkedin_url, ownership_band, start_date, first_seen_date, last_seen_date, external_ids, provenance, updated_at",
  signal:
    "id, type, title, summary, date, published_at, amount_usd, amount_basis, market, property_types, project_ids, url, tags, themes, provenance, updated_at",
  project:
    "id, name, type, property_type, status, address, city, state, zip, country, market, market_basis, latitude, longitude, units, affordable_units, square_feet, total_amount_usd, raised_amount_usd, start_date, completion_date, first_sale_date, strategy, tags, themes, external_ids, provenance, updated_at",
};
const columns = (kind, alias, more = "") =>
  `${ownColumns[kind]}${more}`.replace(/\w+/g, (name) => `${alias}.${name}`);

const embedded = (kind) => `
  (select coalesce(json_agg(e), '[]') from (
    select ${columns(kind, "r")} from gp_${kind}s l join ${kind}s r on r.id = l.${kind}_id
    where l.gp_id = g.id order by l.position limit 100
  ) e) as ${kind}s,
  (select count(*) from gp_${kind}s l where l.gp_id = g.id) as ${kind}s_total`;

/** One statement gives total and page; the total stays right past the last page. */
function gpStatement(query, { values, add }) {
  const text = `
    with matched as materialized (${matchingGps(query, add)}),
    page as (select * from matched order by rank, sort_name, id limit ${add(query.limit)} offset ${add(query.offset)})
    select (select count(*) from matched)::int as total, count(*)::int as returned, coalesce(json_agg(d), '[]')::text as data
    from (
      select ${columns("gp", "g")}, ${embedded("principal")}, ${embedded("signal")}
      from page join gps g using (id) order by page.rank, page.sort_name, page.id
    ) d`;
  return { text, values };
}

const inherited = ", tags, themes, markets";

const linkedStatement =
  (kind, order) =>
  (query, { values, add }) => {
    const isFiltered = ["gp_name", "tag", "theme", "market"].some(
      (name) => query[name] !== undefined,
    );
    const source = isFiltered ? "matched" : `${kind}s`;
    const text = `
    with ${
      isFiltered
        ? `matched as materialized (
            select r.* from ${kind}s r where r.id in (
              select l.${kind}_id from (${matchingGps(query, add)}) m join gp_${kind}s l on l.gp_id = m.id
            )
          ),`
        : ""
    }
    page as (select * from ${source} order by ${order} limit ${add(query.limit)} offset ${add(query.offset)})
    select (select count(*) from ${source})::int as total, count(*)::int as returned, coalesce(json_agg(d), '[]')::text as data
    from (
      select ${columns(kind, "r", kind === "principal" ? inherited : "")},
        (select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) order by l.gp_place), '[]')
          from gp_${kind}s l join gps g on g.id = l.gp_id where l.${kind}_id = r.id) as gps
      from page r order by ${order}
    ) d`;
    return { text, values };
  };

const page = {
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20 },
  offset: { type: "integer", minimum: 0, maximum: 2_147_483_647, default: 0 },
};
const gpName = (minLength) => ({ gp_name: { type: "string", minLength, maxLength: 200 } });
const values = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 100 },
  maxItems: 10,
};
const facets = { tag: values, theme: values, market: values };
const closed = (properties, required = []) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const routes = {
  "/fetch-gp": {
    schema: closed({ ...gpName(2), ...facets, ...page }, ["gp_name"]),
    statement: gpStatement,
  },
  "/fetch-principals": {
    schema: closed({ ...gpName(1), ...facets, ...page }),
    statement: linkedStatement("principal", "sort_name, id"),
  },
  "/fetch-signals": {
    schema: closed({ ...gpName(1), ...page }),
    statement: linkedStatement("signal", "date desc, id"),
  },
  "/fetch-projects": {
    schema: closed({ ...gpName(1), ...page }),
    statement: linkedStatement("project", "sort_name, id"),
  },
};

async function answer(statement, query) {
  const { text, values } = statement(query, openValues());
  const { rows } = await ask(text, values);
  const { total, returned, data } = rows[0];
  const { limit, offset } = query;
  const hasMore = returned > 0 && offset + returned < total;
  const pagination = {
    limit,
    offset,
    returned,
    total,
    has_more: hasMore,
    next_offset: hasMore ? offset + returned : null,
  };
  const meta = {
    api_version: "1.3",
    dataset_version: DATASET_VERSION,
    dataset_updated_at: DATASET_UPDATED_AT,
    hints: [],
  };
  const body = Buffer.from(
    `{"data":${data},"pagination":${JSON.stringify(pagination)},"meta":${JSON.stringify(meta)}}`,
  );
  return { body, etag: `W/"${hash("sha1", body, "base64url")}"`, total: String(total) };
}

const app = fastify({
  logger: false,
  ajv: { customOptions: { removeAdditional: false, coerceTypes: "array" } },
});

app.decorateRequest("account", null);
app.addHook("onRequest", (request, reply, done) => {
  const key = request.headers["x-api-key"];
  const admit = (account) => {
    if (account === undefined)
      return void reply.code(401).send({ error: "x-api-key is not valid" });
    request.account = account;
    done();
  };
  if (key === undefined) return admit(undefined);
  const digest = hash("sha256", key);
  const account = accounts.get(digest);
  if (account !== undefined) return admit(account);
  findAccount(digest).then(admit, (error) => done(error));
});
if (COMPRESS !== undefined) await app.register(compress);
let endSameWork = null;
if (COUNTERS_URL !== undefined) endSameWork = await addSameWork(app, pool, COUNTERS_URL);
else
  await app.register(rateLimit, {
    hook: "preValidation",
    keyGenerator: (request) => request.account,
    // As many as nobody asks for here: the load comes from few accounts.
    max: 1_000_000_000,
    timeWindow: "1 minute",
    enableDraftSpec: true,
  });

/** By URL; more than there are questions. */
const answers = new LRUCache({ max: 10_000 });

function send(request, reply, { body, etag, total }) {
  reply.header("etag", etag);
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("x-total-count", total);
  return reply.send(body);
}

async function makeAnswer(request, reply, statement) {
  const made = await answer(statement, request.query);
  answers.set(request.url, made);
  return send(request, reply, made);
}

for (const [path, { schema, statement }] of Object.entries(routes))
  app.get(path, { schema: { querystring: schema } }, (request, reply) => {
    const known = answers.get(request.url);
    if (known === undefined) return makeAnswer(request, reply, statement);
    // Returns nothing: Fastify would wait for a reply as for a promise.
    send(request, reply, known);
  });

await app.listen({ host: "127.0.0.1", port: 0 });
process.send(app.server.address().port);
process.on("SIGTERM", async () => {
  await app.close();
  await endSameWork?.();
  await pool.end();
  process.exit();
});
process.on("disconnect", () => process.exit());
