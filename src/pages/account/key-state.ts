/** What a key's state is, in words, and when and from where it was last used. */
import { html, type Html, type Part } from "#pages/html.ts";
import { relativeTime } from "./relative.ts";

export interface KeyView {
  id: string;
  name: string;
  /** Its first characters. */
  hint: string;
  state: "active" | "expiring" | "expired" | "revoked" | "suspended";
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** Id of the key that a rotation made in its place. */
  replacedBy: string | null;
  lastUse: { at: string; network: string | null } | null;
  /** Since midnight, UTC. */
  requestsToday: number;
}

/** Neither revoked nor expired. */
export const isLive = ({ state }: Pick<KeyView, "state">): boolean =>
  state !== "revoked" && state !== "expired";

export function stateWords({ state, expiresAt, revokedAt }: KeyView, now: number): Html {
  if (state === "expiring")
    return html`<span class="expires">expires ${relativeTime(expiresAt!, now)}</span>`;
  if (state === "expired") return html`expired ${relativeTime(expiresAt!, now)}`;
  if (state === "revoked") return html`revoked ${relativeTime(revokedAt!, now)}`;
  return html`${state}`;
}

/** "4 minutes ago from 203.0.113.0/24". */
export function lastUseWords({ lastUse }: Pick<KeyView, "lastUse">, now: number): Part {
  if (lastUse === null) return "never";
  const { at, network } = lastUse;
  return html`${relativeTime(at, now)}${network !== null && html` from <span class="mono">${network}</span>`}`;
}
