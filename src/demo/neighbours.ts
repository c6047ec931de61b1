/** Which GPs share a record: those of one area work together. */
import type { InventedGp } from "./cast.ts";
import { trimmed } from "./lists.ts";
import { gentlyFirst, type Random } from "./random.ts";

/** The GP and up to `others` different ones of its area; fewer where chance finds none. */
export function withNeighbours(random: Random, gp: InventedGp, others: number): InventedGp[] {
  if (others === 0) return [gp];
  const { neighbours } = gp;
  const chosen = [gp];
  for (let at = 0; at < others; at++) {
    const other = neighbours[gentlyFirst(random, neighbours.length)] as InventedGp;
    if (!chosen.includes(other)) chosen.push(other);
  }
  return trimmed(chosen);
}
