/** Sizes as people read them. */

const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** `1.5 GiB`; whole numbers from ten on. */
export function bytesText(bytes: number): string {
  const step = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  return `${step === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}
