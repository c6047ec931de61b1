/** The steps each store's schema went through, oldest first. A released step is never changed, only followed. */
import * as accountsAndKeys from "./control-0001-accounts-and-keys.ts";
import * as people from "./control-0002-people.ts";
import * as changes from "./control-0003-changes.ts";
import * as usage from "./usage-0001-usage.ts";

export const controlMigrations = {
  "0001-accounts-and-keys": accountsAndKeys,
  "0002-people": people,
  "0003-changes": changes,
};
export const usageMigrations = { "0001-usage": usage };
