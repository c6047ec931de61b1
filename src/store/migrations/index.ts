/** The steps each store's schema went through, oldest first. A released step is never changed, only followed. */
import * as control from "./control-0001-tables.ts";
import * as usage from "./usage-0001-tables.ts";

export const controlMigrations = { "0001-tables": control };
export const usageMigrations = { "0001-tables": usage };
