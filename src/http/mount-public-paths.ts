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
import { samplesPage } from "#pages/docs-samples.ts";
import { vocabularyPage } from "#pages/docs-vocabulary.ts";
import { errorPage, errorsPage } from "#pages/errors.ts";
import { llmsText } from "#pages/llms-text.ts";
import { markdownOf } from "#pages/markdown.ts";
import { landingIndex, landingPage, type ServiceFacts } from "#pages/landing.ts";
import type { KeyFacts } from "#pages/way-to-key.ts";
import { problemCodes } from "#problems.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { describeApi } from "./describe-api.ts";
import { immutable, mountDocument } from "./mount-document.ts";

export function mountPublicPaths(app: FastifyInstance, http: HttpDependencies): void {
  const { publicUrl, pageSizeMax } = http.config;
  /** A page for people, and as Markdown for programs that read text: under its own address, or by `Accept`. */
  const mountPage = (path: string, make: () => string) => {
    const page = { accept: "text/html", contentType: html, content: once(make) };
    const text = {
      accept: "text/markdown",
      contentType: markdown,
      content: once(() => markdownOf(page.content())),
    };
    mountDocument(app, http, path, [page, text]);
    mountDocument(app, http, `${path}.md`, [text]);
  };
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
      deprecations: http.deprecations,
      quotas,
      formats: formats.map(({ mediaType }) => mediaType),
      ...keyFactsOf(http),
    });
  mountPage("/docs", docs);
  mountPage("/docs/samples", () => samplesPage(publicUrl));
  mountPage("/docs/vocabulary", () => vocabularyPage(publicUrl));
  mountPage("/docs/mcp", () => mcpPage(publicUrl));
  mountPage("/errors", errorsPage);
  for (const code of problemCodes) mountPage(`/errors/${code}`, () => errorPage(code));
  mountPage("/changelog", () => changelogPage(apiVersions, http.deprecations));
  mountDocument(app, http, "/llms.txt", [
    {
      accept: "text/plain",
      contentType: plainText,
      content: once(() => llmsText(publicUrl, quotas)),
    },
  ]);
  const description = () =>
    JSON.stringify(describeApi(http.operations, pageSizeMax, http.deprecations));
  mountDocument(app, http, "/openapi.json", [
    { accept: "application/json", contentType: json, content: once(description) },
  ]);
  for (const { path, contentType, bytes } of readAssets()) {
    const form = { accept: contentType.split(";")[0]!, contentType, content: () => bytes };
    mountDocument(app, http, path, [form], immutable);
  }
}

const markdown = "text/markdown; charset=utf-8";
const plainText = "text/plain; charset=utf-8";

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
