/** The routes of all account pages, in the order in which they are matched and listed in the navigation. */
import type { Route } from "#dashboard/screen.ts";
import type { NamedKind } from "#records/kinds.ts";
import { browseRoutes } from "./browse.ts";
import { downloadRoutes } from "./download.ts";
import { changesRoutes } from "./changes.ts";
import { feedRoutes } from "./feeds.ts";
import { gpPage } from "./gp.ts";
import { keysRoutes } from "./keys.ts";
import { matchRoutes } from "./match.ts";
import { memberRoutes } from "./members.ts";
import { noticesRoutes } from "./notices.ts";
import { personPage } from "./person.ts";
import { projectPage } from "./project.ts";
import { requestsRoutes } from "./requests.ts";
import { searchRoutes } from "./search.ts";
import { settingsRoutes } from "./settings.ts";
import { signInRoutes } from "./sign-in.ts";
import { usageRoutes } from "./usage.ts";

export const routes: readonly Route[] = [
  ...browseRoutes,
  ...changesRoutes,
  ...downloadRoutes,
  ...matchRoutes,
  ...Object.values({
    gp: gpPage,
    principal: personPage,
    project: projectPage,
  } satisfies Record<NamedKind, Route>),
  ...searchRoutes,
  ...keysRoutes,
  ...usageRoutes,
  ...requestsRoutes,
  ...feedRoutes,
  ...noticesRoutes,
  ...signInRoutes,
  ...memberRoutes,
  ...settingsRoutes,
];
