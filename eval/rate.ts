/** Fewer cases give no rate. */
const casesMin = 60;

/** Returns a share with its 95 % interval by Wilson; of few cases their number alone. */
export function rate(count: number, all: number): string {
  if (all < casesMin) return `${count} of ${all}, too few`;
  const z = 1.96;
  const share = count / all;
  const centre = share + z ** 2 / (2 * all);
  const half = z * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  const [low, high] = [centre - half, centre + half].map((end) => end / (1 + z ** 2 / all));
  const percent = (one: number) => (100 * one).toFixed(1);
  return `${percent(share)} % (${percent(low!)} to ${percent(high!)}), ${count} of ${all}`;
}
