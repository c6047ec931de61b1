/** Whom an address stands for when wrong keys are counted. */
import { isIP } from "node:net";

/**
 * An IPv4 address as it is, also if mapped into IPv6; of IPv6 the first 64 bits, for that much anyone gets
 * (RFC 6177). All that is no address shares one name, so that nonsense makes no room for guessing.
 */
export function clientNetwork(address: string): string {
  const family = isIP(address);
  if (family === 4) return address;
  return family === 6 ? networkOf(groupsOf(address)) : "unknown";
}

function networkOf(groups: readonly number[]): string {
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join(".");
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(":")}::/64`;
}

/** The eight numbers of a valid IPv6 address, without its zone. */
function groupsOf(address: string): number[] {
  const [head = "", tail = ""] = address.replace(/%.*/, "").split("::");
  const before = numbersOf(head);
  const after = numbersOf(tail);
  const between = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return [...before, ...between, ...after];
}

/** The groups of a part of an address; an IPv4 address at its end is two of them. */
function numbersOf(part: string): number[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
