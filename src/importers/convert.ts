/** Turns the text of a cell into the value of a field, by the kind of the field. */
import { fold } from "#records/fold.ts";
import { clean, cleanParagraphs, titleCase } from "./cells.ts";
import { readDate, type DateFormat } from "./dates.ts";
import type { Field } from "./fields.ts";
import type { SourceOfField } from "./mapping.ts";
import { readNumber } from "./numbers.ts";
import { Unreadable } from "./unreadable.ts";
import { readWebAddress } from "./web-address.ts";

/** @param text not empty; its white space is tidied here. */
export function convert(
  text: string,
  field: Field,
  source: SourceOfField,
  dates: readonly DateFormat[],
): string | number | Unreadable {
  switch (field.kind) {
    case "paragraphs":
      return cleanParagraphs(text);
    case "date":
      return readDate(clean(text), dates);
    case "link":
      return readWebAddress(clean(text));
    case "decimal":
    case "whole":
    case "money":
      return readNumber(clean(text), field.kind, source.multiply_by);
    case "choice":
      return readChoice(clean(text), field.choices);
    case "text":
      return readText(clean(text), source);
  }
}

function readChoice(text: string, choices: readonly string[]): string | Unreadable {
  return choices.includes(text) ? text : new Unreadable(`must be one of ${choices.join(", ")}`);
}

function readText(text: string, source: SourceOfField): string | Unreadable {
  if (source.fold === true) return fold(text) || new Unreadable("must hold a letter or a digit");
  return source.case === "title" ? titleCase(text) : text;
}
