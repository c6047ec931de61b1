/** Makes the texts of the public paths, except the feed, adapted to what this server offers. */
import { accountUrl } from "#config.ts";
import { signInDays, siteOf } from "#dashboard/messages.ts";
import { defaultQuotas, windows } from "#limits/policy.ts";
import { referenceOf } from "#operations/operation.ts";
import { recordCounts } from "#operations/page.ts";
import { apiVersions } from "#operations/versions.ts";
import { explainPage, operationPage, vocabularyPage } from "#pages/docs-operation.ts";
import { changelogPage, docsPage, type KeyFacts, mcpPage } from "#pages/docs.ts";
import { errorPage, errorsPage } from "#pages/errors.ts";
import {
  landingIndex,
  landingPage,
  type LandingRecords,
  llmsText,
  readLandingRecords,
  type ServiceFacts,
} from "#pages/landing.ts";
import { privacyPage } from "#pages/privacy.ts";
import { problemCodes } from "#problems/kinds.ts";
import { getOrCompute } from "#search/get-or-compute.ts";
import type { ReadModel } from "#search/read-model.ts";
import { hoursKeptDays } from "#usage/retention.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { describeApi } from "./describe-api.ts";

/** Returns functions that make the texts. Those of the landing page and `/privacy` describe the current dataset. */
export function openPublicTexts(http: HttpDependencies) {
  const { operations } = http;
  const { publicUrl, pageSizeMax } = http.config;
  const quotas = windows.map((window) => ({ ...window, quota: defaultQuotas[window.name] }));
  return {
    landing: () => landing(http),
    landingIndex: () => JSON.stringify(landingIndex(factsOf(http, null))),
    privacy: () =>
      privacyPage({
        ...http.config,
        ...signInDays,
        site: siteOf(http),
        sources: http.model()?.parts.sources ?? [],
        totalsDays: hoursKeptDays,
      }),
    /** Functions that make all other texts, by path. These texts change only with `browse`. */
    fixed: {
      "/docs": () => docsPage({ site: siteOf(http), quotas, ...keyFactsOf(http) }),
      ...Object.fromEntries(
        operations.map((operation) => [
          referenceOf(operation),
          () => operationPage(operation, { site: siteOf(http), publicUrl, pageSizeMax }),
        ]),
      ),
      "/docs/vocabulary": () => vocabularyPage(siteOf(http), publicUrl),
      "/docs/explain": () => explainPage(siteOf(http), publicUrl),
      "/docs/mcp": () => mcpPage(siteOf(http), publicUrl),
      "/errors": () => errorsPage(siteOf(http)),
      ...Object.fromEntries(
        problemCodes.map((code) => [`/errors/${code}`, () => errorPage(siteOf(http), code)]),
      ),
      "/changelog": () => changelogPage(siteOf(http), apiVersions),
      "/llms.txt": () => llmsText(publicUrl, quotas),
      "/openapi.json": () => JSON.stringify(describeApi(operations, pageSizeMax)),
    } as Readonly<Record<string, () => string>>,
  };
}

const landingRecords = new WeakMap<ReadModel, Promise<LandingRecords>>();

/** Returns the landing page, with records if everyone may see them. Reads the records once for each dataset. */
async function landing(http: HttpDependencies): Promise<string> {
  const model = http.model();
  const isShown = model !== null && siteOf(http).hasAccounts && http.browse() === "everyone";
  const records = isShown ? getOrCompute(landingRecords, model, readLandingRecords) : null;
  return landingPage(factsOf(http, await records));
}

function factsOf(http: HttpDependencies, records: LandingRecords | null): ServiceFacts {
  const { config, model } = http;
  const current = model();
  return {
    site: siteOf(http),
    dataset: current && {
      version: current.parts.version,
      updated_at: current.parts.updatedAt,
      records: recordCounts(current),
    },
    sources: current?.parts.sources ?? [],
    records,
    publicUrl: config.publicUrl,
    ...keyFactsOf(http),
  };
}

function keyFactsOf({ config }: HttpDependencies): KeyFacts {
  const url = accountUrl(config);
  const account = url === null ? null : { url, isOpen: config.signUp === "open" };
  return { account, isDemo: config.isDemo };
}
