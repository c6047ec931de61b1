/** The public pages as a service would make them, and a server of them for browsers. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { TestContext } from "node:test";
import { readAssets } from "#pages/assets.ts";
import { operations } from "#operations/index.ts";
import { apiVersions } from "#operations/versions.ts";
import { changelogPage, type DocsFacts, docsPage, mcpPage } from "#pages/docs.ts";
import { referenceOf } from "#operations/operation.ts";
import { explainPage, operationPage, vocabularyPage } from "#pages/docs-operation.ts";
import { errorPage, errorsPage, problemPage } from "#pages/errors.ts";
import { landingPage, type ServiceFacts } from "#pages/landing.ts";
import type { Site } from "#pages/layout.ts";
import { type PrivacyFacts, privacyPage } from "#pages/privacy.ts";
import { problemCodes } from "#problems/kinds.ts";
import { Problem } from "#problems.ts";
import { listenFor } from "./ports.ts";

export const site: Site = {
  name: "gp-records",
  contact: "records@example.org",
  browse: "everyone",
  hasAccounts: true,
};

export const serviceFacts: ServiceFacts = {
  site,
  dataset: {
    version: "20261120T030000Z-9f3c2a7e",
    updated_at: "2026-11-20T03:00:00Z",
    records: { gp: 12_873, principal: 48_211, signal: 166_004, project: 9312 },
  },
  sources: [["own", "2026-11-20T03:00:00Z"]],
  records: null,
  publicUrl: null,
  account: { url: "/account", isOpen: true },
  isDemo: false,
};

export const docsFacts: DocsFacts = {
  site,
  quotas: [
    { name: "minute", quota: 60, seconds: 60 },
    { name: "hour", quota: 1000, seconds: 3600 },
    { name: "day", quota: 10_000, seconds: 86_400 },
  ],
  account: serviceFacts.account,
  isDemo: false,
};

/** Facts of the page of an operation. */
export const operationFacts = { site, publicUrl: null, pageSizeMax: 250 };

export const privacyFacts: PrivacyFacts = {
  site,
  sources: [["own", "2026-11-20T03:00:00Z"]],
  usageLogDays: 14,
  totalsDays: 400,
  usageLogParameters: true,
  auditDays: 0,
  datasetsKeep: 10,
  changesDays: 400,
  sessionDays: 7,
  knownBrowserDays: 180,
  endedLinkDays: 7,
};

const mistyped = new Problem("unknown-path", `There is nothing at /dosc/${"x".repeat(44)}….`, {
  suggestion: "/docs",
  operations: [],
});

/** Path → page. */
export const publicPages = (): Map<string, string> =>
  new Map([
    ["/", landingPage(serviceFacts)],
    ["/docs", docsPage(docsFacts)],
    ...operations.map(
      (operation) => [referenceOf(operation), operationPage(operation, operationFacts)] as const,
    ),
    ["/docs/vocabulary", vocabularyPage(site, null)],
    ["/docs/explain", explainPage(site, null)],
    ["/docs/mcp", mcpPage(site, null)],
    ["/errors", errorsPage(site)],
    ...problemCodes.map((code) => [`/errors/${code}`, errorPage(site, code)] as const),
    ["/changelog", changelogPage(site, apiVersions)],
    ["/privacy", privacyPage(privacyFacts)],
    ["/dosc", problemPage(site, mistyped, "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y")],
  ]);

/** The policy the pages are served under; what it forbids must not be in them. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Serves pages and assets on loopback until the test ends.
 * @param fetchGp answers `/fetch-gp`.
 * @returns the origin.
 */
export async function servePages(t: TestContext, fetchGp: RequestListener): Promise<string> {
  const pages = publicPages();
  const assets = new Map(readAssets().map((asset) => [asset.path, asset]));
  const pathOf = ({ url = "/" }: IncomingMessage) => url.split("?", 1)[0]!;
  const server = createServer((request, response) => {
    const path = pathOf(request);
    if (path === "/fetch-gp") return fetchGp(request, response);
    response.setHeader("content-security-policy", contentSecurityPolicy);
    const asset = assets.get(path);
    response.setHeader("content-type", asset?.contentType ?? "text/html; charset=utf-8");
    response.statusCode = asset === undefined && !pages.has(path) ? 404 : 200;
    response.end(asset?.bytes ?? pages.get(path));
  });
  return `http://127.0.0.1:${await listenFor(t, server)}`;
}
