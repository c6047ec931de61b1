/** Minor versions of the API, with the additions of each. The newest one is served. */

export interface ApiVersion {
  /** Minor version, as in the header `API-Version`. */
  version: string;
  /** First day on which it was served, `YYYY-MM-DD`. */
  date: string;
  /** Additions, one sentence each. Backticks mark code. */
  changes: readonly string[];
}

/** Versions, newest first. The page at `/changelog` shows them. */
export const apiVersions: readonly [ApiVersion, ...ApiVersion[]] = [
  {
    version: "1.3",
    date: "2026-11-21",
    changes: [
      "Four operations: `/fetch-gp`, `/fetch-principals`, `/fetch-signals` and `/fetch-projects`, each also under `/v1`.",
      "Partial search for `gp_name`; exact filters `tag`, `theme` and `market`, which may be repeated.",
      "Four lists: `/list-gps`, `/list-principals`, `/list-signals` and `/list-projects` find records by any of their values, with ranges of dates and numbers, and sort them; each also under `/v1`.",
      "Tools for agents at `/mcp`, over MCP: the four operations, the four lists, the vocabulary, what changed, explanations, and the matching of names.",
      "`/vocabulary` lists every tag, theme and market with its number of GPs, and what each value of a closed list means.",
      "`/explain/{id}` tells why a GP, principal or project says what it says: documents, sentences, rules, and what was refused.",
      "`/exports`, where the operator offers it, has whole datasets as NDJSON, CSV and Parquet files, also in ranges of bytes.",
      "`/changes` lists the publications of datasets, each with a step of what it added, changed, removed and merged; `/changes.atom` is a feed of the publications.",
      "Pages by `limit` and `offset`, with an exact total and a `Link` header with links to the neighbouring pages.",
      "Answers name the dataset they come from, in `meta.dataset_version`; records have stable ids and say where they come from in `provenance`.",
      "`meta.hints` names values that match nothing, suggests similar ones, and says when embedded lists are truncated.",
      "Errors as `application/problem+json`, every fault of a request at once, with a page for each code.",
      "Quotas for a minute, an hour and a day, reported on every answer in `RateLimit` and `RateLimit-Policy`.",
      "Records also as NDJSON and CSV, if `Accept` names `application/x-ndjson` or `text/csv`.",
      "`ETag` and `If-None-Match`; answers compressed with `br` or `gzip`.",
      "The API is described at `/openapi.json` and, for language models, at `/llms.txt`.",
    ],
  },
];

export const apiVersion = apiVersions[0].version;
