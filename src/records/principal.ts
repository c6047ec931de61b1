/** A principal: a person who runs, directs or owns a GP. */
import { Type, type Static } from "./schema.ts";
import {
  ExternalIds,
  filterableCommon,
  gps,
  labels,
  markets,
  onExternalIds,
  origin,
} from "./common.ts";
import { date, id, link, list, oneOf, orNull, text } from "./fields.ts";
import { equality, type Filterable, onMembers } from "./filterable.ts";
import { ownershipBands, principalRoles } from "./vocabulary.ts";

export const principalMembers = {
  id: id("principal", "Stable id of the principal."),
  name: text("Full name of the person."),
  first_name: orNull(text("First name.", 200)),
  middle_name: orNull(text("Middle name.", 200)),
  last_name: orNull(text("Last name.", 200)),
  title: orNull(text("Job title, as the source writes it.")),
  roles: list(
    "Roles of the person at the GP or at one of its vehicles.",
    oneOf("A role.", principalRoles),
  ),
  city: orNull(text("City of the office.", 200)),
  state: orNull(text("State of the office.", 100)),
  country: orNull(
    text("Country of the office, normally an ISO 3166-1 alpha-2 code such as US.", 100),
  ),
  email: orNull(text("Business email address.", 320)),
  linkedin_url: orNull(link("LinkedIn page of the person.")),
  ownership_band: orNull(oneOf("Share of the GP owned, in per cent.", ownershipBands)),
  start_date: orNull(date("Date when the person started at the GP, as precisely as known.")),
  first_seen_date: orNull(date("Date when the source first named the person.")),
  last_seen_date: orNull(date("Date when the source last named the person.")),
  external_ids: ExternalIds,
  ...origin,
};

export const Principal = Type.Object(
  { ...principalMembers, ...labels, markets, gps },
  { additionalProperties: false },
);
export type Principal = Static<typeof Principal>;

/** Conditions on a principal. Market, tag and theme are those of a GP of the principal. */
const filterablePrincipal = {
  name: { by: "name" },
  gp_id: { by: "gpId" },
  market: { by: "ofOneGp" },
  tag: { by: "ofOneGp" },
  theme: { by: "ofOneGp" },
  role: equality<Principal>(({ roles }) => roles, "A role of the person.", {
    values: principalRoles,
  }),
  ...onMembers(principalMembers, ["city", "state", "country", "ownership_band"]),
  ...onExternalIds(["crd"]),
  ...onMembers(principalMembers, ["start_date", "first_seen_date", "last_seen_date"]),
  id: { by: "id" },
  ...filterableCommon,
} satisfies Filterable<Principal>;

export const principalDeclaration = {
  meaning: "A principal is a person who runs, directs or owns a GP.",
  members: principalMembers,
  schema: Principal,
  filterable: filterablePrincipal,
  absent: {},
  brief: [
    "id",
    "name",
    "title",
    "roles",
    "city",
    "state",
    "gps",
  ] satisfies readonly (keyof Principal)[],
};
