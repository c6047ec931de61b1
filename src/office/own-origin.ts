/** Under which scheme and host the browser sees these pages. */
import { isLoopback } from "#config.ts";
import type { OfficeRequest, OfficeSettings } from "./message.ts";

export interface OwnOrigin {
  /** Without a slash at the end. */
  origin: string;
  /** What stands before a path in what the page shows to whoever asked for it, and in nothing that is mailed. */
  base: string;
  isSecure: boolean;
}

/**
 * From `PUBLIC_URL`; without it from the `Host` header, if that names this machine: any other name is the client's
 * invention. Null where it cannot be told, and then no page is served.
 */
export function ownOrigin(
  { publicUrl }: Pick<OfficeSettings, "publicUrl">,
  { headers }: Pick<OfficeRequest, "headers">,
): OwnOrigin | null {
  if (publicUrl !== null) {
    const { origin, protocol, hostname } = new URL(publicUrl);
    const isSecure = protocol === "https:";
    return isSecure || isLoopback(hostname) ? { origin, base: publicUrl, isSecure } : null;
  }
  const { host = "" } = headers;
  const [, name = ""] = /^([^:]+|\[[^\]]*\])(?::\d{1,5})?$/.exec(host) ?? [];
  if (!isLoopback(name)) return null;
  return { origin: `http://${host}`, base: `http://${host}`, isSecure: false };
}
