/** Sentences with gaps: `{gp} buys {project}`. */

export interface Template {
  /** Fixed text before each gap, and after the last one. */
  texts: readonly string[];
  gaps: readonly string[];
}

export function template(sentence: string): Template {
  const parts = sentence.split(/\{(\w+)\}/);
  return {
    texts: parts.filter((_, at) => at % 2 === 0),
    gaps: parts.filter((_, at) => at % 2 === 1),
  };
}

/** The sentence with each gap filled, left to right. */
export function fill({ texts, gaps }: Template, say: (gap: string) => string): string {
  let sentence = texts[0] as string;
  for (let at = 0; at < gaps.length; at++)
    sentence += say(gaps[at] as string) + (texts[at + 1] as string);
  return sentence;
}
