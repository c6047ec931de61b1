/** What of the settings the office gets: it is a thread, and not all of them can be copied. */
import type { Config } from "#config.ts";
import type { OfficeSettings } from "./message.ts";

export const officeSettings = (config: Config): OfficeSettings => ({
  dataDir: config.dataDir,
  publicUrl: config.publicUrl,
  signUp: config.signUp,
  isDemo: config.isDemo,
  smtpUrl: config.smtpUrl,
  mailFrom: config.mailFrom,
  usageLogDays: config.usageLogDays,
  pageSizeMax: config.pageSizeMax,
});
