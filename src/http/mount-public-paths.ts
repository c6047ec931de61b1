/** The paths that need no key: landing page, docs, errors, changelog, OpenAPI description, assets. */
import { html, json } from "./common-headers.ts";
import type { FastifyInstance } from "fastify";
import { accountUrl } from "#config.ts";
import { defaultQuotas, windows } from "#limits/policy.ts";
import { formats } from "#operations/formats.ts";
import { recordCounts } from "#operations/page.ts";
import { readAssets } from "#pages/assets.ts";
import { apiVersions } from "#operations/versions.ts";
import { changelogPage } from "#pages/changelog.ts";
import { docsPage } from "#pages/docs.ts";
import { mcpPage } from "#pages/docs-mcp.ts";
import { vocabularyPage } from "#pages/docs-vocabulary.ts";
import { errorPage, errorsPage } from "#pages/errors.ts";
import { landingIndex, landingPage, type ServiceFacts } from "#pages/landing.ts";
import type { KeyFacts } from "#pages/way-to-key.ts";
import { problemCodes } from "#problems.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { describeApi } from "./describe-api.ts";
import { type Form, immutable, mountDocument } from "./mount-document.ts";

export function mountPublicPaths(app: FastifyInstance, http: HttpDependencies): void {
  const { publicUrl, pageSizeMax } = http.config;
  const page = (make: () => string): Form[] => [
    { accept: "text/html", contentType: html, content: once(make) },
  ];
  mountDocument(app, http, "/", [
    { accept: "text/html", contentType: html, content: () => landingPage(factsOf(http)) },
    {
      accept: "application/json",
      contentType: json,
      content: () => JSON.stringify(landingIndex(factsOf(http))),
    },
  ]);
  const quotas = windows.map(({ name, seconds }) => ({
    name,
    seconds,
    quota: defaultQuotas[name],
  }));
  const docs = () =>
    docsPage({
      publicUrl,
      pageSizeMax,
      quotas,
      formats: formats.map(({ mediaType }) => mediaType),
      ...keyFactsOf(http),
    });
  mountDocument(app, http, "/docs", page(docs));
  mountDocument(
    app,
    http,
    "/docs/vocabulary",
    page(() => vocabularyPage(publicUrl)),
  );
  mountDocument(
    app,
    http,
    "/docs/mcp",
    page(() => mcpPage(publicUrl)),
  );
  mountDocument(app, http, "/errors", page(errorsPage));
  for (const code of problemCodes)
    mountDocument(
      app,
      http,
      `/errors/${code}`,
      page(() => errorPage(code)),
    );
  mountDocument(
    app,
    http,
    "/changelog",
    page(() => changelogPage(apiVersions)),
  );
  const description = () => JSON.stringify(describeApi(http.operations, pageSizeMax));
  mountDocument(app, http, "/openapi.json", [
    { accept: "application/json", contentType: json, content: once(description) },
  ]);
  for (const { path, contentType, bytes } of readAssets()) {
    const form = { accept: contentType.split(";")[0]!, contentType, content: () => bytes };
    mountDocument(app, http, path, [form], immutable);
  }
}

/** Rendered on the first request, so that the start does not wait for pages that few ask for. */
function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

function factsOf(http: HttpDependencies): ServiceFacts {
  const { config, model } = http;
  const current = model();
  return {
    counts: current === null ? null : recordCounts(current),
    datasetVersion: current?.parts.version ?? null,
    datasetUpdatedAt: current?.parts.updatedAt ?? null,
    publicUrl: config.publicUrl,
    ...keyFactsOf(http),
  };
}

function keyFactsOf({ config }: HttpDependencies): KeyFacts {
  const url = accountUrl(config);
  const account = url === null ? null : { url, isOpen: config.signUp === "open" };
  return { account, isDemo: config.isDemo };
}
