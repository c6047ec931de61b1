/** Numbers tuples of four numbers in the order in which they first come, at a cost of nanoseconds each. */

type Tuple = readonly [number, number, number, number];

interface Tuples {
  /** Its place: 0 for the first tuple that came, 1 for the next other one. Each number has 32 bits. */
  placeOf(first: number, second: number, third: number, fourth: number): number;
  count(): number;
  /** By their places. */
  all(): Tuple[];
}

const width = 4;

export function openTuples(): Tuples {
  let tuples = new Uint32Array(width * 128);
  /** A hash table: one more than the place of a tuple, 0 where there is none. Twice as long as there may be tuples. */
  let slots = new Uint32Array(2 * 128);
  let count = 0;

  const grow = () => {
    const longer = new Uint32Array(2 * tuples.length);
    longer.set(tuples);
    tuples = longer;
    slots = new Uint32Array(2 * slots.length);
    for (let place = 0; place < count; place++) {
      const [a, b, c, d] = tuples.subarray(width * place) as unknown as Tuple;
      let slot = hashOf(a, b, c, d) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = place + 1;
    }
  };
  return {
    placeOf(a, b, c, d) {
      const mask = slots.length - 1;
      for (let slot = hashOf(a, b, c, d) & mask; ; slot = (slot + 1) & mask) {
        const found = slots[slot]!;
        const at = found === 0 ? width * count : width * (found - 1);
        if (found === 0) {
          tuples[at] = a;
          tuples[at + 1] = b;
          tuples[at + 2] = c;
          tuples[at + 3] = d;
          slots[slot] = ++count;
          if (width * count === tuples.length) grow();
          return count - 1;
        }
        if (
          tuples[at] === a &&
          tuples[at + 1] === b &&
          tuples[at + 2] === c &&
          tuples[at + 3] === d
        )
          return found - 1;
      }
    },
    count: () => count,
    all: () =>
      Array.from(
        { length: count },
        (_, i) => [...tuples.subarray(width * i, width * (i + 1))] as unknown as Tuple,
      ),
  };
}

function hashOf(a: number, b: number, c: number, d: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
  hash =
    Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35) ^
    Math.imul(c, 0x27d4eb2f) ^
    Math.imul(d, 0x165667b1);
  return hash ^ (hash >>> 13);
}
