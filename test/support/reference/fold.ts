/** The folding of text for comparison, one code point at a time. */

const letters = new Map(
  Object.entries({
    ß: "ss",
    æ: "ae",
    œ: "oe",
    ø: "o",
    đ: "d",
    ð: "d",
    ł: "l",
    þ: "th",
    ı: "i",
    ħ: "h",
    ς: "σ",
  }),
);
const deleted = ["'", "’", "‘", "ʼ", "."];
const foldedTexts = new Map<string, string>();

/** Text as it is compared; empty where it holds no letter and no number. */
export function fold(text: string): string {
  const known = foldedTexts.get(text);
  if (known !== undefined) return known;
  const points = Array.from(text).map(foldedPoint).join("");
  const words = points.split(" ").filter((word) => word !== "");
  foldedTexts.set(text, words.join(" "));
  return words.join(" ");
}

// Every rule looks at one code point only, so the whole is the sum of the parts.
function foldedPoint(point: string): string {
  const lower = withoutMarks(point).map((one) => one.toLowerCase());
  return withoutMarks(lower.join("")).map(asCompared).join("");
}

function withoutMarks(text: string): string[] {
  return Array.from(text.normalize("NFKD")).filter((point) => !/\p{M}/u.test(point));
}

function asCompared(point: string): string {
  if (deleted.includes(point)) return "";
  const written = letters.get(point) ?? point;
  return /[\p{L}\p{N}]/u.test(written) ? written : " ";
}
