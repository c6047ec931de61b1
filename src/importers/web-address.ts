/** Reads web addresses as people type them into registers. */
import { Unreadable } from "./unreadable.ts";

const withScheme = /^(https?):\/\/([^/?#\s]+)([^\s]*)$/i;
const hostName =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]*[\p{L}\p{N}](?::\d+)?$/u;

/**
 * An http or https address with scheme and host in small letters (RFC 3986, 6.2.2.1); the path, where capitals
 * may matter, stays as it is. An address without a scheme is taken to be http.
 */
export function readWebAddress(text: string): string | Unreadable {
  const address = text.includes("://") ? text : `http://${text}`;
  const [, scheme, host, rest] = withScheme.exec(address) ?? [];
  if (scheme === undefined || host === undefined || !hostName.test(host) || !URL.canParse(address))
    return new Unreadable("must be a web address such as https://www.example.com");
  return `${scheme.toLowerCase()}://${host.toLowerCase()}${rest ?? ""}`;
}
