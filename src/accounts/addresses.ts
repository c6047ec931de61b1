/** E-mail addresses of people: which texts are valid, and when two are the same. */
import { domainToASCII } from "node:url";
import { DomainError } from "#store/domain-error.ts";

export interface Address {
  /** As it was written, without spaces around. */
  email: string;
  /** The form in which two addresses may not be the same. */
  folded: string;
}

/** RFC 5321, 4.5.3.1, as errata 1690 has it. */
const lengthMax = 254;
const localLengthMax = 64;

// No quoted local parts, comments or domains in brackets: real addresses have none, and mail headers stay simple.
const localShape = /^[^\s@"(),:;<>[\]\\\p{C}]+$/u;
// Otherwise `domainToASCII` would take part of the text for a path or an escape, and drop it.
const domainShape = /^[\p{L}\p{M}\p{N}.-]+$/u;
const labelShape = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;

/** @throws DomainError `invalid` saying what an address looks like. */
export function readAddress(text: string): Address {
  const email = text.normalize("NFC").trim();
  if (Buffer.byteLength(email) > lengthMax)
    throw new DomainError("invalid", `The e-mail address must have at most ${lengthMax} bytes.`);
  const at = email.lastIndexOf("@");
  if (!isLocal(email.slice(0, Math.max(at, 0))) || !isDomain(email.slice(at + 1)))
    throw new DomainError(
      "invalid",
      `'${email.slice(0, 100)}' is not an e-mail address. One looks like name@company.example.`,
    );
  return { email, folded: foldAddress(email) };
}

/** Of any text: NFC, lower case, and the domain as the DNS has it. */
export function foldAddress(text: string): string {
  const folded = text.normalize("NFC").trim().toLowerCase().normalize("NFC");
  const at = folded.lastIndexOf("@");
  const domain = at < 0 ? "" : asciiDomain(folded.slice(at + 1));
  return domain === "" ? folded : `${folded.slice(0, at)}@${domain}`;
}

const isLocal = (local: string) =>
  localShape.test(local) &&
  Buffer.byteLength(local) <= localLengthMax &&
  !/^\.|\.\.|\.$/.test(local);

/** Empty for what is no domain. */
const asciiDomain = (domain: string) => (domainShape.test(domain) ? domainToASCII(domain) : "");

function isDomain(domain: string): boolean {
  const labels = asciiDomain(domain).split(".");
  // A single label is a machine and a number at the end an IP address: most often a typing error.
  return (
    labels.length > 1 &&
    labels.every((label) => labelShape.test(label)) &&
    !/^\d/.test(labels.at(-1)!)
  );
}
