/** The steps each store's schema went through, oldest first. A released step is never changed, only followed. */
import * as accountsAndKeys from "./control-0001-accounts-and-keys.ts";
import * as keyUse from "./usage-0001-key-use.ts";

export const controlMigrations = { "0001-accounts-and-keys": accountsAndKeys };
export const usageMigrations = { "0001-key-use": keyUse };
