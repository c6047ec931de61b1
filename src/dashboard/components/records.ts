/** Values of records as pages show them: in words, as links, cut to fit; and who may see which. */
import { type Given, isSignedIn, type ReaderRequest, withHeader } from "#dashboard/screen.ts";
import { html, type Part } from "#pages/html.ts";
import { dayElement } from "#pages/prose.ts";
import type { Provenance } from "#records/common.ts";
import type { Principal } from "#records/principal.ts";
import type { ReadModel } from "#search/read-model.ts";
import { wordReply } from "./page.ts";

/** Joins city, state and country. Leaves out what is unknown, and the US if city or state is known. */
export const place = (city: string | null, state: string | null, country: string | null): string =>
  [city, state, country === "US" && (city ?? state) !== null ? null : country]
    .filter((part) => part !== null)
    .join(", ");

/** Words for a record's basis, as part of a sentence. */
export const basisWords: Readonly<Record<Provenance["basis"], string>> = {
  stated: "stated",
  adv_file_number: "identified by a file number in Form ADV",
  sponsor_text: "named in the text of a filing",
  adv_fund_name: "identified by the name of a fund in Form ADV",
  related_entity: "named among the related persons of a filing",
  cluster: "identified from people and addresses shared by several filings",
  series_master: "identified as the company that issues the series",
  related_entity_deal: "identified by a related entity formed for this deal alone",
  issuer_stem: "identified by the issuer's name alone",
  named_sponsor: "named in a public register",
};

/** Returns words such as "demo, stated, confidence 100 %". */
export const provenanceWords = ({ source, basis, confidence }: Provenance): string =>
  `${source}, ${basisWords[basis] ?? basis}, confidence ${percentText(confidence)}`;

export const percentText = (share: number): string => `${Math.round(share * 100)} %`;

/** Returns a day as an element, if it is known. */
export const day = (date: string | null): Part => date && dayElement(date);

/** Returns a share such as "25–50 %", if it is known. */
export const bandText = (band: Principal["ownership_band"]): string | null =>
  band && `${band.replace("_", /^[0-9]/.test(band) ? "–" : " ")} %`;

/** Addresses that become links: of http or https. Longer ones are rare and would fill the page. */
const webAddress = /^https?:\/\/.{1,490}$/i;

const hostOf = (address: string): string =>
  URL.parse(address)?.hostname.replace(/^www\./, "") ?? address;

/** Returns a link to another site, which learns nothing about this page. Returns only text if the address is no link. */
export function linkTo(address: string | null, label?: string): Part {
  const text = label ?? (address && hostOf(address));
  return address !== null && webAddress.test(address)
    ? html`<a href="${address}" rel="noopener noreferrer">${text}</a>`
    : address && text;
}

/**
 * Shortens text to at most `lengthMax` characters and an ellipsis. Cuts at the last space, if that is not in the first
 * half.
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax);
  const space = cut.lastIndexOf(" ");
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

/** Joins strings into a list that is cut to fit. */
export const listText = (texts: readonly string[]): string => cutText(texts.join("; "), 1000);

/** Joins the shown parts and adds the number of further ones. Returns false if no part is shown. */
export const joined = (shown: readonly Part[], total: number, separator: string): Part =>
  shown.length > 0 && [
    shown.map((part, i) => [i > 0 && separator, part]),
    total > shown.length && ` and ${total - shown.length} more`,
  ];

/** Joins facts with middle dots. Leaves out empty ones. */
export function byPoints(facts: readonly Part[]): Part {
  const said = facts.filter((fact) => fact !== null && fact !== false && fact !== "");
  return joined(said, said.length, " · ");
}

export const isSuspended = ({ account }: ReaderRequest): boolean =>
  (account?.suspendedAt ?? null) !== null;

type ContactMember = "email" | "linkedin_url" | "provenance";

/** Returns a person as the reader may see them: whoever is not signed in sees no e-mail address and no LinkedIn page. */
export function asSeen<P extends Pick<Principal, ContactMember>>(
  request: ReaderRequest,
  person: P,
): P {
  if (isSignedIn(request)) return person;
  const { provenance } = person;
  const isPage = provenance.url !== null && /(?:^|\.)linkedin\.com$/.test(hostOf(provenance.url));
  const source = isPage ? { ...provenance, url: null } : provenance;
  return { ...person, email: null, linkedin_url: null, provenance: source };
}

const unpublished =
  "Nothing has been published on this service. Records appear here once the operator imports them.";
const suspended =
  "Its keys and its pages show no records until the operator lifts the suspension. Ask them why.";

/** Returns a page of records, or a reply that says why there are none. @param show makes the page from the records. */
export function readRecords(
  request: ReaderRequest,
  show: (model: ReadModel) => Given | Promise<Given>,
): Given | Promise<Given> {
  const model = request.services.model();
  if (model === null)
    return withHeader(wordReply(request, 503, "No records yet", unpublished), "retry-after", "5");
  if (isSuspended(request)) return wordReply(request, 403, "This account is suspended", suspended);
  return show(model);
}
