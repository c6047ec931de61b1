/** Titles of principals and the roles that go with each. */
import type { principalRoles } from "#records/vocabulary.ts";
import { weighted } from "./random.ts";

type Role = (typeof principalRoles)[number];

export interface Office {
  title: string;
  roles: readonly Role[];
  /** Whether the holder has a share of the firm. */
  owns: boolean;
}

const office = (
  weight: number,
  title: string,
  roles: readonly Role[],
  owns = false,
): readonly [Office, number] => [{ title, roles, owns }, weight];

export const someOffice = weighted([
  office(14, "Managing Partner", ["executive_officer", "general_partner", "owner"], true),
  office(9, "Founder and CEO", ["executive_officer", "director", "control_person", "owner"], true),
  office(8, "Managing Member", ["managing_member", "control_person", "owner"], true),
  office(8, "Principal", ["executive_officer", "owner"], true),
  office(6, "Co-Founder and Partner", ["promoter", "owner"], true),
  office(4, "General Partner", ["general_partner", "owner"], true),
  office(3, "Chairman", ["director", "control_person", "owner"], true),
  office(6, "President", ["executive_officer", "director"]),
  office(5, "Chief Executive Officer", ["executive_officer", "director"]),
  office(5, "Chief Investment Officer", ["executive_officer"]),
  office(5, "Chief Financial Officer", ["executive_officer", "signer"]),
  office(4, "Chief Operating Officer", ["executive_officer"]),
  office(3, "Chief Compliance Officer", ["compliance"]),
  office(2, "General Counsel", ["executive_officer", "compliance"]),
  office(6, "Managing Director, Acquisitions", ["executive_officer"]),
  office(4, "Director of Asset Management", ["other"]),
  office(3, "Head of Capital Markets", ["other"]),
  office(3, "Head of Investor Relations", ["promoter"]),
  office(4, "Senior Vice President, Development", ["executive_officer"]),
  office(4, "Vice President", ["executive_officer"]),
  office(5, "Manager", ["managing_member", "signer"]),
  office(4, "Director", ["director"]),
  office(2, "Promoter", ["promoter"]),
  office(2, "Authorized Signatory", ["signer"]),
  office(2, "Trustee", ["control_person", "owner"], true),
]);
