/** What of the settings the office gets: it is a thread, and not all of them can be copied. */
import { type Config, localUrl } from "#config.ts";
import type { OfficeSettings } from "./message.ts";

/** @param port the service listens on. */
export const officeSettings = (config: Config, port: number): OfficeSettings => ({
  dataDir: config.dataDir,
  publicUrl: config.publicUrl,
  linkBase: config.publicUrl ?? localUrl(config.host, port),
  signUp: config.signUp,
  isDemo: config.isDemo,
  smtpUrl: config.smtpUrl,
  mailFrom: config.mailFrom,
  usageLogDays: config.usageLogDays,
  auditDays: config.auditDays,
  pageSizeMax: config.pageSizeMax,
});
