/** Every path of the account pages, in the order in which they are looked for. */
import type { Route } from "#office/route.ts";
import { browseRoutes } from "./browse.ts";
import { browseGpRoutes } from "./browse-gp.ts";
import { credentialRoutes } from "./credentials.ts";
import { explorerRoutes } from "./explorer.ts";
import { farewellRoutes } from "./farewell.ts";
import { forgotRoutes } from "./forgot.ts";
import { linkRoutes } from "./link.ts";
import { oneMemberRoutes } from "./member.ts";
import { memberRoutes } from "./members.ts";
import { sessionRoutes } from "./sessions.ts";
import { settingsRoutes } from "./settings.ts";
import { signInRoutes } from "./sign-in.ts";
import { signUpRoutes } from "./sign-up.ts";
import { keyRoutes } from "./key.ts";
import { keysRoutes } from "./keys.ts";
import { noticesRoutes } from "./notices.ts";
import { requestsRoutes } from "./requests.ts";
import { usageRoutes } from "./usage.ts";

export const routes: readonly Route[] = [
  ...browseRoutes,
  ...browseGpRoutes,
  ...explorerRoutes,
  ...keysRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...requestsRoutes,
  ...noticesRoutes,
  ...signInRoutes,
  ...signUpRoutes,
  ...forgotRoutes,
  ...linkRoutes,
  ...sessionRoutes,
  ...settingsRoutes,
  ...credentialRoutes,
  ...farewellRoutes,
  ...memberRoutes,
  ...oneMemberRoutes,
];
