/** Texts with columns in braces: `{First Name} {Middle Name?} {Last Name}`. */
import { clean } from "./cells.ts";

interface Placeholder {
  column: string;
  /** Marked with `?`: omitted where it is missing, while any other makes the whole text missing. */
  optional: boolean;
}

type Template = readonly (string | Placeholder)[];

const placeholder = /\{([^{}]+)\}/;

/** The parts of a template in order; undefined where braces do not pair or no column is named. */
export function parseTemplate(text: string): Template | undefined {
  const parts = text
    .split(placeholder)
    .map((part, at) => (at % 2 === 0 ? part : toPlaceholder(part)));
  const sound =
    parts.length > 1 && !parts.some((part) => typeof part === "string" && /[{}]/.test(part));
  return sound ? parts.filter((part) => part !== "") : undefined;
}

function toPlaceholder(written: string): Placeholder {
  const optional = written.endsWith("?");
  return { column: clean(optional ? written.slice(0, -1) : written), optional };
}

/**
 * The text with its columns filled in, tidied; empty where a required column is missing.
 * @param read gives a column's cell, or undefined where it is missing.
 */
export function fillTemplate(
  template: Template,
  read: (placeholder: Placeholder, at: number) => string | undefined,
): string {
  let text = "";
  for (const [at, part] of template.entries()) {
    const cell = typeof part === "string" ? part : read(part, at);
    if (cell !== undefined) text += cell;
    else if (!(part as Placeholder).optional) return "";
  }
  return clean(text);
}
