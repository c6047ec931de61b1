/** The routes of all account pages, in the order in which they are matched and listed in the navigation. */
import type { Route } from "#dashboard/screen.ts";
import { browseRoutes } from "./browse.ts";
import { downloadRoutes } from "./download.ts";
import { changesRoutes } from "./changes.ts";
import { feedRoutes } from "./feeds.ts";
import { browseGpRoutes } from "./gp.ts";
import { keysRoutes } from "./keys.ts";
import { matchRoutes } from "./match.ts";
import { memberRoutes } from "./members.ts";
import { noticesRoutes } from "./notices.ts";
import { personRoutes } from "./person.ts";
import { projectRoutes } from "./project.ts";
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
  ...browseGpRoutes,
  ...personRoutes,
  ...projectRoutes,
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
