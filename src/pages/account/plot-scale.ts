/** Where things stand in a plot: heights of numbers, places of labels. Lengths are pixels from the ground upwards. */

/** Steps at which an axis may end: each has a whole half, but the first. */
const steps = [1, 2, 4, 6, 8, 10];

/** The lowest round number that nothing of the plot goes beyond. @param highest a whole number. */
export function axisEnd(highest: number): number {
  let unit = 1;
  while (highest > 10 * unit) unit *= 10;
  return unit * steps.find((step) => step * unit >= highest)!;
}

/** The numbers at which the axis has a line. */
export const axisLines = (end: number): readonly number[] =>
  end % 2 === 0 ? [0, end / 2, end] : [0, end];

/**
 * Heights for labels that want to stand at these, lowest first, with so much room that none touches another.
 * @param room of one label. @param top no label stands higher, as far as all have room.
 */
export function spread(wanted: readonly number[], room: number, top: number): number[] {
  const places: number[] = [];
  for (const height of wanted) places.push(Math.max(height, (places.at(-1) ?? -room) + room));
  let above = top + room;
  for (let i = places.length - 1; i >= 0; i--) {
    places[i] = Math.max(i * room, Math.min(places[i]!, above - room));
    above = places[i]!;
  }
  return places;
}

const compact = new Intl.NumberFormat("en-US", {
  notation: "compact",
  maximumFractionDigits: 1,
});

/** Such as `980` or `12.4K`. */
export const shortNumber = (number: number): string => compact.format(number);
