/** Serves the paths that need no key: landing page, docs, errors, changelog, OpenAPI description, feed, assets. */
import { feedPath } from "#operations/changes.ts";
import { served } from "#gateway/reads.ts";
import { readAssets } from "#pages/assets.ts";
import { problemCodes } from "#problems.ts";
import type { Publication } from "#records/publication.ts";
import { html, json } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { type Document, documentRoutes, immutable } from "./documents.ts";
import type { PublicTexts } from "./public-texts.ts";
import type { Route } from "./routes.ts";

export function publicRoutes(http: HttpDependencies): Route[] {
  const documents = new Map<string, Document>();
  const texts = once(() => loadTexts(http));

  /** Adds a page for people, and its Markdown for programs that read text: at an address of its own, or by `Accept`. */
  const addPage = (path: string, make: (texts: PublicTexts) => string) => {
    const page = once(async () => make(await texts()));
    const forPeople = { accept: "text/html", contentType: html, content: page };
    const forPrograms = {
      accept: "text/markdown",
      contentType: markdown,
      content: once(async () => (await texts()).markdownOf(await page())),
    };
    documents.set(path, { forms: [forPeople, forPrograms] });
    documents.set(`${path}.md`, { forms: [forPrograms] });
  };
  documents.set("/", {
    forms: [
      {
        accept: "text/html",
        contentType: html,
        content: async () => (await texts()).landing(),
      },
      {
        accept: "application/json",
        contentType: json,
        content: async () => (await texts()).landingIndex(),
      },
    ],
  });
  addPage("/docs", ({ docs }) => docs());
  addPage("/docs/samples", ({ samples }) => samples());
  addPage("/docs/vocabulary", ({ vocabulary }) => vocabulary());
  addPage("/docs/mcp", ({ mcp }) => mcp());
  addPage("/errors", ({ errors }) => errors());
  for (const code of problemCodes) addPage(`/errors/${code}`, ({ error }) => error(code));
  addPage("/changelog", ({ changelog }) => changelog());
  documents.set("/llms.txt", {
    forms: [
      {
        accept: "text/plain",
        contentType: plainText,
        content: once(async () => (await texts()).llms()),
      },
    ],
  });
  documents.set("/openapi.json", {
    forms: [
      {
        accept: "application/json",
        contentType: json,
        content: once(async () => (await texts()).description()),
      },
    ],
  });
  documents.set(feedPath, feedOf(http));
  for (const { path, contentType, bytes } of readAssets()) {
    const form = { accept: contentType.split(";")[0]!, contentType, content: () => bytes };
    documents.set(path, { forms: [form], serving: immutable });
  }
  return documentRoutes(http, documents);
}

const markdown = "text/markdown; charset=utf-8";
const plainText = "text/plain; charset=utf-8";

/** Loads the pages with the first request for one. They are a third of all our code, and most servers serve only records. */
async function loadTexts(http: HttpDependencies): Promise<PublicTexts> {
  const { openPublicTexts } = await import("./public-texts.ts");
  return openPublicTexts(http);
}

/** Makes a value on the first request, and again after a failure. The start does not wait for pages that few ask for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Returns the feed of changes, written once for each list of publications, which rarely changes. */
function feedOf(http: HttpDependencies): Document {
  const { publicUrl } = http.config;
  let known: { from: readonly Publication[]; text: string } | null = null;
  const content = async () => {
    const { changesFeed } = await import("#pages/changes-feed.ts");
    const { version, updatedAt } = served(http).parts;
    const from = http.changes.list(version);
    if (known?.from !== from) {
      const address = `${publicUrl ?? ""}${feedPath}`;
      known = { from, text: changesFeed({ publications: from.toReversed(), address, updatedAt }) };
    }
    return known.text;
  };
  const accept = "application/atom+xml";
  return { forms: [{ accept, contentType: `${accept}; charset=utf-8`, content }] };
}
