/** Whole numbers in a row, each in as few bytes as the one furthest from the least needs. */

/** The number from which all are counted, and how many bytes each takes. */
export type NumberShape = [base: number, width: number];

export function shapeOf(values: Float64Array): NumberShape {
  let least = values[0]!;
  let greatest = least;
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    if (value < least) least = value;
    else if (value > greatest) greatest = value;
  }
  let width = 0;
  for (let left = greatest - least; left >= 1; left = Math.floor(left / 256)) width++;
  return [least, width];
}

/** The lowest byte first. */
export function writeNumbers(
  values: Float64Array,
  [base, width]: Readonly<NumberShape>,
  bytes: Uint8Array,
  start: number,
): void {
  let at = start;
  if (width === 1) for (const value of values) bytes[at++] = value - base;
  else if (width === 2)
    for (const value of values) {
      const above = value - base;
      bytes[at] = above;
      bytes[at + 1] = above >>> 8;
      at += 2;
    }
  else
    for (const value of values) {
      let left = value - base;
      for (const end = at + width; at < end; left = Math.floor(left / 256)) bytes[at++] = left;
    }
}

/** @param into is filled. */
export function readNumbers(
  bytes: Uint8Array,
  start: number,
  [base, width]: Readonly<NumberShape>,
  into: Float64Array | Uint32Array,
): void {
  const count = into.length;
  if (width === 0) into.fill(base);
  else if (width === 1) for (let i = 0; i < count; i++) into[i] = base + bytes[start + i]!;
  else if (width === 2)
    for (let i = 0, at = start; i < count; i++, at += 2)
      into[i] = base + (bytes[at]! | (bytes[at + 1]! << 8));
  else
    for (let i = 0; i < count; i++) {
      let above = 0;
      for (let at = start + (i + 1) * width - 1; at >= start + i * width; at--)
        above = above * 256 + bytes[at]!;
      into[i] = base + above;
    }
}
